import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref, Timestamp } from './common.ts'
import { NOT_BLANK, TaskId } from './ids.ts'

const closed = { additionalProperties: false }

/**
 * At least one character that is not white space. The format `not-blank` is left out, because the serializers of responses do not know it.
 */
const NAMED = { minLength: NOT_BLANK.minLength, pattern: NOT_BLANK.pattern }

/** The maximum number of triggers of a task. */
const MOST_TRIGGERS = 10

const OfFiles = Type.Object({
  type: Type.Literal('files'),
  path: Type.String({
    ...NAMED,
    maxLength: 4_096,
    description: 'A folder, relative to the working directory of the task; one elsewhere must be one that file tools may read'
  }),
  glob: Type.Optional(Type.String({
    ...NAMED,
    maxLength: 1_000,
    description: 'A glob for its files: "*.pdf" (a name, in any folder), "in/**/*.csv" (a path below the folder). By default all'
  }))
}, { ...closed, description: 'Files that are new, changed or deleted. What .gitignore leaves out is not seen, and links are not followed' })
const OfTask = Type.Object({
  type: Type.Literal('task'),
  taskId: TaskId,
  on: oneOf(['completed', 'failed'])
}, { ...closed, description: 'A run of another task that ends so' })

export const TriggerSchema = Type.Union([OfFiles, OfTask], {
  $id: 'Trigger',
  description: 'A cause of runs beside the times of a task: {"type": "files", "path"} or {"type": "task", "taskId", "on"}'
})
export type Trigger = Static<typeof TriggerSchema>
export type FilesTrigger = Static<typeof OfFiles>

export const Triggers = Type.Array(ref(TriggerSchema), {
  maxItems: MOST_TRIGGERS,
  description: 'Causes of runs, with or without a schedule; not for a one_shot. An empty list removes them'
})

const Changed = Type.Object({
  path: Type.String({ description: 'Relative to the folder of the trigger' }),
  kind: oneOf(['new', 'changed', 'deleted'])
})
export type ChangedFile = Static<typeof Changed>

export const FiringSchema = Type.Object({
  id: Type.String(),
  at: Timestamp,
  type: oneOf(['files', 'task']),
  fate: oneOf(['run', 'coalesced', 'skipped', 'loop', 'limit'], {
    description: 'run: it became the run `runId`; coalesced: another firing of that moment began that run for it, too; skipped: left ' +
      'out on purpose (`reason`); loop: the task itself is among its causes; limit: the triggers had begun 20 runs within an hour'
  }),
  reason: Type.Optional(Type.String({
    description: 'Why it was skipped: paused (the task was paused), failing (the task is failing, and is tried less often) or budget ' +
      '(the tasks had used up their budget of the day)'
  })),
  runId: Type.Optional(Type.String()),
  count: Type.Optional(Type.Integer({ minimum: 2, description: 'For several such firings in a row: their number; `at` is the last one' })),
  causes: Type.Optional(Type.Array(Type.String(), { description: 'The tasks whose runs led to it, the first cause first' })),
  folder: Type.Optional(Type.String({ description: 'files: real path of the folder' })),
  files: Type.Optional(Type.Array(Changed, { description: 'files: the first of the changed files' })),
  changed: Type.Optional(Type.Integer({ description: 'files: their number' })),
  away: Type.Optional(Type.Boolean({ description: 'files: they changed while the service was away' })),
  ends: Type.Optional(Type.Array(Type.Object({ taskId: Type.String(), runId: Type.String(), on: oneOf(['completed', 'failed']) }), {
    description: 'task: the runs that ended'
  }))
}, { $id: 'Firing', description: 'A firing of a trigger, and its fate' })
export type Firing = Static<typeof FiringSchema>

export const TriggerStateSchema = Type.Object({
  trigger: ref(TriggerSchema),
  state: oneOf(['watching', 'resting', 'starting', 'too_large', 'missing', 'refused', 'too_many', 'gone'], {
    description: 'watching; resting: the task is not started, or is paused or over; starting: not looked at yet; too_large: the folder ' +
      'holds more than 20,000 files; missing: the folder is not there, or cannot be read; refused: file tools may not read it; too_many: ' +
      'the tasks together watch too many folders; gone: the other task was deleted'
  }),
  text: Type.Optional(Type.String({ description: 'What is wrong, and what to do, as a sentence' })),
  files: Type.Optional(Type.Integer({ description: 'The number of files that it watches' })),
  lookedAt: Type.Optional({ ...Timestamp, description: 'When the folder was last looked at' })
}, { $id: 'TriggerState', description: 'How a trigger is doing' })
export type TriggerState = Static<typeof TriggerStateSchema>

export const FiringListSchema = Type.Object({
  triggers: Type.Array(ref(TriggerStateSchema)),
  firings: Type.Array(ref(FiringSchema)),
  nextCursor: Type.Optional(Type.String())
}, { $id: 'FiringList', description: 'The triggers of a task, and a page of their firings, newest first' })
export type FiringList = Static<typeof FiringListSchema>

export const FiringsQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  cursor: Type.Optional(TaskId)
}, closed)
