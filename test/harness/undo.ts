import type { App } from '../../app.ts'
import type { RunChanges, UndoBody, Undone } from '../../schemas/undo.ts'
import { of, say } from './agent.ts'

/** A configuration in which tools run without asking. */
export const UNASKED = {
  permissions: { writeFile: 'allow', deleteFile: 'allow', moveFile: 'allow', editFile: 'allow', runCommand: 'allow' }
}

/** Runs a command of the offline model, and returns the id of the run. */
export async function runOf (app: App, content: string, extra: { id?: string, context?: { cwd?: string } } = {}): Promise<string> {
  const { events } = await say(app, content, extra)
  const failed = of(events, 'tool-output-error')[0] ?? of(events, 'error')[0]
  if (failed !== undefined) throw new Error(JSON.stringify(failed))
  return of(events, 'start')[0].messageMetadata.runId
}

/** Returns the changes of a run, and asserts that they are known. */
export async function changesOf (app: App, runId: string, query = ''): Promise<RunChanges> {
  const response = await app.inject(`/runs/${runId}/changes${query}`)
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}

/** Undoes a run, and asserts that this succeeds. */
export async function undo (app: App, runId: string, payload: UndoBody = {}): Promise<Undone> {
  const response = await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload })
  if (response.statusCode !== 200) throw new Error(response.body)
  return response.json()
}
