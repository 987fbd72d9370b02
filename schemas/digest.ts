import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { enumOf, ref, Timestamp } from './common.ts'
import { ClaimSchema, Facts, JudgementFields } from './evaluation.ts'
import { TaskId, ThreadId } from './ids.ts'
import { GrantBodySchema, type GrantBody } from './grants.ts'
import { SlotSchema } from './schedule.ts'
import { FiringSchema } from './triggers.ts'
import { TaskRunSchema } from './task-runs.ts'
import { RunStatusSchema, RunTriggerSchema } from './tasks.ts'

/** Limits of a digest, shared by its schema and its service. */
export const DIGEST_LIMITS = { items: { default: 20, max: 100 }, counted: 1_000 } as const

const ofTask = {
  taskId: Type.String(),
  name: Type.String({ description: 'The name of the task' }),
  goal: Type.String({ description: 'The goal of the task, shortened' })
}
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

const about = Type.String({
  description: 'What the call is about, shortened: a path, a command, host and path of an address, or the first fields of its input'
})

export const DepartureSchema = Type.Object({
  how: enumOf(
    ['asked', 'denied', 'unused'],
    'asked: it asked for the call; denied: the call was denied; unused: it did nothing that this accepted line covers'
  ),
  toolName: Type.String(),
  about,
  isShown: Type.Boolean({ description: 'Whether the rehearsal has shown the call' }),
  why: Type.Optional(enumOf(
    ['tool_changed', 'grant_ended'],
    'Why what was accepted did not cover the call. tool_changed: its tool was changed since the rehearsal; grant_ended: the ' +
      'grant of its line has ended'
  )),
  more: Type.Optional(Type.Integer({ description: 'The number of further departures of this kind, which are not listed' })),
  text: Type.String({ description: 'The departure as a sentence' })
}, { $id: 'Departure', description: 'A difference of a run from the rehearsal whose sheet was accepted before it' })
export type Departure = Static<typeof DepartureSchema>

export const DigestUnaskedSchema = Type.Object({
  why: enumOf(
    ['grant', 'copy', 'run', 'settings'],
    'grant: a grant covers it; copy: it worked on a copy of the folder; run: its task or request lets it run without asking; settings: ' +
      'its tool does not ask'
  ),
  grantId: Type.Optional(Type.String({ description: 'The grant, for DELETE /grants/:id' })),
  covers: Type.Optional(Type.String({ description: 'What the grant covers, in words; absent for one that has ended' })),
  calls: Type.Array(Type.Object({ toolCallId: Type.String(), toolName: Type.String(), about })),
  more: Type.Integer({ description: 'The number of further calls' })
}, { $id: 'DigestUnasked', description: 'Calls of a run that did something and of which nobody was asked' })
export type DigestUnasked = Static<typeof DigestUnaskedSchema>
const unasked = Type.Array(ref(DigestUnaskedSchema), { description: 'Calls that ran without asking, and why they could' })

const Run = Type.Object({
  ...ofRun,
  completedAt: Timestamp,
  standsFor: Type.Optional(Type.Integer({ description: 'For a catch-up run: the number of planned times that it replaces' })),
  output: excerpt('The output of the run'),
  error: excerpt('Why the run did not complete'),
  review: TaskRunSchema.properties.review,
  ...JudgementFields,
  facts: Type.Optional(Facts),
  claims: Type.Optional(Type.Array(ClaimSchema, { description: 'The first claims of the report' })),
  unasked,
  differs: Type.Optional(Type.Array(ref(DepartureSchema), {
    description: 'Differences from the rehearsal whose sheet was accepted before it'
  })),
  rehearsalVoid: Type.Optional(Type.String({
    description: 'Why it asked, or was denied, though a rehearsal was accepted before it: a sentence'
  })),
  text
})
const NotRun = Type.Object({ ...ofTask, slot: ref(SlotSchema), text })
const Waiting = Type.Object({
  ...ofTask,
  runId: Type.String(),
  approvalId: Type.String({ description: 'For POST /approvals/:id' }),
  kind: enumOf(['tool', 'result', 'question']),
  toolName: Type.Optional(Type.String({ description: 'The tool whose call needs approval' })),
  cwd: Type.Optional(Type.String({ description: 'Real path of the working directory of the tool call' })),
  reason: Type.Optional(Type.String({ description: 'Why the approval is requested again, or what differs from the approved runs' })),
  about: Type.String({ description: 'What the tool call is about, the result that needs approval, or the questions, shortened' }),
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
  about,
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

const Chat = Type.Object({
  threadId: Type.String(),
  title: Type.String(),
  runId: Type.String({ description: 'Its newest run; the next fields are of this run' }),
  status: RunStatusSchema,
  startedAt: Timestamp,
  completedAt: Timestamp,
  runs: Type.Integer({ description: 'The number of its runs that have ended since then' }),
  output: excerpt('The answer'),
  error: excerpt('Why the run did not complete'),
  stopped: excerpt('Why the run was stopped short'),
  facts: Type.Optional(Facts),
  verified: JudgementFields.verified,
  evidence: JudgementFields.evidence,
  claims: Type.Optional(Type.Array(ClaimSchema, { description: 'The first claims of the answer' })),
  unasked
})

const Fired = Type.Object({ ...ofTask, firing: ref(FiringSchema), text })

const Denied = Type.Object({
  runId: Type.String({ description: 'The newest run in which it was denied' }),
  toolName: Type.String(),
  about,
  count: Type.Integer({ description: 'The number of such calls' }),
  grant: Type.Optional(Type.Unsafe<GrantBody>({
    ...ref(GrantBodySchema),
    description: 'The body for POST /grants that would have allowed the call; absent where none would, and where one does now'
  })),
  covers: Type.Optional(Type.String({ description: 'What that grant would cover, in words' })),
  isGranted: Type.Optional(Type.Boolean({ description: 'Whether a grant that was given since covers the call' })),
  text
})
const Passed = Type.Object({
  fate: SlotSchema.properties.fate,
  reason: SlotSchema.properties.reason,
  count: Type.Integer({ description: 'The number of planned times' }),
  from: Timestamp,
  at: Type.Integer({ description: 'The last of these times. Milliseconds since the Unix epoch' }),
  text
})

const section = <S extends TSchema>(item: S, description: string) =>
  Type.Object({
    items: Type.Array(item),
    more: Type.Integer({
      minimum: 0,
      description: `Number of items that are not listed; at most ${DIGEST_LIMITS.counted} past items are counted`
    })
  }, { description })

/** The part of a digest about one task. */
const OfTask = Type.Object({
  ...ofTask,
  runs: section(Run, 'Runs that failed, were stopped, or found or changed something; newest first'),
  nothingToDo: Type.Integer({ description: 'The number of runs that completed and had nothing to do' }),
  denied: Type.Array(Denied, { description: 'Calls that were denied because no grant covers them, each once' }),
  passed: Type.Array(Passed, { description: 'Planned times without a run, one entry for each reason' }),
  text
})

export const DigestSchema = Type.Object({
  since: Timestamp,
  until: Type.Integer({
    description:
      'The `since` of the next request. It lies one second in the past, so that no event falls between two digests. Milliseconds since ' +
      'the Unix epoch'
  }),
  text: Type.String({ description: 'The digest as a few sentences' }),
  tasks: section(OfTask, 'What happened, by task: first those with something new, by the time of their newest'),
  chats: section(Chat, 'Conversations in which runs have ended, by the time of the newest; not those that work or wait now'),
  nothingToDo: Type.Integer({ description: 'The number of runs that completed and had nothing to do; no list shows them' }),
  completed: section(Run, 'Runs that completed since then and had something to do, newest first'),
  failed: section(Run, 'Runs that failed since then, newest first'),
  stopped: section(Run, 'Runs that were rejected, cancelled or interrupted since then, newest first'),
  notRun: section(NotRun, 'Planned times without a run, with the reason: skipped on purpose or missed; newest first'),
  fired: section(Fired, 'Triggers that fired for what happened while the service was away, or without a run; newest first'),
  waiting: section(Waiting, 'Open approval requests and questions, whenever they were made, oldest first'),
  waitingForApp: section(WaitingForApp, 'Open calls of tools of applications, whenever they were made, oldest first'),
  working: section(Working, 'Runs that are executing or queued, oldest first'),
  failing: section(Failing, 'Tasks whose last five runs or more have failed, and which are tried less often; newest first'),
  next: section(Next, 'The next planned time of each task, earliest first'),
  damaged: Type.Optional(Type.Array(Type.String(), { description: 'Ids of tasks that cannot be read and do not run' }))
}, {
  $id: 'Digest',
  description: 'A summary of all tasks: their runs since a given time, their open approval requests and their next planned times; and of ' +
    'the conversations in which runs have ended'
})
export type Digest = Static<typeof DigestSchema>
export type DigestRun = Static<typeof Run>
export type DigestChat = Static<typeof Chat>
export type DigestQuestion = Static<typeof Waiting>
export type DigestAppCall = Static<typeof WaitingForApp>
export type DigestOfTask = Static<typeof OfTask>
export type DigestDenied = Static<typeof Denied>

const Client = Type.String({
  pattern: '^[A-Za-z0-9._\\-]{1,64}$',
  description: 'A name that a reader gives itself, such as console: up to 64 letters, digits, dots, dashes and underscores'
})

export const DigestQuery = Type.Object({
  since: Type.Optional(Type.Integer({
    minimum: 0,
    maximum: 8_640_000_000_000_000,
    description: 'Begin of the digest, in milliseconds since the Unix epoch: `until` of the last digest, or the last activity of the ' +
      'user. It comes before `client`; one of the two is needed'
  })),
  client: Type.Optional({
    ...Client,
    description: `${Client.description}. The digest begins where this reader has seen it, at first a day ago`
  }),
  limit: Type.Integer({
    minimum: 1,
    maximum: DIGEST_LIMITS.items.max,
    default: DIGEST_LIMITS.items.default,
    description: 'Maximum number of items in each list'
  })
}, { additionalProperties: false })
/** The query of a digest: its start, and the length of its lists. */
export type DigestRequest = Static<typeof DigestQuery>

export const DigestSeenBodySchema = Type.Object({
  client: Client,
  until: Type.Integer({ minimum: 0, maximum: 8_640_000_000_000_000, description: '`until` of the digest that was seen' }),
  taskId: Type.Optional({ ...TaskId, description: 'A UUID: only what happened to this task was seen' }),
  threadId: Type.Optional({ ...ThreadId, description: `${ThreadId.description}: only this conversation was seen` })
}, {
  additionalProperties: false,
  $id: 'DigestSeenBody',
  description: 'How far a reader has seen the digest',
  examples: [
    { client: 'console', until: 1795537311968 },
    { client: 'console', until: 1795537311968, threadId: 'trip-to-lisbon' }
  ]
})
export type DigestSeenBody = Static<typeof DigestSeenBodySchema>
export const DigestSeenSchema = Type.Object({ client: Type.String(), until: Timestamp }, {
  $id: 'DigestSeen',
  description: 'Where the next digest of this reader begins, or what it tells of the task or conversation. It never goes back'
})
export type DigestSeen = Static<typeof DigestSeenSchema>
