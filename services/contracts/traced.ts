import type { Usage } from '../../schemas/usage.ts'
import type { Role } from './model-role.ts'

/** A model call that has ended; `code` is that of its failure. */
export interface TracedModelCall {
  runId?: string
  model: string
  role: Role
  /** The duration, milliseconds. */
  ms: number
  usage?: Usage
  code?: string
  /** The messages and options that the model was asked with. */
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

/** What the engine reports about its runs while traces are written. */
export interface RunTracer {
  /** Executes a part of a run, so that calls made in it belong to the trace of the run. */
  during<T>(runId: string, work: () => T): T
  stepBegun(runId: string, step: number): void
  stepEnded(step: TracedStep): void
}
