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

/** The positions of a request's messages in its thread: the first `lead` messages, then the messages from position `from` on. */
export interface History {
  lead: number
  from: number
  /** The messages between the two ranges, which were not read. */
  older?: UnreadHistory
}

/** A history that contains the whole thread. */
export const WHOLE_THREAD: History = { lead: 0, from: 0 }

/** The fields of a run that its readers get as they are stored. */
type Shown =
  'runId' | 'status' | 'queuedAt' | 'startedAt' | 'completedAt' | 'durationMs' | 'output' | 'object' | 'error' | 'failure' | 'retryAt' |
  'stopped' | 'answeredBy' | 'toolCount' | 'qualityScore' | 'evaluation' | 'verified' | 'facts' | 'steering' | 'steered' | 'options' |
  'attempts' | 'otherOutput'

/** What is stored of every run beside its events. */
interface AnyRun extends Pick<RunView, Shown> {
  cwd: string
  /** What conversation and request set, if `options` are those of an agent, too: a task that the run becomes gets the agent by name. */
  given?: RunOptions
  /** The steps in which the model may call tools. The step after them must answer. */
  maxSteps: number
  /** Why the run gets no more steps with tools, though some are left. */
  endsFor?: 'repeating' | 'no-progress'
  /** Steps taken so far. */
  steps: number
  /** The newest segment of the run, counted from 0. A run begins a new one when it goes on after it has waited. */
  segment: number
  /** The ids of all that the run has asked, oldest first. */
  asked: string[]
  /** The trace that the run is in, as the header `traceparent` of its request. */
  traceparent?: string
  /** Milliseconds that the run has worked, without the time in which it waited. */
  activeMs: number
  /** The usage of all model calls. The meter of the run adds to this very object, which all copies of the record share. */
  usage: Usage
  /** Written when the run stops executing, shortened; until then the calls are read from the events. */
  toolCalls: RunView['toolCalls']
  /** The number of stored chunks of events. */
  chunks: number
  /** The ids of the contexts that its events name. */
  contexts?: string[]
  /** Of a rehearsal: what it has shown. */
  sheet?: StoredSheet
}

/** A run of a conversation. */
export interface ThreadRun extends AnyRun {
  threadId: string
  taskId?: undefined
  /** `rehearsal`: a request with `dryRun`, of which the conversation holds nothing. */
  trigger: 'message' | 'rehearsal'
  messageId: string
  /** The capable model with which it began, and where its server was: later questions about the conversation go no further. */
  model?: { id: string, reach: Reach }
  /** The protocol of the client, which decides the format of the answer in the thread. */
  protocol?: Protocol
  /** The positions of the run's messages in the thread; undefined if unknown. */
  history?: History
  /** The position of the answer's first message in the thread. */
  answerAt: number
  /** What the model is told of the calls of earlier runs. */
  notes?: string[]
  /** The run goes on when its readers leave. */
  resumable?: true
  /** No reader of the run can come back after the service was killed. */
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
  /** The planned time of its schedule; milliseconds since the Unix epoch. */
  plannedAt?: number
  /** The number of planned times that the run makes up for. */
  standsFor?: number
  /** Of a run that a trigger began: the tasks whose runs led to it, the first cause first. */
  causes?: string[]
  /** The size of the data that the run began with, which are stored beside it; bytes of JSON. */
  inputBytes?: number
  /** Whether the run has used its one refinement. */
  refined: boolean
  /** How often the service or the worker died during the run. */
  crashes: number
  /** The run was stopped in order, so its continuation does not count as a crash. */
  suspended?: boolean
  /** Since when, and how often in vain, the step after `steps` was asked for. Milliseconds since the Unix epoch. */
  outage?: { since: number, tries: number, steps: number }
  /** Whether a person must approve the tools and the result of this run. */
  needsApproval: boolean
  /** What became of the request to approve its result. */
  review?: RunView['review']
  /** Summaries that replace the older steps in the prompt. */
  summaries?: Summary[]
  /** Findings and decisions that enter the task's memory when the run completes. */
  learned?: { findings: string[], decisions: string[], outdated?: string[] }
}

/** A run as it is stored beside its events. Its owner is a conversation or a task. */
export type RunRecord = ThreadRun | TaskRun

/** A run is ended when the service was killed this often during it. */
export const MAX_CRASHES = 3

export const isOver = ({ status }: { status: RunStatus }): boolean =>
  status !== 'queued' && status !== 'running' && status !== 'pending_approval'

/** Returns the event that ends a segment of a run. */
export const finishOf = (
  { usage, answeredBy }: Pick<RunRecord, 'usage' | 'answeredBy'>,
  finishReason: FinishReason,
  stopped?: Stopped
): EventOf<'finish'> => ({ type: 'finish', finishReason, usage: { ...usage }, stopped, answeredBy })

/** The fields of a new run, whoever owns it. */
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
