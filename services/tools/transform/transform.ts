import { Worker } from 'node:worker_threads'
import { defineError } from '../../lib/service-error.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin, withDeadline } from '../../lib/deadline.ts'
import { createOneAtATime } from '../one-at-a-time.ts'
import { noteStuck, THREAD_FLAGS, workerProgram } from '../../process/index.ts'
import type { Done, Kind, Transforms } from './transform-rpc.ts'

export const TransformFailed = defineError('ERR_TRANSFORM_FAILED', 'This content could not be turned into %s: %s.')
const TransformBusy = defineError('ERR_TRANSFORM_BUSY', 'Too much content is being worked on at once; try again in a moment.')

const DEADLINE_MS = 10_000
/**
 * How long to wait for a thread to end, in milliseconds. A thread that takes longer is blocked by a file system that does not answer; it is
 * abandoned.
 */
const END_MS = 1_000
/** The most abandoned threads. With that many, no further job begins. */
const MOST_STUCK = 16
/** The memory limit of the worker in megabytes. One megabyte of HTML takes about two hundred megabytes as objects. */
const MEMORY_MB = 384

interface TransformParts {
  clock: Clock
  memoryMb?: number
}

/** An abandoned thread. The promise of its end is wrapped in an object, because `await` would wait for a bare promise. */
interface Stuck {
  ended: Promise<unknown>
}

export type Transform = ReturnType<typeof createTransform>

/**
 * Runs CPU-heavy work on untrusted content, one job at a time, in a worker thread that is started when needed. If a job exceeds its time or
 * memory (including buffers), or its signal aborts, its thread is ended. A thread that is blocked by a file system cannot be ended: it is
 * abandoned, and the next job gets a new thread.
 */
export function createTransform ({ clock, memoryMb = MEMORY_MB }: TransformParts) {
  let worker: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  let stuck = 0
  const jobs = createOneAtATime({
    clock,
    busy: () => new TransformBusy(),
    isRunning: () => worker !== undefined,
    end: async () => void await end()
  })

  function start (): Worker {
    // The worker processes untrusted content, so it gets neither the environment, which might hold keys, nor the flags of Node.js.
    const { program, eval: isCode } = workerProgram('transform')
    const started = new Worker(program, {
      eval: isCode,
      env: {},
      execArgv: THREAD_FLAGS,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 }
    })
    started.stdout.resume()
    started.stderr.resume()
    // `perform` adds its own listener. This one prevents an uncaught error while no job is running.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    started.unref()
    return started
  }

  /** Ends the thread. Resolves to undefined once it has ended, or after END_MS to an object with the promise of its end. */
  async function end (): Promise<Stuck | undefined> {
    if (worker) ended = worker.terminate()
    worker = undefined
    const ending = ended
    if (await settlesWithin({ clock, ms: END_MS }, ending)) return undefined
    stuck++
    ended = Promise.resolve()
    noteStuck(ending)
    return { ended: ending.finally(() => stuck--) }
  }

  async function perform (kind: Kind, input: unknown): Promise<unknown> {
    if (stuck >= MOST_STUCK) throw new TransformBusy()
    const current = worker ??= start()
    const { promise, resolve, reject } = Promise.withResolvers<Done>()
    const exited = () => reject(new Error('its thread ended'))
    current.on('message', resolve).on('error', reject).on('exit', exited)
    current.ref()
    const stopWatching = watchMemory(current, clock, memoryMb, reject)
    try {
      current.postMessage({ kind, input })
      const done = await promise
      if ('error' in done) throw new TransformFailed(kind, done.error.replace(/\.$/, ''))
      return done.output
    } finally {
      stopWatching()
      current.unref()
      current.off('message', resolve).off('error', reject).off('exit', exited)
    }
  }

  async function performWithDeadline (kind: Kind, input: unknown, ms: number, signal: AbortSignal): Promise<unknown> {
    try {
      return await withDeadline({ clock, ms, signal }, () => perform(kind, input))
    } catch (error) {
      // After an error that the job itself reported, the thread can still be used.
      const left = error instanceof TransformFailed || error instanceof TransformBusy ? undefined : await end()
      signal.throwIfAborted()
      if (error instanceof TransformFailed || error instanceof TransformBusy) throw error
      throw Object.assign(new TransformFailed(kind, reasonOf(error, ms)), { stuck: left?.ended })
    }
  }

  return {
    /**
     * Runs one job. Its time limit, `ms` milliseconds, begins when the job starts. Rejects with the signal's abort reason, with
     * TransformFailed, whose cause can be the content, or with TransformBusy. If the thread could not be ended, the TransformFailed has the
     * promise of the thread's end as `stuck`.
     */
    run: <K extends Kind>(
      kind: K,
      input: Transforms[K]['input'],
      { signal, ms = DEADLINE_MS }: { signal: AbortSignal, ms?: number }
    ): Promise<Transforms[K]['output']> =>
      jobs.run(signal, (aborted) => performWithDeadline(kind, input, ms, aborted) as Promise<Transforms[K]['output']>),

    /** True if the worker thread exists. */
    get running (): boolean {
      return worker !== undefined
    },

    /** Ends the worker thread and its running job. */
    close: (): Promise<void> => jobs.close(new TransformFailed('anything', 'the service is ending'))
  }
}

function reasonOf (error: unknown, ms: number): string {
  const { code, kind, message } = error as { code?: string, kind?: string, message: string }
  if (kind === 'timeout') return `it took longer than ${ms / 1000} s`
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it took too much memory' : message
}

const INTERVAL_MS = 50

/**
 * Calls `exceeded` once the buffers of a worker take more than `limitMb` megabytes. The resource limits of a worker apply to objects only,
 * so a small compressed document could otherwise fill the memory of the machine. Returns a function that stops the watch.
 */
function watchMemory (worker: Worker, clock: Clock, limitMb: number, exceeded: (error: Error) => void): () => void {
  const stopped = new AbortController()
  const watch = async () => {
    for (;;) {
      await clock.sleep(INTERVAL_MS, stopped.signal)
      // The worker answers this even while its code runs.
      const { external_memory: bytes } = await worker.getHeapStatistics()
      if (bytes > limitMb * 1024 * 1024) return exceeded(new Error('it took too much memory'))
    }
  }
  // The promise rejects when the watch was stopped or the worker has ended.
  watch().catch(() => {})
  return () => stopped.abort()
}
