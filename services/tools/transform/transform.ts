import { Worker } from 'node:worker_threads'
import { createError } from '@fastify/error'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { createSemaphore } from '../../lib/semaphore.ts'
import { workerFile } from '../../lib/worker-file.ts'
import type { Done, Kind, Transforms } from './transform-rpc.ts'

export const TransformFailed = createError<[string, string]>('ERR_TRANSFORM_FAILED', 'This content could not be turned into %s: %s.', 422)
export const TransformBusy = createError('ERR_TRANSFORM_BUSY', 'Too much content is being worked on at once; try again in a moment.', 503)

const DEADLINE_MS = 10_000
/** A worker that nobody needed for so long is ended: it holds tens of megabytes. */
const IDLE_MS = 30_000
/** A megabyte of HTML becomes some two hundred of objects. */
const MEMORY_MB = 384
/** Jobs that wait for the one under way. */
const MOST_WAITING = 31

export interface TransformParts {
  clock: Clock
  memoryMb?: number
}

export type Transform = ReturnType<typeof createTransform>

/**
 * Heavy work on foreign content, one job after the other in a thread of its own that is started when first needed. A job
 * that takes too long or too much memory, or that is wanted no more, is ended together with its thread.
 */
export function createTransform ({ clock, memoryMb = MEMORY_MB }: TransformParts) {
  let worker: Worker | undefined
  let ended: Promise<unknown> = Promise.resolve()
  const slots = createSemaphore({ limit: 1, maxQueued: MOST_WAITING, busy: () => new TransformBusy() })
  let idle = new AbortController()
  const closing = new AbortController()

  function start (): Worker {
    // Nothing of ours is handed in: neither keys in the environment nor what Node was started with.
    const started = new Worker(workerFile('transform'), {
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 32 }
    })
    started.stdout.resume()
    started.stderr.resume()
    // Whoever waits for an answer is told by a listener of its own.
    started.on('error', () => {})
    started.on('exit', () => {
      if (worker === started) worker = undefined
    })
    started.unref()
    return started
  }

  async function end (): Promise<void> {
    if (worker) ended = worker.terminate()
    worker = undefined
    await ended
  }

  async function perform (kind: Kind, input: unknown): Promise<unknown> {
    const current = worker ??= start()
    const { promise, resolve, reject } = Promise.withResolvers<Done>()
    const exited = () => reject(new Error('its thread ended'))
    current.on('message', resolve).on('error', reject).on('exit', exited)
    current.ref()
    try {
      current.postMessage({ kind, input })
      const done = await promise
      if ('error' in done) throw new TransformFailed(kind, done.error)
      return done.output
    } finally {
      current.unref()
      current.off('message', resolve).off('error', reject).off('exit', exited)
    }
  }

  async function perhaps (kind: Kind, input: unknown, ms: number, signal: AbortSignal): Promise<unknown> {
    try {
      return await withDeadline({ clock, ms, signal }, () => perform(kind, input))
    } catch (error) {
      // What a doer throws leaves its thread as it was.
      if (!(error instanceof TransformFailed)) await end()
      signal.throwIfAborted()
      throw error instanceof TransformFailed ? error : new TransformFailed(kind, reason(error, ms))
    }
  }

  /** Ends the worker once nobody has come for a while. */
  function rest () {
    idle.abort()
    idle = new AbortController()
    clock.sleep(IDLE_MS, idle.signal).then(end, () => {})
  }

  return {
    /**
     * Does one job; milliseconds count from its turn. Rejects with the signal's reason, with TransformFailed, whose
     * cause may be the content, or with TransformBusy.
     */
    async run<K extends Kind> (
      kind: K,
      input: Transforms[K]['input'],
      { signal, ms = DEADLINE_MS }: { signal: AbortSignal, ms?: number }
    ): Promise<Transforms[K]['output']> {
      const either = AbortSignal.any([signal, closing.signal])
      try {
        return await slots.run(either, () => {
          idle.abort()
          return perhaps(kind, input, ms, either)
        }) as Transforms[K]['output']
      } finally {
        if (slots.idle && worker) rest()
      }
    },

    /** Whether there is a thread at the moment. */
    get running (): boolean {
      return worker !== undefined
    },

    /** Ends the worker, and what it was at with it. */
    async close (): Promise<void> {
      closing.abort(new TransformFailed('anything', 'the service is ending'))
      idle.abort()
      await end()
    }
  }
}

function reason (error: unknown, ms: number): string {
  const { code, kind, message } = error as { code?: string, kind?: string, message: string }
  if (kind === 'timeout') return `it took longer than ${ms / 1000} s`
  return code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'it took too much memory' : message
}
