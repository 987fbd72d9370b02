import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunEvent } from '../../contracts/run-events.ts'

/** The state with which a worker starts. Outputs in the events have the reduced form that a model may see. */
export interface RunStart {
  /** The goal of the task, with the steering for this run. */
  request: string
  /** The events so far: empty unless the run continues from a checkpoint. */
  events: RunEvent[]
}

/** The events of one step, and the action that follows it. */
export interface StepResult {
  events: RunEvent[]
  next: 'settle' | 'step' | 'evaluate'
}

export type Verdict = { next: 'end' } | { next: 'step', events: RunEvent[] }

/**
 * The methods of the main thread that a task worker may call, for its own run and attempt only. The results are durable
 * before they are returned. A failure ends the worker; its cause stays on the main thread.
 */
export interface TaskMain {
  begin(): Promise<RunStart>
  /** One model call. The main thread adds the system prompt. */
  step(prompt: LanguageModelV4Prompt): Promise<StepResult>
  /** Executes the calls of the last step. `waiting` is true when a person must decide first. */
  settle(): Promise<{ events: RunEvent[], waiting: boolean }>
  /** Judges the answer. A run whose answer is not satisfactory gets one refinement. */
  evaluate(): Promise<Verdict>
}

/** How a worker ended without being stopped. */
export type WorkerEnd = 'answered' | 'waiting'

/** The calls on the message port. Results travel in envelopes, because an error loses its code when it is posted. */
export interface TaskPort {
  call(method: keyof TaskMain, args: unknown[]): Promise<{ ok: true, value: unknown } | { ok: false }>
  end(how: WorkerEnd): Promise<void>
}
