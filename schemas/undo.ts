import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref, Timestamp } from './common.ts'

/** The reasons why a change is not undone. */
const UNDO_REASONS = [
  'changed_since', 'too_large', 'link', 'gone', 'not_allowed', 'undone', 'shared', 'repository-used-since', 'opens', 'failed'
] as const
const UndoReasonSchema = oneOf(UNDO_REASONS, {
  description: '`changed_since`: the path is not as the run left it. `too_large`: no copy of what was there was kept. `link`: a ' +
    'symbolic link is in the way. `gone`: what the run left is not there any more, or the copy of what was there is not kept ' +
    'any more. `not_allowed`: the path is outside the folders that may be used now, or may not be written. `undone`: the path is as ' +
    'it was. `shared`: others may have changed it: a command of another run, or somebody while the command went on or the service was ' +
    'ended; an undo that names the path takes it back. `repository-used-since`: refs, index or HEAD of the git directory were changed ' +
    'after the run, so nothing of it is taken back. `opens`: programs obey it as soon as somebody opens or enters its folder ' +
    '(`.vscode`, `AGENTS.md`, hooks), so of a copy it is taken over only by an apply that names it. `failed`: an unexpected error, ' +
    'which the log names'
})
export type UndoReason = Static<typeof UndoReasonSchema>

const Path = Type.String({ description: 'Absolute path' })

const skippedPath = { path: Path, reason: UndoReasonSchema }
interface SkippedPath {
  path: string
  reason: UndoReason
}

/** The fields of a change of a path, both planned and done. */
const ofPath = {
  path: Path,
  kind: oneOf(['created', 'changed', 'moved', 'deleted']),
  from: Type.Optional(Type.String({ description: 'Where a moved file or folder was' })),
  what: Type.Optional(oneOf(['file', 'folder', 'link', 'other'], 'The kind of entry afterwards; for a deletion, before it')),
  mode: Type.Optional(Type.String({ description: 'New permissions, octal, where they change' })),
  link: Type.Optional(Type.String({ description: 'Where a symbolic link leads then' })),
  inner: Type.Optional(Type.Integer({ description: 'Number of paths below a folder that change with it' })),
  withContents: Type.Optional(Type.Boolean({ description: 'A folder with everything in it' })),
  replaces: Type.Optional(Type.Literal(true, { description: 'A move takes the place of what is at the path' })),
  diff: Type.Optional(Type.String({
    description: 'Unified diff, where both contents are text and known, or a note in parentheses why there is none'
  }))
}

export const PathChangeSchema = Type.Object(ofPath, { $id: 'PathChange', description: 'The planned change of one path' })
export type PathChange = Static<typeof PathChangeSchema>

const planned = Type.Optional(Type.Array(ref(PathChangeSchema), {
  description: 'With `dryRun`: what would become of the paths; a move is one change. The first 200'
}))

export const FileChangeSchema = Type.Object({
  ...ofPath,
  toolCallId: Type.String({ description: 'The tool call, or the undo, that made the change' }),
  toolName: Type.String({ description: 'Its tool; `undo` for an undo' }),
  at: Timestamp,
  canUndo: Type.Boolean({
    description: 'Whether an undo of the run would take this path back now; with `why` `shared`, one that names it'
  }),
  why: Type.Optional(UndoReasonSchema)
}, { $id: 'FileChange', description: 'A change of one path by one call of a run' })
export type FileChangeView = Static<typeof FileChangeSchema>

export const UncoveredCallSchema = Type.Object({
  toolCallId: Type.String(),
  toolName: Type.String(),
  target: Type.Optional(Type.String({ description: 'What its input named, such as the command' })),
  server: Type.Optional(Type.String({ description: 'The tool server whose tool it is' })),
  app: Type.Optional(Type.String({ description: 'The application whose tool it is, if it gave itself a name' })),
  reason: Type.Optional(Type.String({
    description: 'The effects of a command that are not covered, in sentences; the others are among the changes'
  })),
  at: Timestamp
}, {
  $id: 'UncoveredCall',
  description: 'A call whose effects nobody here knows, and that an undo does not cover: of a command, a tool server or the application'
})
export type UncoveredCall = Static<typeof UncoveredCallSchema>

export const FollowUpSchema = Type.Object({
  id: Type.String({ description: 'For GET /runs/{id}/changes and POST /runs/{id}/undo' }),
  kind: oneOf(['undo', 'apply'], 'undo: it took back changes of the run; apply: it took over what was changed in the copy'),
  at: Timestamp,
  paths: Type.Integer({ description: 'The number of paths that it changed' }),
  isCut: Type.Optional(Type.Literal(true, {
    description: 'The end of the service, or a full disk, cut it off. The same request again completes it under the same id'
  }))
}, { $id: 'FollowUp', description: 'An undo of the changes of a run, or an apply of its copy, that changed something' })
export type FollowUp = Static<typeof FollowUpSchema>

export const RunChangesSchema = Type.Object({
  changes: Type.Array(ref(FileChangeSchema), { description: 'In the order in which they were made' }),
  notCovered: Type.Array(ref(UncoveredCallSchema)),
  followUps: Type.Array(ref(FollowUpSchema), {
    description: 'Undos and applies of the changes, oldest first. Each can be taken back'
  }),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'RunChanges', description: 'A page of the changes of a run' })
export interface RunChanges {
  changes: FileChangeView[]
  notCovered: UncoveredCall[]
  followUps: FollowUp[]
  nextCursor?: string
}

/** The maximum number of paths that one request can name: as many as one call can change. */
const MOST_PATHS = 20_000
/** The limit of a request body that names paths, in bytes. */
export const UNDO_BODY_LIMIT = 8 * 1024 * 1024

export const UndoBodySchema = Type.Object({
  paths: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
    minItems: 1,
    maxItems: MOST_PATHS,
    description: 'Only these, and what is below them: paths that the run changed, absolute or relative to its working folder. Default: all'
  })),
  dryRun: Type.Optional(Type.Boolean({ description: 'Changes nothing, and answers what an undo would do now' }))
}, { $id: 'UndoBody', additionalProperties: false, examples: [{ paths: ['notes.txt'], dryRun: true }] })
export type UndoBody = Static<typeof UndoBodySchema>

export const ApplyBodySchema = Type.Object({
  ...UndoBodySchema.properties,
  discard: Type.Optional(Type.Boolean({
    description: 'Takes nothing over, and deletes the copy: the next run begins with a new one. Not with `paths`. With `dryRun`, answers ' +
      'what would be lost'
  }))
}, { $id: 'ApplyBody', additionalProperties: false, examples: [{ paths: ['notes.txt'], dryRun: true }] })
export type ApplyBody = Static<typeof ApplyBodySchema>

export const UndoneSchema = Type.Object({
  undoId: Type.Optional(Type.String({
    description: 'Absent when nothing was to be changed; that of an undo that was cut off, when this one completes it. The undo has ' +
      'changes of its own: GET /runs/{undoId}/changes lists them, and POST /runs/{undoId}/undo takes them back'
  })),
  restored: Type.Array(Path, { description: 'The paths that are now as they were before the run' }),
  planned,
  skipped: Type.Array(Type.Object(skippedPath), {
    description: 'The paths that stay. A git directory, or a database of SQLite with its side files, stays as one thing: its path is named'
  }),
  notCovered: Type.Array(ref(UncoveredCallSchema))
}, { $id: 'Undone', description: 'The result of an undo, or its plan' })
export interface Undone {
  undoId?: string
  restored: string[]
  planned?: PathChange[]
  skipped: SkippedPath[]
  notCovered: UncoveredCall[]
}

export const ReplacedChangesSchema = Type.Object({
  restored: Type.Array(Path, { description: 'The paths that were restored, or would be. The first 100' }),
  restoredCount: Type.Integer(),
  skipped: Type.Array(Type.Object(skippedPath), { description: 'The paths that stay as they are, and why. The first 100' }),
  skippedCount: Type.Integer(),
  notCoveredCount: Type.Integer({ description: 'The number of calls whose effects nobody here knows, and that an undo does not cover' }),
  undoIds: Type.Array(Type.String(), {
    description: 'The undos, in their order. POST /runs/{undoId}/undo, the last one first, takes them back'
  })
}, { $id: 'ReplacedChanges', description: 'The result, or the plan, of the undo for the answers that a message replaces' })
export type ReplacedChanges = Static<typeof ReplacedChangesSchema>

export const AppliedSchema = Type.Object({
  applyId: Type.Optional(Type.String({
    description: 'Absent when nothing was to be changed; that of an apply that was cut off, when this one completes it. GET ' +
      '/runs/{applyId}/changes lists what was, and POST /runs/{applyId}/undo takes it back'
  })),
  applied: Type.Array(Path, { description: 'The paths of the folder that are now as in the copy' }),
  discarded: Type.Optional(Type.Boolean({ description: 'The copy was deleted' })),
  planned,
  skipped: Type.Array(Type.Object(skippedPath), {
    description: 'The paths that stay as they are: with `changed_since` or `gone`, somebody changed them after they were copied'
  })
}, { $id: 'Applied', description: 'The changes of a copy that were taken over, or would be' })
export interface Applied {
  applyId?: string
  applied: string[]
  discarded?: boolean
  planned?: PathChange[]
  skipped: SkippedPath[]
}

export const ChangesParams = Type.Object({ runId: Type.String({ description: 'The id of a run, or the undoId of an undo' }) })
export const ChangesQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$', description: 'nextCursor of the previous page' }))
})
