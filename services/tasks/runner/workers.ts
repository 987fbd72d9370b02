import { fileURLToPath } from 'node:url'
import { MessageChannel, type Worker } from 'node:worker_threads'
import type { Clock } from '../../lib/clock.ts'
import { startDeadline } from '../../lib/deadline.ts'
import { workerFile } from '../../lib/worker-file.ts'
import type { TaskMain, TaskPort, WorkerEnd } from './worker-rpc.ts'

/** A worker that calls no method for this long, while no call is being answered, is taken for hung; milliseconds. */
const HUNG_MS = 30_000
/** Memory limits of a worker, which holds little more than the events of its run; mebibytes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

/** The worker of a run died during the run. */
export class WorkerDied extends Error {
  readonly code = 'ERR_WORKER_DIED'
}

export type WorkerPool = ReturnType<typeof createWorkerPool>

/** Starts one worker thread for each task run with Bree. Bree only launches workers; the queue and the schedule ticker decide when. */
export function createWorkerPool ({ clock }: { clock: Clock }) {
  let loading: Promise<any> | undefined
  const bree = () => {
    loading ??= load()
    return loading
  }

  /**
   * Runs the task loop in a worker until the loop ends. Rejects with the reason of the signal, with the error of a failed
   * method, or with WorkerDied. The worker has exited in every case when the promise settles.
   */
  async function run (name: string, main: TaskMain, signal: AbortSignal): Promise<WorkerEnd> {
    signal.throwIfAborted()
    const [{ createBirpc }, jobs] = await Promise.all([import('birpc'), bree()])
    // Bree takes a path with an unusual character, such as "(" or "&", for code, unless it is told what it is.
    await jobs.add({
      name,
      path: fileURLToPath(workerFile('task')),
      worker: { eval: false, resourceLimits: LIMITS, stdin: false, execArgv: [] }
    })
    const ended = Promise.withResolvers<WorkerEnd>()
    ended.promise.catch(() => {})
    const { port1, port2 } = new MessageChannel()
    const watch = watchdog(() => ended.reject(new WorkerDied(`The worker of this run did nothing for ${HUNG_MS / 1000} s and was ended.`)))
    // A correct worker makes one call at a time. A worker that makes two at once is broken, so it is ended.
    let busy = false
    const port: TaskPort = {
      async call (method, args) {
        if (busy || !Object.hasOwn(main, method)) {
          ended.reject(INVALID_REQUEST())
          return { ok: false }
        }
        busy = true
        watch.pause()
        try {
          return { ok: true, value: await (main[method] as (...args: unknown[]) => Promise<unknown>)(...args) }
        } catch (error) {
          ended.reject(error)
          return { ok: false }
        } finally {
          busy = false
          watch.resume()
        }
      },
      async end (how) {
        ended.resolve(how)
      }
    }
    const rpc = createBirpc({ ...port }, {
      post: (data) => port1.postMessage(data),
      on: (listener) => port1.on('message', (message) => isRequest(message, port) ? listener(message) : ended.reject(INVALID_REQUEST())),
      timeout: -1,
      onGeneralError (error) {
        ended.reject(error)
        return true
      }
    })
    port1.on('messageerror', () => ended.reject(INVALID_REQUEST()))
    const onAbort = () => ended.reject(signal.reason)
    signal.addEventListener('abort', onAbort)
    let worker: Worker | undefined
    try {
      await jobs.run(name)
      worker = jobs.workers.get(name) as Worker
      const gone = new Promise<void>((resolve) => worker!.once('exit', () => resolve()))
      let cause = 'it ended by itself'
      worker.on('error', (error: NodeJS.ErrnoException) => {
        cause = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it ran out of memory' : error.message
      })
      worker.once('exit', (code) => ended.reject(new WorkerDied(`The worker of this run died (exit code ${code}): ${cause}.`)))
      worker.postMessage(port2, [port2])
      if (signal.aborted) onAbort()
      try {
        return await ended.promise
      } finally {
        // Ignore messages that the worker still sends while it is being terminated.
        port1.close()
        await worker.terminate()
        await gone
      }
    } finally {
      signal.removeEventListener('abort', onAbort)
      watch.stop()
      rpc.$close()
      port1.close()
      jobs.config.jobs = jobs.config.jobs.filter((job: { name: string }) => job.name !== name)
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

  return { run }
}

const INVALID_REQUEST = () => new WorkerDied('The worker of this run sent an invalid request and was ended.')

/** Whether the message is a birpc request for a method of the port. */
function isRequest (message: unknown, port: TaskPort): boolean {
  const { t: kind, m: method, a: args } = (message ?? {}) as { t?: unknown, m?: unknown, a?: unknown }
  return kind === 'q' && typeof method === 'string' && Object.hasOwn(port, method) && Array.isArray(args)
}

async function load () {
  const { default: Bree } = await import('bree')
  // Bree's types lack init, workers and config. Its error handler does nothing, because `run` observes how a worker ends.
  const jobs: any = new Bree(
    { root: false, doRootCheck: false, logger: false, acceptedExtensions: ['.js', '.ts'], errorHandler: () => {} } as never
  )
  await jobs.init()
  return jobs
}
