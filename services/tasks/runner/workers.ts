import { MessageChannel, type Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { RunActions, NextAction } from '../../runs/index.ts'
import { fileURLToPath } from 'node:url'
import { THREAD_FLAGS, workerProgram } from '../../process/index.ts'

/**
 * The calls on the message port of a task worker, which drives one attempt at a run. The actions are on the main thread, and no payload
 * crosses: only `next` has a value. Results travel in envelopes, because an error loses its code when it is posted; a failure ends the
 * worker.
 */
export interface TaskPort {
  call(action: keyof RunActions): Promise<{ ok: true, value?: NextAction | 'end' } | { ok: false }>
  end(): Promise<void>
}

/** A worker that calls no method for this long, while no call is being answered, counts as hung; milliseconds. */
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

  /** Calls `onHang` when the worker was neither paused nor stopped for HUNG_MS. */
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
    /** Ends the worker that was started in advance. Runs end their own workers. */
    close: threads.close
  }
}

const INVALID_REQUEST = () => new WorkerDied('The worker of this run sent an invalid request and was ended.')

/** Whether the message is a birpc request for a method of the port. */
function isRequest (message: unknown, port: TaskPort): boolean {
  const { t: kind, m: method, a: args } = (message ?? {}) as { t?: unknown, m?: unknown, a?: unknown }
  return kind === 'q' && typeof method === 'string' && Object.hasOwn(port, method) && Array.isArray(args)
}

/** A spare that no run has taken for this long is ended, because it holds some megabytes; milliseconds. */
const IDLE_MS = 10 * 60_000
/** Memory limits of a worker, which holds little more than the events of its run; mebibytes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

interface TaskThread {
  worker: Worker
  /** Resolves to the reason in words when the worker has exited. */
  exited: Promise<string>
  isSpare: boolean
}

/**
 * Starts worker threads with Bree, which only launches them. A thread serves one run. One spare thread is started in advance, because
 * starting a thread takes longer than the whole loop of a short run.
 */
function createTaskThreads ({ clock }: { clock: Clock }) {
  let loading: Promise<any> | undefined
  let started = 0
  let spare: Promise<TaskThread> | undefined
  let closed = false

  async function start (isSpare = false): Promise<TaskThread> {
    const bree = await (loading ??= load())
    const name = `task-run-${++started}`
    // Bree takes a path with an unusual character, such as "(" or "&", for code, unless it is told that it is a path.
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

    /** Returns the spare thread for a run, or starts a thread. */
    async take (): Promise<TaskThread> {
      const taken = spare
      spare = undefined
      return await taken?.catch(() => undefined) ?? start()
    },

    /** Starts a spare thread unless there is one. A spare that exits, or is not taken in IDLE_MS, is not replaced before the next call. */
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

    /** Ends the spare thread; none is started any more. */
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
