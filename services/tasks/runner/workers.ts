import { fileURLToPath } from 'node:url'
import { MessageChannel, type Worker } from 'node:worker_threads'
import { Aborted } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { workerFile } from '../../lib/worker-file.ts'
import type { TaskMain, TaskPort, WorkerEnd } from './worker-rpc.ts'

/** A worker that does nothing of its own accord for so long while nobody answers it hangs; milliseconds. */
const HUNG_MS = 30_000
/** A loop holds its run's events and little else, and needs nothing that the main thread was told to load. Mebibytes. */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 }

/** The worker of a run died under it. */
export class WorkerDied extends Error {
  readonly code = 'ERR_WORKER_DIED'
}

export type WorkerPool = ReturnType<typeof createWorkerPool>

/** Starts workers for task runs, one a run, by Bree. Bree only launches: when something runs is decided elsewhere. */
export function createWorkerPool ({ clock }: { clock: Clock }) {
  let loading: Promise<any> | undefined
  const bree = () => {
    loading ??= load()
    return loading
  }

  /**
   * Runs the task loop in a worker until it ends by itself. Rejects with the signal's reason, with what made a method
   * fail, or with WorkerDied; the worker is gone by then in every case.
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
    // A worker asks for one thing after the other; of one that does not, nothing is believed any more.
    let busy = false
    const port: TaskPort = {
      async call (method, args) {
        if (busy || !Object.hasOwn(main, method)) {
          ended.reject(NONSENSE())
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
      on: (listener) => port1.on('message', (message) => isRequest(message, port) ? listener(message) : ended.reject(NONSENSE())),
      timeout: -1,
      onGeneralError (error) {
        ended.reject(error)
        return true
      }
    })
    port1.on('messageerror', () => ended.reject(NONSENSE()))
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
        // What it says while it is being ended is said for nobody.
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

  /** Barks when it is neither paused nor stopped for HUNG_MS. */
  function watchdog (bark: () => void) {
    let answering = 0
    let quiet = new AbortController()
    const wait = () => {
      quiet = new AbortController()
      clock.timeout(HUNG_MS, quiet.signal).then(bark, () => {})
    }
    wait()
    return {
      pause () {
        answering++
        quiet.abort(new Aborted('stop'))
      },
      resume () {
        if (--answering === 0) wait()
      },
      stop () {
        answering = Infinity
        quiet.abort(new Aborted('stop'))
      }
    }
  }

  return { run }
}

const NONSENSE = () => new WorkerDied('The worker of this run asked for something that makes no sense and was ended.')

/** Whether birpc can do something with it. */
function isRequest (message: unknown, port: TaskPort): boolean {
  const { t: kind, m: method, a: args } = (message ?? {}) as { t?: unknown, m?: unknown, a?: unknown }
  return kind === 'q' && typeof method === 'string' && Object.hasOwn(port, method) && Array.isArray(args)
}

async function load () {
  const { default: Bree } = await import('bree')
  // Its types lack what it has: init, workers, config. How a worker ends is seen by whoever launched it.
  const jobs: any = new Bree(
    { root: false, doRootCheck: false, logger: false, acceptedExtensions: ['.js', '.ts'], errorHandler: () => {} } as never
  )
  await jobs.init()
  return jobs
}
