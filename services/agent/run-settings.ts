import type { RunBody } from '../../schemas/agent.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { ThreadSettings } from '../../schemas/threads.ts'
import { defineError } from '../lib/service-error.ts'
import { workingFolder } from '../lib/working-folder.ts'
import { withRunModels } from '../models/index.ts'
import type { ResolvedOptions, ThreadRun } from '../runs/index.ts'
import type { ToolHost } from '../tools/index.ts'
import type { AgentDeps } from './agent-deps.ts'

const TwoFolders = defineError('ERR_INVALID_REQUEST', 'body.cwd and body.context.cwd name two folders. Send one of them.')

/** The settings of a run, which are fixed when the run starts. */
export type RunSettings = ResolvedOptions & { cwd: string }

/** Returns the options, including the agent, that the settings of a conversation give to its runs. */
export const threadOptions = ({ agent, options }: ThreadSettings = {}): RunOptions | undefined =>
  agent === undefined ? options : { ...options, agent }

/**
 * Returns the settings that a task inherits from the conversation run that makes the task. The task works in the original folder, even if
 * the run works in a copy.
 */
export function settingsOfTask (
  { cwd, given, options }: Pick<ThreadRun, 'cwd' | 'given' | 'options'>,
  { shown }: Pick<ToolHost, 'shown'>
): { cwd: string, options?: RunOptions } {
  const { workspace: _, ...rest } = given ?? options ?? {}
  return { cwd: shown(cwd), ...(given ?? options) && { options: rest } }
}

/** Returns the largest context window, in tokens, among the models that can answer with these options. */
export async function largestWindow (options: RunOptions | undefined, deps: Pick<AgentDeps, 'registry'>): Promise<number> {
  const { signal } = new AbortController()
  const { registry } = withRunModels(deps, options)
  const windows = await Promise.all(registry.candidates('capable').map((model) => registry.contextWindow(model, Infinity, signal)))
  return Math.max(...windows, 0)
}

/**
 * Resolves the settings of a run from its request, its conversation and its agent. A continued run keeps the options in `kept`. Throws
 * TwoFolders or BadFolder (400), what `Agents.check` throws (400), and what `Copies.open` throws (409).
 */
export async function settingsOfRun (
  { cwd, context, options, kept, dryRun }: Pick<RunBody, 'cwd' | 'context' | 'options' | 'dryRun'> & { kept?: ResolvedOptions },
  threadId: string,
  { agents, threads, workspace, copies, store }: Pick<AgentDeps, 'agents' | 'threads' | 'workspace' | 'copies' | 'store'>
): Promise<RunSettings> {
  if (cwd !== undefined && context?.cwd !== undefined && cwd !== context.cwd) throw new TwoFolders()
  const ofThread = await threads.settings(threadId)
  const folder = await workingFolder(cwd ?? context?.cwd ?? ofThread?.cwd, workspace())
  const settings = kept ?? await agents.check(options, [threadOptions(ofThread)])
  if (settings.options?.workspace !== 'copy') return { ...settings, cwd: folder }
  const thread = store.digest(threadId)
  // A rehearsal has its own copy, so none is made for the conversation.
  return { ...settings, cwd: await (dryRun ? copies.find(thread, folder) : copies.open(thread, folder)) ?? folder }
}
