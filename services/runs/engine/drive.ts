import type { NextAction } from './next-action.ts'

export type { NextAction }

/**
 * The actions of a run, which holds all of its state itself: nothing is passed. What an action did is as durable as the run needs it
 * when its promise resolves.
 */
export interface RunActions {
  /** Returns what to do next; `end` when the run has answered or must wait. */
  next(): Promise<NextAction | 'end'>
  /** Makes one model call. */
  step(): Promise<void>
  /** Executes the calls of the newest step, as far as nobody has to decide first. */
  settle(): Promise<void>
  /** Judges the answer. */
  judge(): Promise<void>
}

/** The loop of every run: model, tools, model, … until the answer is accepted or a person must decide. It may be ended at any time. */
export async function drive (run: RunActions): Promise<void> {
  for (;;) {
    const action = await run.next()
    if (action === 'end') return
    await run[action]()
  }
}
