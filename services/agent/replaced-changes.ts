import type { ReplacedChanges } from '../../schemas/undo.ts'
import { defineError } from '../lib/service-error.ts'
import type { AgentDeps } from './agent-deps.ts'
import type { RequestMessages, RunRequest } from './request-messages.ts'

const FilesChanged = defineError(
  'ERR_FILES_CHANGED',
  'The answers that this message replaces changed files (%d), see "changes". Send the message again with "changes": "undo" to undo these ' +
    'changes first, or with "keep" to leave the files as they are.'
)

const RehearsalUndoes = defineError(
  'ERR_INVALID_REQUEST',
  '"changes": "undo" does not go with "dryRun": a rehearsal replaces no answer, and changes no file.'
)

type Deps = Pick<AgentDeps, 'threads' | 'undo' | 'copies'>

/**
 * Returns the ids of the runs whose changes are to be undone before the run of a request begins, the newest first: the runs whose answers
 * the request replaces, if the request says `changes: "undo"`. Throws FilesChanged (409) if the request wants to be asked first,
 * RehearsalUndoes (400) and CommandRuns (409).
 */
export async function runsToUndo (
  { changes = 'keep', dryRun = false }: RunRequest,
  threadId: string,
  { place }: RequestMessages,
  { threads, undo, copies }: Deps
): Promise<string[]> {
  if (dryRun && changes === 'undo') throw new RehearsalUndoes()
  if (dryRun || changes === 'keep' || place === undefined) return []
  const runIds = await threads.runsFrom(threadId, place.at)
  if (runIds.length === 0) return []
  if (changes === 'undo') {
    await undo.requireNoCommands(runIds)
    return runIds
  }
  const found = await undo.takeBackAll(runIds, { dryRun: true, withRealPaths: copies.shown })
  if (found.restoredCount === 0) return []
  const error = new FilesChanged(found.restoredCount)
  error.fields = { changes: found }
  throw error
}

/** Undoes the changes of runs. Returns what was undone, skipped or not covered; undefined if the runs changed nothing. */
export async function undoReplaced (runIds: readonly string[], { undo, copies }: Deps): Promise<ReplacedChanges | undefined> {
  if (runIds.length === 0) return undefined
  const done = await undo.takeBackAll(runIds, { dryRun: false, withRealPaths: copies.shown })
  return done.restoredCount + done.skippedCount + done.notCoveredCount > 0 ? done : undefined
}
