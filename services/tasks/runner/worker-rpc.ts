import type { LanguageModelV4Prompt } from '@ai-sdk/provider'
import type { RunEvent } from '../../run-log/run-events.ts'

/** What a worker begins with. The outputs of events that it is given are what a model may see of them. */
export interface RunStart {
  system: string
  /** What the user asks for, with what was added for this run. */
  request: string
  /** What happened so far: empty unless the run goes on from a checkpoint. */
  events: RunEvent[]
}

/** What came of a step of the run, and what to do now. */
export interface Turn {
  events: RunEvent[]
  next: 'settle' | 'step' | 'evaluate'
}

export type Verdict = { next: 'end' } | { next: 'step', events: RunEvent[] }

/**
 * What a task worker may ask of the main thread, for its own run and attempt only. Every answer is durable when it
 * comes. Failures end the worker: the main thread knows what they were.
 */
export interface TaskMain {
  begin(): Promise<RunStart>
  /** One model call. */
  step(prompt: LanguageModelV4Prompt): Promise<Turn>
  /** Runs the calls of the last step; `waiting` when a person must be asked first. */
  settle(): Promise<{ events: RunEvent[], waiting: boolean }>
  /** Judges the answer; a run that falls short has one refinement. */
  evaluate(): Promise<Verdict>
}

/** How a worker ended by itself. */
export type WorkerEnd = 'answered' | 'waiting'

/** Over the port: the main thread's methods, answered in envelopes, since an error loses its code on the way. */
export interface TaskPort {
  call(method: keyof TaskMain, args: unknown[]): Promise<{ ok: true, value: unknown } | { ok: false }>
  end(how: WorkerEnd): Promise<void>
}
