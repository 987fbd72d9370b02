import { createError } from '@fastify/error'
import type { Protocol } from '../../schemas/agent.ts'
import { Aborted } from '../lib/abort.ts'
import { Draining } from '../http/draining.ts'
import type { RunEvent } from '../run-log/run-events.ts'
import { createRunLog, segmentStart } from '../run-log/run-log.ts'
import type { Run } from './run-repository.ts'

export const TooManyRuns = createError('ERR_TOO_MANY_RUNS', 'There are already %d runs under way; wait for one to end.', 429)
export const NoActiveRun = createError('ERR_NO_LIVE_RUN', 'No run is under way in this conversation.', 404)
export const SteeringFull = createError('ERR_STEERING_FULL', 'There are already %d messages waiting for the next step; wait for it.', 429)
export const ConversationBusy = createError(
  'ERR_CONVERSATION_BUSY',
  'This conversation already has a run under way; wait for it to end.',
  409
)

/** Somebody who follows a segment of a run, batch by batch. Whoever gets one must call `leave`. */
export interface Subscription {
  runId: string
  threadId: string
  /** How this follower is written to. */
  protocol: Protocol
  batches(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]>
  /** Bytes the run said since this follower came that it has not taken yet. */
  lag(): number
  unsubscribe(): void
}

/** Messages that may wait for a run's next step. */
const STEERING_QUEUE = 20

/** Above this a run waits for its readers, bytes; see `roomToSay`. */
const BACKPRESSURE_BYTES = 256 * 1024

/** How a run is followed. */
export interface RunOptions {
  /** Whether it lives on when nobody follows. */
  resumable: boolean
  /** What followers get who do not say. */
  protocol: Protocol
}

export type ActiveRun = ReturnType<typeof createActiveRun>

/** A run under way and those who follow it. The last one to leave takes the run with them, unless it is resumable. */
export function createActiveRun (run: Run, { resumable, protocol }: RunOptions) {
  let steering: string[] | undefined = []
  const controller = new AbortController()
  const positions = new Map<symbol, number>()
  const done = Promise.withResolvers<void>()
  let moved = Promise.withResolvers<void>()

  const progress = () => {
    moved.resolve()
    moved = Promise.withResolvers()
  }
  const isUnderBackpressure = () =>
    !resumable && positions.size > 0 && [...positions.values()].every((position) => run.log.lag(position) > BACKPRESSURE_BYTES)

  return {
    run,
    signal: controller.signal,
    /** Resolves when nothing of the run is left running. */
    done: done.promise,
    abort (reason: Aborted) {
      controller.abort(reason)
      progress()
    },
    end () {
      run.log.end()
      done.resolve()
    },

    /** Something for the model's next step. Throws SteeringFull (429), or NoLiveRun (404) when no step follows. */
    steer (text: string) {
      if (steering === undefined) throw new NoActiveRun()
      if (steering.length === STEERING_QUEUE) throw new SteeringFull(STEERING_QUEUE)
      steering.push(text)
    },
    get isSteered () {
      return steering !== undefined && steering.length > 0
    },
    drainSteering: () => steering?.splice(0) ?? [],
    /** What nobody has heard when the steps are over; nothing more is taken. */
    endSteering (): string[] {
      const unheard = steering ?? []
      steering = undefined
      return unheard
    },

    /** A promise while every follower is far behind: the model's stream is then not read either. */
    backpressure (): Promise<void> | undefined {
      if (!isUnderBackpressure()) return undefined
      return (async () => {
        while (isUnderBackpressure() && !controller.signal.aborted) await moved.promise
      })()
    },

    /** Follows from the first event of a segment, written in the run's own protocol unless said otherwise. */
    subscribe (segment: number, as: Protocol = protocol): Subscription {
      const me = Symbol('follower')
      const start = segmentStart(run.log.events, segment)
      // What was there before has to be sent, and is no sign of a slow reader.
      const end = run.log.events.length
      positions.set(me, start)
      return {
        runId: run.head.runId,
        threadId: run.head.threadId,
        protocol: as,
        lag: () => run.log.lag(Math.max(end, positions.get(me) ?? end)),
        async * batches (signal) {
          // Nothing is told of a run whose question a crash could still lose; one that cannot be stored says so itself.
          await run.saved.catch(() => {})
          for await (const batch of run.log.read(start, signal)) {
            positions.set(me, positions.get(me)! + batch.length)
            progress()
            yield batch
          }
        },
        unsubscribe () {
          if (!positions.delete(me)) return
          progress()
          if (positions.size === 0 && !run.log.ended && !resumable) controller.abort(new Aborted('client', 'The client went away.'))
        }
      }
    }
  }
}

/** Events that are already known, for a follower: replays, and questions asked again. */
export function subscribeToRecorded (
  { runId, threadId }: { runId: string, threadId: string },
  events: readonly RunEvent[],
  protocol: Protocol
): Subscription {
  const log = createRunLog(events)
  log.end()
  return {
    runId,
    threadId,
    protocol,
    batches: (signal) => log.read(0, signal),
    lag: () => 0,
    unsubscribe () {}
  }
}

/** The runs under way: one a conversation, `limit()` in all. */
export function createActiveRuns ({ limit, ended }: { limit: () => number, ended?: (threadId: string) => void }) {
  const byThread = new Map<string, ActiveRun>()
  /** Conversations whose run was admitted and has not begun yet. */
  const starting = new Map<string, Promise<ActiveRun>>()
  let closing: Aborted | undefined

  return {
    get size () {
      return byThread.size
    },
    has: (threadId: string) => byThread.has(threadId) || starting.has(threadId),
    /** The run under way in a conversation. One that was told to end is waited for, and is none. */
    async current (threadId: string): Promise<ActiveRun | undefined> {
      const live = byThread.get(threadId)
      if (!live?.signal.aborted) return live
      await live.done
      return undefined
    },

    /**
     * Keeps a place for the run that `begin` launches; one at a time in a conversation. Throws TooManyRuns (429),
     * ConversationBusy (409) or Draining (503).
     */
    async admit (threadId: string, begin: () => Promise<ActiveRun>): Promise<ActiveRun> {
      if (closing) throw new Draining()
      if (byThread.has(threadId) || starting.has(threadId)) throw new ConversationBusy()
      if (byThread.size + starting.size >= limit()) throw new TooManyRuns(limit())
      const begun = Promise.resolve().then(begin)
      starting.set(threadId, begun)
      try {
        return await begun
      } finally {
        starting.delete(threadId)
      }
    },

    /** Starts `work` in the place that was kept; the run counts as live until that has ended. */
    launch (run: Run, options: RunOptions, work: (live: ActiveRun) => Promise<void>): ActiveRun {
      const live = createActiveRun(run, options)
      starting.delete(run.head.threadId)
      byThread.set(run.head.threadId, live)
      // It was admitted just before the end began.
      if (closing) live.abort(closing)
      void work(live).finally(() => {
        byThread.delete(run.head.threadId)
        live.end()
        ended?.(run.head.threadId)
      })
      return live
    },

    /** Ends every run and waits until nothing of them is left; a request that is still arriving gets none. */
    async close (reason: Aborted) {
      closing = reason
      for (const live of byThread.values()) live.abort(reason)
      await Promise.allSettled(starting.values())
      await Promise.all([...byThread.values()].map(({ done }) => done))
    }
  }
}
