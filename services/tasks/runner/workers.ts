import { MessageChannel } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { createTaskThreads, type TaskThread } from './task-threads.ts'
import type { RunActions } from '../../runs/index.ts'
import type { TaskPort } from './worker-rpc.ts'

/** A worker that calls no method for this long, while no call is being answered, is taken for hung; milliseconds. */
const HUNG_MS = 30_000

/** The worker of a run died during the run. */
export class WorkerDied extends Error {
  readonly code = 'ERR_WORKER_DIED'
}

/** A spare worker died before it had begun the run that took it. */
class SpareDied extends WorkerDied {}

export type WorkerPool = ReturnType<typeof createWorkerPool>

/** Runs each task run in a worker thread of its own. The queue and the schedule ticker decide when. */
export function createWorkerPool ({ clock }: { clock: Clock }) {
  const threads = createTaskThreads({ clock })

  /**
   * Runs the task loop in a worker until the loop ends. Rejects with the reason of the signal, with the error of a failed
   * method, or with WorkerDied. The worker has exited in every case when the promise settles.
   */
  async function run (actions: RunActions, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const [{ createBirpc }, thread] = await Promise.all([import('birpc'), threads.take()])
    try {
      return await serve(createBirpc, thread, actions, signal)
    } catch (error) {
      if (!(error instanceof SpareDied)) throw error
      return await serve(createBirpc, await threads.start(), actions, signal)
    } finally {
      threads.prepare()
    }
  }

  async function serve (
    createBirpc: typeof import('birpc').createBirpc,
    { worker, exited, isSpare }: TaskThread,
    actions: RunActions,
    signal: AbortSignal
  ): Promise<void> {
    const ended = Promise.withResolvers<void>()
    ended.promise.catch(() => {})
    const { port1, port2 } = new MessageChannel()
    const watch = watchdog(() => ended.reject(new WorkerDied(`The worker of this run did nothing for ${HUNG_MS / 1000} s and was ended.`)))
    let begun = false
    // A correct worker makes one call at a time. A worker that makes two at once is broken, so it is ended.
    let busy = false
    const port: TaskPort = {
      async call (action) {
        if (busy || !Object.hasOwn(actions, action)) {
          ended.reject(INVALID_REQUEST())
          return { ok: false }
        }
        busy = true
        watch.pause()
        try {
          return { ok: true, value: await actions[action]() ?? undefined }
        } catch (error) {
          ended.reject(error)
          return { ok: false }
        } finally {
          busy = false
          watch.resume()
        }
      },
      async end () {
        ended.resolve()
      }
    }
    const rpc = createBirpc({ ...port }, {
      post: (data) => port1.postMessage(data),
      on: (listener) =>
        port1.on('message', (message) => {
          begun = true
          if (isRequest(message, port)) listener(message)
          else ended.reject(INVALID_REQUEST())
        }),
      timeout: -1,
      onGeneralError (error) {
        ended.reject(error)
        return true
      }
    })
    port1.on('messageerror', () => ended.reject(INVALID_REQUEST()))
    const onAbort = () => ended.reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    void exited.then((how) => {
      const Died = isSpare && !begun ? SpareDied : WorkerDied
      ended.reject(new Died(`The worker of this run died ${how}.`))
    })
    worker.postMessage(port2, [port2])
    if (signal.aborted) onAbort()
    try {
      return await ended.promise
    } finally {
      signal.removeEventListener('abort', onAbort)
      watch.stop()
      rpc.$close()
      // Ignore messages that the worker still sends while it is being terminated.
      port1.close()
      await worker.terminate()
      await exited
    }
  }

  /** Calls `onHang` when it was neither paused nor stopped for HUNG_MS. */
  function watchdog (onHang: () => void) {
    let answering = 0
    const start = () => startDeadline({ clock, ms: HUNG_MS }, onHang)
    let deadline = start()
    return {
      pause () {
        answering++
        deadline.stop()
      },
      resume () {
        if (--answering === 0) deadline = start()
      },
      stop () {
        answering = Infinity
        deadline.stop()
      }
    }
  }

  return {
    run,
    /** Starts a worker for the next run ahead. */
    prepare: threads.prepare,
    /** Ends the worker that was started ahead. The runs end theirs. */
    close: threads.close
  }
}

const INVALID_REQUEST = () => new WorkerDied('The worker of this run sent an invalid request and was ended.')

/** Whether the message is a birpc request for a method of the port. */
function isRequest (message: unknown, port: TaskPort): boolean {
  const { t: kind, m: method, a: args } = (message ?? {}) as { t?: unknown, m?: unknown, a?: unknown }
  return kind === 'q' && typeof method === 'string' && Object.hasOwn(port, method) && Array.isArray(args)
}
