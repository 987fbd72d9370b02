import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { ref, Timestamp } from './common.ts'
import * as examples from './examples/digest.ts'
import { SlotSchema } from './schedule.ts'
import { RunStatusSchema, RunTriggerSchema } from './tasks.ts'

/** Bounds of a digest, which its schema and its service share. */
export const DIGEST_LIMITS = { items: { default: 20, max: 100 }, counted: 1_000 } as const

const ofTask = { taskId: Type.String(), goal: Type.String({ description: 'The goal of the task, shortened' }) }
const text = Type.String({ description: 'The same in a sentence, in the local time of the machine' })
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
  standsFor: Type.Optional(Type.Integer({ description: 'How many planned times it stands for, when it caught up' })),
  output: excerpt('What it reported'),
  error: excerpt('Why it did not complete'),
  text
})
const NotRun = Type.Object({ ...ofTask, slot: ref(SlotSchema), text })
const Waiting = Type.Object({
  ...ofTask,
  runId: Type.String(),
  approvalId: Type.String({ description: 'For POST /tasks/:id/approve' }),
  kind: Type.Unsafe<'tool' | 'result'>({ type: 'string', enum: ['tool', 'result'] }),
  tool: Type.Optional(Type.String({ description: 'The tool that wants to run' })),
  cwd: Type.Optional(Type.String({ description: 'Real path of the folder that tool works in' })),
  about: Type.String({ description: 'The input of that tool as JSON, or the result that wants approval, shortened' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  text
})
const Working = Type.Object({ ...ofRun, text })
const Paused = Type.Object({
  ...ofTask,
  reason: Type.String({ description: 'failures: five runs failed in a row' }),
  at: Timestamp,
  error: excerpt('Of its last run'),
  text
})
const Next = Type.Object({ ...ofTask, at: Timestamp, text })

const section = <S extends TSchema>(item: S, description: string) =>
  Type.Object({
    items: Type.Array(item),
    more: Type.Integer({ minimum: 0, description: `How many are not listed; of the past, ${DIGEST_LIMITS.counted} at most are counted` })
  }, { description })

export const DigestSchema = Type.Object({
  since: Timestamp,
  until: Type.Integer({
    description:
      'Give it as `since` the next time: a second ago, so that nothing falls between two digests. Milliseconds since the Unix epoch'
  }),
  text: Type.String({ description: 'All of it in a few sentences' }),
  completed: section(Run, 'Runs that completed since, the newest first'),
  failed: section(Run, 'Runs that failed since, the newest first'),
  stopped: section(Run, 'Runs that were rejected, cancelled or interrupted since, the newest first'),
  notRun: section(NotRun, 'Planned times that became no run, with the reason: skipped on purpose or missed; the newest first'),
  waiting: section(Waiting, 'Questions that wait for an answer, whenever they were asked, the oldest first'),
  working: section(Working, 'Runs that work, or wait for their turn, the oldest first'),
  paused: section(Paused, 'Tasks that paused themselves and wait for POST /tasks/:id/resume, the newest first'),
  next: section(Next, 'What comes next: the next planned time of each task, the nearest first'),
  damaged: Type.Optional(Type.Array(Type.String(), { description: 'Ids of tasks that cannot be read any more and do not run' }))
}, {
  $id: 'Digest',
  description: 'What tasks did while nobody looked, what they wait for, and what comes next',
  examples: [examples.digest]
})
export type Digest = Static<typeof DigestSchema>
export type DigestRun = Static<typeof Run>
export type DigestQuestion = Static<typeof Waiting>
export type DigestNotRun = Static<typeof NotRun>

export const DigestQuery = Type.Object({
  since: Type.Integer({
    minimum: 0,
    maximum: 8_640_000_000_000_000,
    description: 'Since when, in milliseconds since the Unix epoch: `until` of the last digest, or when the user was last seen'
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: DIGEST_LIMITS.items.max,
    default: DIGEST_LIMITS.items.default,
    description: 'At most so many of each list'
  })
}, { additionalProperties: false })
