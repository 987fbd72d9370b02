import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import { ClaimSchema, JudgementFields } from './evaluation.ts'
import { SlotSchema } from './schedule.ts'
import { TaskRunSchema } from './task-runs.ts'
import { RunStatusSchema, RunTriggerSchema } from './tasks.ts'

/** Limits of a digest, shared by its schema and its service. */
export const DIGEST_LIMITS = { items: { default: 20, max: 100 }, counted: 1_000 } as const

const ofTask = { taskId: Type.String(), goal: Type.String({ description: 'The goal of the task, shortened' }) }
const text = Type.String({ description: 'The item as a sentence, with times in the local time zone of the machine' })
const excerpt = (description: string) => Type.Optional(Type.String({ description: `${description}, shortened` }))
const ofRun = {
  ...ofTask,
  runId: Type.String(),
  runNumber: Type.Integer(),
  trigger: RunTriggerSchema,
  status: RunStatusSchema,
  startedAt: Timestamp
}

const Run = Type.Object({
  ...ofRun,
  completedAt: Timestamp,
  standsFor: Type.Optional(Type.Integer({ description: 'For a catch-up run: the number of planned times that it replaces' })),
  output: excerpt('The output of the run'),
  error: excerpt('Why the run did not complete'),
  review: TaskRunSchema.properties.review,
  ...JudgementFields,
  claims: Type.Optional(Type.Array(ClaimSchema, { description: 'The first claims of the report' })),
  text
})
const NotRun = Type.Object({ ...ofTask, slot: ref(SlotSchema), text })
const Waiting = Type.Object({
  ...ofTask,
  runId: Type.String(),
  approvalId: Type.String({ description: 'For POST /approvals/:id' }),
  kind: Type.Unsafe<'tool' | 'result' | 'question'>({ type: 'string', enum: ['tool', 'result', 'question'] }),
  toolName: Type.Optional(Type.String({ description: 'The tool whose call needs approval' })),
  cwd: Type.Optional(Type.String({ description: 'Real path of the working directory of the tool call' })),
  reason: Type.Optional(Type.String({ description: 'Why the approval is requested again, or what differs from the approved runs' })),
  about: Type.String({ description: 'The input of the tool call as JSON, the result that needs approval, or the questions, shortened' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  text
})
const WaitingForApp = Type.Object({
  ...ofTask,
  runId: Type.String(),
  toolCallId: Type.String({ description: 'For POST /tool-calls/:id' }),
  app: Type.Optional(Type.String({ description: 'The application whose tool it is, by the name that it gave itself' })),
  toolName: Type.String(),
  about: Type.String({ description: 'The input of the call as JSON, shortened' }),
  isClaimed: Type.Boolean({ description: 'Whether an instance of the application executes the call' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  text
})
const Working = Type.Object({ ...ofRun, text })
const Failing = Type.Object({
  ...ofTask,
  failures: Type.Integer({ description: 'Runs that failed in a row' }),
  since: Timestamp,
  nextTryAt: Type.Optional(Timestamp),
  error: excerpt('The error of the last run'),
  text
})
const Next = Type.Object({ ...ofTask, at: Timestamp, text })

const section = <S extends TSchema>(item: S, description: string) =>
  Type.Object({
    items: Type.Array(item),
    more: Type.Integer({
      minimum: 0,
      description: `Number of items that are not listed; at most ${DIGEST_LIMITS.counted} past items are counted`
    })
  }, { description })

export const DigestSchema = Type.Object({
  since: Timestamp,
  until: Type.Integer({
    description:
      'The `since` of the next request. It lies one second in the past, so that no event falls between two digests. Milliseconds since ' +
      'the Unix epoch'
  }),
  text: Type.String({ description: 'The digest as a few sentences' }),
  completed: section(Run, 'Runs that completed since then, newest first'),
  failed: section(Run, 'Runs that failed since then, newest first'),
  stopped: section(Run, 'Runs that were rejected, cancelled or interrupted since then, newest first'),
  notRun: section(NotRun, 'Planned times without a run, with the reason: skipped on purpose or missed; newest first'),
  waiting: section(Waiting, 'Open approval requests and questions, whenever they were made, oldest first'),
  waitingForApp: section(WaitingForApp, 'Open calls of tools of applications, whenever they were made, oldest first'),
  working: section(Working, 'Runs that are executing or queued, oldest first'),
  failing: section(Failing, 'Tasks whose last five runs or more have failed, and which are tried less often; newest first'),
  next: section(Next, 'The next planned time of each task, earliest first'),
  damaged: Type.Optional(Type.Array(Type.String(), { description: 'Ids of tasks that cannot be read and do not run' }))
}, {
  $id: 'Digest',
  description: 'A summary of all tasks: their runs since a given time, their open approval requests and their next planned times'
})
export type Digest = Static<typeof DigestSchema>
export type DigestRun = Static<typeof Run>
export type DigestQuestion = Static<typeof Waiting>
export type DigestAppCall = Static<typeof WaitingForApp>
export type DigestNotRun = Static<typeof NotRun>

export const DigestQuery = Type.Object({
  since: Type.Integer({
    minimum: 0,
    maximum: 8_640_000_000_000_000,
    description: 'Begin of the digest, in milliseconds since the Unix epoch: `until` of the last digest, or the last activity of the user'
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: DIGEST_LIMITS.items.max,
    default: DIGEST_LIMITS.items.default,
    description: 'Maximum number of items in each list'
  })
}, { additionalProperties: false })
