import type { Protocol } from '../../schemas/agent.ts'
import type { Run as RunView } from '../../schemas/runs.ts'
import type { RunOptions } from '../../schemas/run-options.ts'
import type { Stopped } from '../../schemas/stopped.ts'
import type { RunStatus } from '../../schemas/tasks.ts'
import type { Usage } from '../../schemas/usage.ts'
import type { Reach } from '../models/index.ts'
import type { StoredSheet } from '../contracts/sheet-record.ts'
import type { EventOf, FinishReason } from '../contracts/run-events.ts'
import type { Summary, UnreadHistory } from '../threads/index.ts'

/** Which messages of the thread a request contains: the first `lead` messages, and the messages from position `from` on. */
export interface History {
  lead: number
  from: number
  /** The messages between the two ranges, which were not read. */
  older?: UnreadHistory
}

/** The history of a request that contains the whole thread. */
export const WHOLE_THREAD: History = { lead: 0, from: 0 }

/** The fields of a run that readers get exactly as they are stored. */
type Shown =
  'runId' | 'status' | 'queuedAt' | 'startedAt' | 'completedAt' | 'durationMs' | 'output' | 'object' | 'error' | 'failure' | 'retryAt' |
  'stopped' | 'answeredBy' | 'toolCount' | 'qualityScore' | 'evaluation' | 'verified' | 'facts' | 'steering' | 'steered' | 'options' |
  'attempts' | 'otherOutput'

/** The stored fields of every run, without its events. */
interface AnyRun extends Pick<RunView, Shown> {
  cwd: string
  /**
   * The options of conversation and request without those of the agent, if `options` also contain the agent's options. A task that the run
   * creates refers to the agent by name instead.
   */
  given?: RunOptions
  /** The number of steps in which the model can call tools. In the step after these steps the model must answer. */
  maxSteps: number
  /** Why the run gets no more steps with tools, although `maxSteps` allowed more. */
  endsFor?: 'repeating' | 'no-progress'
  /** The number of steps so far. */
  steps: number
  /** The number of the newest segment, from 0. A run begins a new segment when it continues after it has waited. */
  segment: number
  /** The ids of all items that the run has requested, oldest first. */
  asked: string[]
  /** The trace that the run belongs to, in the form of the header `traceparent` of its request. */
  traceparent?: string
  /** The milliseconds that the run has worked, without the time in which it waited. */
  activeMs: number
  /** The usage of all model calls. The meter of the run adds to this same object, which all copies of the record share. */
  usage: Usage
  /** The tool calls in a shortened form, stored when the run stops executing. Until then, the calls are read from the events. */
  toolCalls: RunView['toolCalls']
  /** The number of stored chunks of events. */
  chunks: number
  /** The ids of the stored contexts that the run's events refer to. */
  contexts?: string[]
  /** In a rehearsal: the sheet, which lists the calls that the run would have made so far. */
  sheet?: StoredSheet
}

/** A run of a conversation. */
export interface ThreadRun extends AnyRun {
  threadId: string
  taskId?: undefined
  /** `rehearsal`: the request had `dryRun`, and the conversation does not contain the run. */
  trigger: 'message' | 'rehearsal'
  messageId: string
  /**
   * The model of the role `capable` with which the run began, and where the server of that model was. Later model calls about the
   * conversation are not sent to a server that is further away.
   */
  model?: { id: string, reach: Reach }
  /** The protocol of the client, which decides the format of the answer in the thread. */
  protocol?: Protocol
  /** The positions of the run's messages in the thread; undefined if unknown. */
  history?: History
  /** The position of the answer's first message in the thread. */
  answerAt: number
  /** Notes to the model about the calls of earlier runs. */
  notes?: string[]
  /** The run continues when its readers leave. */
  resumable?: true
  /** The reader of the run cannot reconnect after the service was killed. */
  isOneOff?: true
  /** How often the service was killed during the run. */
  crashes?: number
}

/** A run of a task. */
export interface TaskRun extends AnyRun {
  taskId: string
  threadId?: undefined
  trigger: Exclude<RunView['trigger'], 'message'>
  runNumber: number
  phases: NonNullable<RunView['phases']>
  /** The time in the schedule for which the run was started, milliseconds since the Unix epoch. */
  plannedAt?: number
  /** The number of times in the schedule for which this one run was started. */
  standsFor?: number
  /** For a run that a trigger started: the tasks whose runs led to it, the first cause first. */
  causes?: string[]
  /** The size, in bytes of JSON, of the data with which the run was started. The data are stored separately. */
  inputBytes?: number
  /** Whether the run has used its one refinement. */
  refined: boolean
  /** How often the service or the worker died during the run. */
  crashes: number
  /** The service stopped the run at a regular shutdown, so continuing the run does not count as a crash. */
  suspended?: boolean
  /** The outage that delays the step after `steps`: since when, in milliseconds since the Unix epoch, and the number of failed tries. */
  outage?: { since: number, tries: number, steps: number }
  /** Whether a person must approve the tools and the result of this run. */
  needsApproval: boolean
  /** The state of the request to approve the run's result. */
  review?: RunView['review']
  /** Summaries that replace the older steps in the prompt. */
  summaries?: Summary[]
  /** Findings and decisions that are added to the task's memory when the run completes. */
  learned?: { findings: string[], decisions: string[], outdated?: string[] }
}

/** The stored record of a run of a conversation or task, without the events of the run. */
export type RunRecord = ThreadRun | TaskRun

/** The number of crashes after which a run is ended instead of continued. */
export const MAX_CRASHES = 3

export const isOver = ({ status }: { status: RunStatus }): boolean =>
  status !== 'queued' && status !== 'running' && status !== 'pending_approval'

/** Returns the event that ends a segment of a run. */
export const finishOf = (
  { usage, answeredBy }: Pick<RunRecord, 'usage' | 'answeredBy'>,
  finishReason: FinishReason,
  stopped?: Stopped
): EventOf<'finish'> => ({ type: 'finish', finishReason, usage: { ...usage }, stopped, answeredBy })

/** Returns the fields that new runs of conversations and of tasks have in common. `now` is in milliseconds since the Unix epoch. */
export const newRunFields = (runId: string, now: number, options?: RunOptions) => ({
  runId,
  queuedAt: now,
  startedAt: now,
  options,
  steps: 0,
  segment: 0,
  asked: [],
  activeMs: 0,
  toolCalls: [],
  toolCount: 0,
  steering: [],
  chunks: 0
})
