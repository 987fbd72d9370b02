import type { Clock } from '../lib/clock.ts'
import type { Log } from '../lib/log.ts'
import { defineError } from '../lib/service-error.ts'
import type { Store } from '../store/index.ts'
import type { PathPolicy } from '../tools/index.ts'
import type { FolderSnapshot, Item, Snapshots, UndoSpace, Units } from '../workspace/index.ts'
import type { AcquirePaths, RunningCommands } from './running-calls.ts'

/** The record of one call, undo or apply. */
export interface Entry {
  id: string
  runId: string
  /** The thread (as a digest) or the task of the run. */
  owner: string
  toolCallId: string
  toolName: string
  /** When it began, in milliseconds since the Unix epoch. */
  at: number
  /** The working folder of the call, in which its paths are allowed. */
  cwd: string
  /** The paths that the call named. The other items are below them, or are the folders above them. */
  roots: string[]
  items: Item[]
  /** The keys, in base64, that encrypt the files of copies that the items name in `copy.file`. */
  contents?: Record<string, string>
  /** The git directories and databases that the items belong to, by their real paths. */
  units?: Units
  /** For a command that has not ended: the records of its folder, from before the command. */
  tree?: { records: FolderSnapshot, target?: string }
  /** True if the call has ended, and its items say what it left. */
  ended?: true
  /** Set if the items might not hold everything that the call changed. `target` is what its input named; `reason` says why. */
  uncovered?: { target?: string, server?: string, app?: string, reason?: string }
  /** The unified diff that the tool made. */
  diff?: string
  /** For an undo or an apply: the run, or the undo, whose changes it undoes or applies. */
  of?: string
  /** True if the undo or the apply is not complete: it is in progress, or the end of the service or a full disk interrupted it. */
  isCut?: true
}

/** The collaborators that the functions of undo share. */
export interface KeepParts {
  store: Store
  clock: Clock
  /** The folder with the copies of previous contents. */
  folder: string
  paths: PathPolicy
  acquire: AcquirePaths
  space: UndoSpace
  snapshots: Snapshots
  commands: RunningCommands
  log: Pick<Log, 'warn'>
}

/** The name that replaces the name of a tool in the record of an undo. */
export const UNDO = 'undo'
/** The name that replaces the name of a tool in the record of an apply. */
export const APPLY = 'apply'

/** The disk was full in the middle of an apply. */
export const ApplyCutShort = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'Applying stopped in the middle (%s): what is applied so far stays. Call it again for the rest when there is room on the disk.'
)
/** The disk was full in the middle of an undo. */
export const UndoCutShort = defineError(
  'ERR_UNDO_UNAVAILABLE',
  'The undo stopped in the middle (%s): what it restored so far stays. Call it again for the rest when there is room on the disk.'
)
export const RunUnknown = defineError('ERR_RUN_NOT_FOUND', 'There is no run "%s". GET /runs and GET /tasks/:id/runs list them.')
export const NothingHappened = defineError(
  'ERR_NOT_CHANGED',
  'The run "%s" is a rehearsal: it worked on a copy of the folder, which is as it was, so there is nothing to take back.'
)
export const CommandRuns = defineError(
  'ERR_COMMAND_RUNS',
  'A command of the run "%s" still runs in the background. Stop it before its changes are undone.'
)
export const RunLive = defineError(
  'ERR_RUN_LIVE',
  'The run "%s" is not over. Stop it, or answer what it waits for, before its changes are undone.'
)
export const NotChanged = defineError('ERR_NOT_CHANGED', 'The run changed no file at %s. GET /runs/:runId/changes lists its changes.')
