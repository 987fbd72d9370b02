import type { RunBody } from '../../schemas/agent.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { ThreadSettings } from '../../schemas/threads.ts'
import { defineError } from '../lib/service-error.ts'
import { workingFolder } from '../lib/working-folder.ts'
import type { ResolvedOptions } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'

const TwoFolders = defineError('ERR_INVALID_REQUEST', 'body.cwd and body.context.cwd name two folders. Send one of them.')

/** What is set for a run when it starts. */
export type RunSettings = ResolvedOptions & { cwd: string }

/** Returns the options that the settings of a conversation give its runs, with its agent. */
export const threadOptions = ({ agent, options }: ThreadSettings = {}): RunOptions | undefined =>
  agent === undefined ? options : { ...options, agent }

/**
 * Returns what agent, conversation and request set for a run. The options of a run that is continued are `kept`. Throws TwoFolders or
 * BadFolder, and as `Agents.check` does (400).
 */
export async function settingsOfRun (
  { cwd, context, options, kept }: Pick<RunBody, 'cwd' | 'context' | 'options'> & { kept?: ResolvedOptions },
  threadId: string,
  { agents, threads, workspace }: Pick<AgentDeps, 'agents' | 'threads' | 'workspace'>
): Promise<RunSettings> {
  if (cwd !== undefined && context?.cwd !== undefined && cwd !== context.cwd) throw new TwoFolders()
  const ofThread = await threads.settings(threadId)
  const folder = await workingFolder(cwd ?? context?.cwd ?? ofThread?.cwd, workspace())
  return { ...kept ?? await agents.check(options, [threadOptions(ofThread)]), cwd: folder }
}
