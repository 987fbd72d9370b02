import type { Usage } from '../../schemas/usage.ts'
import type { Role } from './model-role.ts'

/** A model call that is over; `code` of one that failed. */
export interface TracedModelCall {
  runId?: string
  model: string
  role: Role
  /** The duration, milliseconds. */
  ms: number
  usage?: Usage
  code?: string
  /** What the model was asked with. */
  prompt?: unknown
}

/** A tool call that is over. */
export interface TracedToolCall {
  runId: string
  toolCallId: string
  tool: string
  status: string
  ms: number
  input: unknown
  output?: unknown
}

/** A step whose model call is over. */
export interface TracedStep {
  runId: string
  step: number
  finishReason: string
  ms: number
}

/** What the engine tells of the runs that it executes, while traces are written. */
export interface RunTracer {
  /** Runs what a run does, so that what it begins joins its trace. */
  during<T>(runId: string, work: () => T): T
  stepBegun(runId: string, step: number): void
  stepEnded(step: TracedStep): void
}
