import { MessageChannel, type Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { RunActions, NextAction } from '../../runs/index.ts'
import { fileURLToPath } from 'node:url'
import { THREAD_FLAGS, workerProgram } from '../../process/index.ts'

/**
 * The methods that a task worker, which drives one attempt (one uninterrupted execution) at a run, can call through its message port. The
 * actions run on the main thread, and no payload crosses the port: only `next` returns a value. Results travel
 * in envelopes, because an error loses its code when it is posted. A failure ends the worker.
 */
export interface TaskPort {
  call(action: keyof RunActions): Promise<{ ok: true, value?: NextAction | 'end' } | { ok: false }>
  end(): Promise<void>
}

/** A worker counts as hung if it calls no method for this many milliseconds while no earlier call is being answered. */
const HUNG_MS = 30_000

/** The worker of a run died during the run. */
export class WorkerDied extends Error {
  readonly code = 'ERR_WORKER_DIED'
}

/** The spare worker that a run has taken died before it began the run. */
class SpareDied extends WorkerDied {}

export type WorkerPool = ReturnType<typeof createWorkerPool>

/**
 * Creates the pool of worker threads for runs of tasks. Each run executes in a thread of its own, and one spare thread is started in
 * advance. The pool starts a run at once: it has no queue and no limit of its own.
 */
export function createWorkerPool ({ clock }: { clock: Clock }) {
  const threads = createTaskThreads({ clock })

  /**
   * Runs the task loop in a worker until the loop ends. Rejects with the reason of the signal, with the error of a
   * failed action, or with WorkerDied. The worker has always exited when the promise settles.
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
    // A correct worker makes one call at a time. A worker that makes two calls at once is broken and is ended.
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
      // Ignores messages that the worker still sends while it is being terminated.
      port1.close()
      await worker.terminate()
      await exited
    }
  }

  /**
   * Creates a timer that calls `onHang` after HUNG_MS. `pause` stops the timer while a call is answered, `resume`
   * restarts it, `stop` ends it.
   */
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
    /** Starts a worker in advance for the next run. */
    prepare: threads.prepare,
    /** Ends the spare worker. Each run ends its own worker. */
    close: threads.close
  }
}

const INVALID_REQUEST = () => new WorkerDied('The worker of this run sent an invalid request and was ended.')

/** Whether the message is a birpc request for a method of the port. */
function isRequest (message: unknown, port: TaskPort): boolean {
  const { t: kind, m: method, a: args } = (message ?? {}) as { t?: unknown, m?: unknown, a?: unknown }
  return kind === 'q' && typeof method === 'string' && Object.hasOwn(port, method) && Array.isArray(args)
}

/** A spare worker that no run takes within this time, in milliseconds, is ended, because it holds some megabytes of memory. */
const IDLE_MS = 10 * 60_000
/** Memory limits of a worker, in mebibytes. A worker holds little more than the events of its run. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

interface TaskThread {
  worker: Worker
  /** Resolves when the worker has exited, to the exit code and cause in words. */
  exited: Promise<string>
  isSpare: boolean
}

/**
 * Creates the launcher of worker threads. Bree starts the threads and does nothing else. A thread serves one run.
 * One spare thread is started in advance, because starting a thread takes longer than the whole loop of a short run.
 */
function createTaskThreads ({ clock }: { clock: Clock }) {
  let loading: Promise<any> | undefined
  let started = 0
  let spare: Promise<TaskThread> | undefined
  let closed = false

  async function start (isSpare = false): Promise<TaskThread> {
    const bree = await (loading ??= load())
    const name = `task-run-${++started}`
    // Without `eval: false`, Bree takes a path with an unusual character, such as "(" or "&", for code.
    const { program, eval: isCode } = workerProgram('task')
    await bree.add({
      name,
      path: isCode ? program : fileURLToPath(program),
      worker: { eval: isCode, resourceLimits: LIMITS, stdin: false, execArgv: THREAD_FLAGS }
    })
    await bree.run(name)
    const worker = bree.workers.get(name) as Worker
    let cause = 'it ended by itself'
    worker.on('error', (error: NodeJS.ErrnoException) => {
      cause = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it ran out of memory' : error.message
    })
    const exited = new Promise<string>((resolve) => {
      worker.once('exit', (code) => {
        bree.config.jobs = bree.config.jobs.filter((job: { name: string }) => job.name !== name)
        resolve(`(exit code ${code}): ${cause}`)
      })
    })
    return { worker, exited, isSpare }
  }

  async function end (thread: Promise<TaskThread>) {
    const { worker, exited } = await thread
    await worker.terminate()
    await exited
  }

  return {
    /** Starts a thread for a run. */
    start: () => start(),

    /** Returns the spare thread for a run, or starts a thread if there is no spare one or if it failed to start. */
    async take (): Promise<TaskThread> {
      const taken = spare
      spare = undefined
      return await taken?.catch(() => undefined) ?? start()
    },

    /**
     * Starts a spare thread unless there is one. A spare thread that exits, or that no run takes within IDLE_MS, is
     * replaced only at the next call.
     */
    prepare () {
      if (spare !== undefined || closed) return
      const started = start(true)
      spare = started
      const forget = () => {
        idle.stop()
        if (spare === started) spare = undefined
      }
      const idle = startDeadline({ clock, ms: IDLE_MS }, () => {
        if (spare !== started) return
        spare = undefined
        end(started).catch(() => {})
      })
      started.then(({ exited }) => exited).then(forget, forget)
    },

    /** Ends the spare thread and starts no further one. Never rejects. */
    async close () {
      closed = true
      const left = spare
      spare = undefined
      if (left !== undefined) await end(left).catch(() => {})
    }
  }
}

async function load () {
  const { default: Bree } = await import('bree')
  // Bree's types lack init, workers and config. Its error handler does nothing, because `exited` reports how a worker ended.
  const bree: any = new Bree(
    { root: false, doRootCheck: false, logger: false, acceptedExtensions: ['.js', '.ts'], errorHandler: () => {} } as never
  )
  await bree.init()
  return bree
}
