import type { AvailableCommand } from '@agentclientprotocol/sdk'
import { applyRun, listRuns, undoRun, type Agent } from '../client/index.ts'

export const COMMANDS: AvailableCommand[] = [
  { name: 'continue', description: 'Goes on where the last answer stopped, failed or was interrupted' },
  { name: 'undo', description: 'Takes back what the last answer changed in files' },
  { name: 'apply', description: 'Takes over what was changed in the copy of the folder: all, or the paths that you name' }
]

/** Returns the command of this agent that a message is; undefined for a message to the model. */
export function commandIn (text: string): { name: 'continue' | 'undo' | 'apply', rest: string } | undefined {
  const [, name, rest = ''] = /^\s*\/(\w+)(?:\s+(.*?))?\s*$/.exec(text) ?? []
  if (name === 'apply') return { name, rest }
  return (name === 'continue' || name === 'undo') && rest === '' ? { name, rest } : undefined
}

/** Applies the changes in the conversation's copy to the original folder. Returns the outcome as a text for the user. */
export async function applyCopy ({ client }: Agent, threadId: string, named: string): Promise<string> {
  const { data } = await listRuns({ client, query: { threadId, limit: 1 }, throwOnError: true })
  const [run] = data.runs
  if (run === undefined) return 'There is no answer whose changes could be taken over.'
  const body = named === '' ? {} : { paths: named.split(/\s+/) }
  const { data: done } = await applyRun({ client, path: { runId: run.runId }, body, throwOnError: true })
  return listPaths({ 'Taken over': done.applied, 'Left as it is': done.skipped }) || 'The copy and the folder are the same.'
}

/** Lists paths under headings. A skipped path is listed with its reason. */
function listPaths (lists: Record<string, Array<string | { path: string, reason: string }>>): string {
  const line = (entry: string | { path: string, reason: string }) =>
    typeof entry === 'string' ? `\n- ${entry}` : `\n- ${entry.path} (${entry.reason.replaceAll('_', ' ')})`
  return Object.entries(lists).flatMap(([heading, list]) => list.length === 0 ? [] : `${heading}:${list.map(line).join('')}`).join('\n\n')
}

/** Undoes the changes of the conversation's newest run. Returns the outcome as a text for the user. */
export async function undoLast ({ client }: Agent, threadId: string): Promise<string> {
  const { data } = await listRuns({ client, query: { threadId, limit: 1 }, throwOnError: true })
  const [run] = data.runs
  if (run === undefined) return 'There is no answer whose changes could be taken back.'
  const { data: done } = await undoRun({ client, path: { runId: run.runId }, body: {}, throwOnError: true })
  return listPaths({ 'Taken back': done.restored, 'Left as it is': done.skipped }) ||
    'The last answer changed no file that can be taken back.'
}
