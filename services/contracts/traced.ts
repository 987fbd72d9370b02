import type { Usage } from '../../schemas/usage.ts'
import type { Role } from './model-role.ts'

/** A model call that has ended. `code`: the error code, if the call failed. */
export interface TracedModelCall {
  runId?: string
  model: string
  role: Role
  /** The duration; milliseconds. */
  ms: number
  usage?: Usage
  code?: string
  /** The messages and options of the call. */
  prompt?: unknown
}

/** A tool call that has ended. */
export interface TracedToolCall {
  runId: string
  toolCallId: string
  tool: string
  status: string
  ms: number
  input: unknown
  output?: unknown
}

/** A step whose model call has ended. */
export interface TracedStep {
  runId: string
  step: number
  finishReason: string
  ms: number
}

/** The interface through which the run engine reports its runs while traces are written. */
export interface RunTracer {
  /** Executes a part of a run, so that requests which `work` makes belong to the trace of the run. */
  during<T>(runId: string, work: () => T): T
  stepBegun(runId: string, step: number): void
  stepEnded(step: TracedStep): void
}
