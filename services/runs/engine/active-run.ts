import type { Protocol, SteerBody } from '../../../schemas/agent.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import { Aborted } from '../../lib/abort.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import { defineError } from '../../lib/service-error.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { withoutDroppedTries } from '../run-log/cut-steps.ts'
import { type EventPosition, findAfter } from '../run-log/event-position.ts'
import { type RunLog, segmentStart } from '../run-log/run-log.ts'
import { steeringIn, waitingIn } from '../run-log/steering.ts'
import { wholeMessage } from '../run-log/ui-message.ts'
import type { RunRecord, ThreadRun } from '../run-record.ts'
import type { Run, RunRepository, RunWrite } from '../run-repository.ts'
import type { Clock } from '../../lib/clock.ts'
import { newId } from '../../lib/ids.ts'

export const NoActiveRun = defineError(
  'ERR_NO_LIVE_RUN',
  'No run is under way here. Send a message, or for a task a comment on it, instead.'
)
const SteeringFull = defineError('ERR_STEERING_FULL', 'There are already %d messages waiting for the next step; wait for it.')
const SteeringIdUsed = defineError(
  'ERR_STEERING_ID_USED',
  'The id "%s" belongs to another message of this run. Send this one with an id of its own.'
)

/**
 * Returns the earlier message of the user that has the same id as the event; undefined if there is none. Throws SteeringIdUsed (409) if its
 * text differs.
 */
function saidBefore (said: readonly EventOf<'steer'>[], { id, text }: EventOf<'steer'>): EventOf<'steer'> | undefined {
  const known = said.find((each) => each.id === id)
  if (known !== undefined && known.text !== text) throw new SteeringIdUsed(id)
  return known
}

/**
 * A subscription to one segment (the part of a run between two waits for a person), which is read in batches. The reader must call
 * `unsubscribe`.
 */
export interface Subscription<R extends RunRecord = ThreadRun> {
  runId: string
  threadId: R['threadId']
  /** The options of the run. */
  options?: RunOptions
  /** The protocol in which this subscriber gets the events. */
  protocol: Protocol
  batches(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]>
  /** The number of bytes of events that were appended since the subscription began and that the subscriber has not read yet. */
  lag(): number
  unsubscribe(): void
}

/** Where a reader begins; by default with the first event of its segment. */
interface ReadFrom {
  /** A chat client also gets the earlier segments, because it builds one message from all segments. */
  isWhole?: boolean
  /** The last event that a reader received which reconnects. It gets only later events. */
  after?: EventPosition
}

/** Returns where a reader of a segment begins: with the events `rest`, and then at the index `next` of the log. */
function beginningOf (
  { events, tag }: RunLog,
  segment: number,
  protocol: Protocol,
  { isWhole = false, after }: ReadFrom = {}
): NonNullable<ReturnType<typeof findAfter>> {
  const resumed = after && findAfter(events, after, tag)
  if (resumed !== undefined) return resumed
  const first = segmentStart(events, segment)
  return isWhole && protocol !== 'documented' && segment > 0
    ? { next: first + 1, rest: wholeMessage(events.slice(0, first + 1), protocol) }
    : { next: first, rest: [] }
}

/** The most messages of the user that can wait for a run's next step. */
const STEERING_QUEUE = 20

/** A subscriber that lags by more than this many bytes counts as slow. */
const BACKPRESSURE_BYTES = 256 * 1024

/** How a run treats its subscribers. */
export interface SubscriberOptions {
  /** Whether the run continues when no subscriber is left. */
  resumable: boolean
  /** How long a run that is not resumable continues without a subscriber, milliseconds; default 0. */
  lingerMs?: number
  /** The protocol of subscribers that name none. */
  protocol: Protocol
}

export type ActiveRun<R extends RunRecord = ThreadRun> = ReturnType<typeof createActiveRun<R>>

/**
 * A run that executes now, with its subscribers. When the last subscriber leaves, a run that is not resumable is aborted, unless somebody
 * subscribes again within `lingerMs` milliseconds.
 */
export function createActiveRun<R extends RunRecord> (
  run: Run<R>,
  { resumable, lingerMs = 0, protocol }: SubscriberOptions,
  { clock, onEnd }: { clock: Pick<Clock, 'sleep'>, onEnd?: () => void }
) {
  /** How often the last subscriber has left. */
  let departures = 0
  /** The messages of the user that are on disk and that no step has read. */
  const steering = waitingIn(run.log.events)
  /** The messages of the user that are being written. */
  const storing = new Map<EventOf<'steer'>, Promise<void>>()
  let isEnding = false
  const controller = new AbortController()
  const over = new AbortController()
  const positions = new Map<symbol, number>()
  const done = Promise.withResolvers<void>()
  const aborted = Promise.withResolvers<void>()
  let moved = Promise.withResolvers<void>()

  const progress = () => {
    moved.resolve()
    moved = Promise.withResolvers()
  }
  const abort = (reason: Aborted) => {
    controller.abort(reason)
    aborted.resolve()
    progress()
  }
  /** Aborts the run if it has no reader after `lingerMs`. */
  async function abortUnread (): Promise<void> {
    const departure = ++departures
    if (lingerMs > 0) await clock.sleep(lingerMs, AbortSignal.any([controller.signal, over.signal]))
    if (positions.size > 0 || departure !== departures || run.log.ended) return
    abort(new Aborted('client', 'The client went away.'))
  }
  const stored = async () => {
    while (storing.size > 0) await Promise.allSettled(storing.values())
  }
  const isUnderBackpressure = () =>
    !resumable && positions.size > 0 && [...positions.values()].every((position) => run.log.lag(position) > BACKPRESSURE_BYTES)

  return {
    run,
    signal: controller.signal,
    resumable,
    /** Whether the run has a reader. */
    get isRead () {
      return positions.size > 0
    },
    /** Resolves when all work of the run has ended. */
    done: done.promise,
    /** Resolves when the run is aborted. */
    aborted: aborted.promise,
    abort,
    end () {
      onEnd?.()
      over.abort('over')
      run.log.end()
      done.resolve()
    },

    /**
     * Takes a message of the user for the model's next step. `store` writes the event to disk and to the log. A message that is sent again
     * with the same id is taken once. Throws SteeringFull (429), NoActiveRun (404) if no step follows, or SteeringIdUsed (409).
     */
    async steer (event: EventOf<'steer'>, store: () => Promise<void>): Promise<EventOf<'steer'>> {
      const known = saidBefore(steeringIn(run.log.events), event)
      if (known !== undefined) return known
      const same = saidBefore([...storing.keys()], event) ?? event
      let written = storing.get(same)
      if (written === undefined) {
        if (isEnding) throw new NoActiveRun()
        if (steering.length + storing.size >= STEERING_QUEUE) throw new SteeringFull(STEERING_QUEUE)
        written = store().then(() => void steering.push(event)).finally(() => storing.delete(event))
        storing.set(event, written)
      }
      await written
      return same
    },
    /** Removes the waiting messages of the user and returns them as read by the step with number `step`. */
    takeSteering: (step: number): EventOf<'steer'>[] => steering.splice(0).map((event) => ({ ...event, state: 'read', step })),
    /** Whether messages of the user wait for a step. */
    async isSteered (): Promise<boolean> {
      await stored()
      return steering.length > 0
    },
    /** Whether no further step follows. */
    get isEnding () {
      return isEnding
    },
    /** If no message of the user waits for a step, no further messages are taken and the run can end. Returns whether it can end. */
    async endUnlessSteered (): Promise<boolean> {
      await stored()
      isEnding = steering.length === 0
      return isEnding
    },
    /** Takes no further messages of the user. Resolves when the messages taken so far are in the log. */
    async endSteering (): Promise<void> {
      isEnding = true
      await stored()
    },

    /**
     * Returns a promise that is pending while every subscriber lags, which pauses the model stream; undefined while there is no
     * backpressure.
     */
    backpressure (): Promise<void> | undefined {
      if (!isUnderBackpressure()) return undefined
      return (async () => {
        while (isUnderBackpressure() && !controller.signal.aborted) await moved.promise
      })()
    },

    /** Subscribes from the first event of a segment, by default in the run's own protocol. */
    subscribe (segment: number, as: Protocol = protocol, from?: ReadFrom): Subscription<R> {
      const subscriber = Symbol('subscriber')
      const { next: start, rest: earlier } = beginningOf(run.log, segment, as, from)
      // Earlier events are sent, too, but do not count as lag, because they do not show that the reader is slow.
      const end = run.log.events.length
      positions.set(subscriber, start)
      return {
        runId: run.record.runId,
        threadId: run.record.threadId,
        options: run.record.options,
        protocol: as,
        lag: () => run.log.lag(Math.max(end, positions.get(subscriber) ?? end)),
        batches: (signal) =>
          run.log.read(start, signal, {
            // Waits until the request is on disk: a crash must not lose a request whose events were sent. If the write fails, the run ends.
            opening: run.saved.then(() => earlier, () => earlier),
            onRead (batch) {
              positions.set(subscriber, positions.get(subscriber)! + batch.length)
              progress()
            }
          }),
        unsubscribe () {
          if (!positions.delete(subscriber)) return
          progress()
          if (positions.size === 0 && !run.log.ended && !resumable) abortUnread().catch(() => {})
        }
      }
    }
  }
}

/** Reads a subscription to its end and returns all events, except those of attempts at steps that broke off and were repeated. */
export async function readWhole (subscription: Subscription, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const read: RunEvent[] = []
  try {
    for await (const batch of subscription.batches(signal)) read.push(...batch)
  } finally {
    subscription.unsubscribe()
  }
  return withoutDroppedTries(read)
}

/**
 * Reads a subscription until an event is `enough`, or for `ms` milliseconds. Returns the events so far, and a subscription that begins with
 * them again.
 */
export async function readFirst (
  subscription: Subscription,
  enough: (event: RunEvent) => boolean,
  { clock, ms, signal }: { clock: Clock, ms: number, signal: AbortSignal }
): Promise<{ events: RunEvent[], whole: Subscription }> {
  const batches = subscription.batches(signal)
  const deadline = clock.monotonic() + ms
  const first: Array<readonly RunEvent[]> = []
  let next = batches.next()
  while (!first.at(-1)?.some(enough) && await settlesWithin({ clock, ms: deadline - clock.monotonic(), signal }, next)) {
    const { done, value } = await next
    if (done) break
    first.push(value)
    next = batches.next()
  }
  // This promise is awaited only if somebody reads on.
  next.catch(() => {})
  return {
    events: first.flat(),
    whole: {
      ...subscription,
      async * batches () {
        yield * first
        for (let each = await next; !each.done; each = await batches.next()) yield each.value
      },
      unsubscribe () {
        batches.return(undefined).catch(() => {})
        subscription.unsubscribe()
      }
    }
  }
}

/** Returns a subscription to an ended segment, by default in the run's own protocol. */
export function subscribeToSegment (
  { runId, threadId, options, protocol: known = 'documented' }: Pick<ThreadRun, 'runId' | 'threadId' | 'options' | 'protocol'>,
  log: RunLog,
  segment: number,
  { protocol = known, ...from }: ReadFrom & { protocol?: Protocol }
): Subscription {
  const { next, rest } = beginningOf(log, segment, protocol, from)
  return {
    ...{ runId, threadId, options, protocol },
    batches: (signal) => log.read(next, signal, { opening: Promise.resolve(rest) }),
    lag: () => 0,
    unsubscribe () {}
  }
}

interface Deps {
  runs: Pick<RunRepository, 'commit'>
  clock: Clock
}

const said = ({ message: text, id = newId() }: SteerBody, { clock }: Deps): EventOf<'steer'> =>
  ({ type: 'steer', id, text, state: 'waiting', at: clock.now() })

/**
 * Sends a message of the user to an active run. The model gets the message at its next step, even if the run waits or is interrupted before
 * that step. The message is on disk when the promise resolves. If the run is ending, waits for its end and returns undefined, because the
 * run might wait now. Throws NoActiveRun (404) if no step follows, SteeringFull (429), or SteeringIdUsed (409).
 */
export async function steerRun<R extends RunRecord> (
  live: ActiveRun<R>,
  body: SteerBody,
  deps: Deps
): Promise<EventOf<'steer'> | undefined> {
  if (live.isEnding) return void await live.done
  const event = said(body, deps)
  return live.steer(event, () => live.run.saved.then(() => deps.runs.commit(live.run, { finalEvents: [event] })))
}

/**
 * Like `steerRun`, for a stored run that waits: the model gets the message when the run continues. `more` is stored in the same
 * transaction.
 */
export async function steerWaitingRun<R extends RunRecord> (
  run: Run<R>,
  body: SteerBody,
  deps: Deps,
  more: (event: EventOf<'steer'>) => Promise<RunWrite<R>> = async () => ({})
): Promise<EventOf<'steer'>> {
  const event = said(body, deps)
  const known = saidBefore(steeringIn(run.log.events), event)
  if (known !== undefined) return known
  if (waitingIn(run.log.events).length >= STEERING_QUEUE) throw new SteeringFull(STEERING_QUEUE)
  await deps.runs.commit(run, { ...await more(event), finalEvents: [event], status: run.record.status })
  return event
}
