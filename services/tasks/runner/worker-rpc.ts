import type { NextAction, RunActions } from '../../runs/index.ts'

/**
 * The calls on the message port of a task worker, which drives one attempt at a run. The actions are on the main thread, and no payload
 * crosses: only `next` has a value. Results travel in envelopes, because an error loses its code when it is posted; a failure ends the
 * worker.
 */
export interface TaskPort {
  call(action: keyof RunActions): Promise<{ ok: true, value?: NextAction | 'end' } | { ok: false }>
  end(): Promise<void>
}
