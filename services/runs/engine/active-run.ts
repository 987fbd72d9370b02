import type { Protocol, SteerBody } from '../../../schemas/agent.ts'
import type { RunOptions } from '../../../schemas/run-options.ts'
import { Aborted } from '../../lib/abort.ts'
import { defineError } from '../../lib/service-error.ts'
import type { EventOf, RunEvent } from '../../contracts/run-events.ts'
import { withoutDroppedTries } from '../run-log/cut-steps.ts'
import { createRunLog, segmentStart } from '../run-log/run-log.ts'
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
  'The message with the id "%s" says something else. Send this one with an id of its own.'
)

/** Returns what was said with the id of an event; undefined for a new id. Throws SteeringIdUsed (409) if it says something else. */
function saidBefore (said: readonly EventOf<'steer'>[], { id, text }: EventOf<'steer'>): EventOf<'steer'> | undefined {
  const known = said.find((each) => each.id === id)
  if (known !== undefined && known.text !== text) throw new SteeringIdUsed(id)
  return known
}

/** A reader of one segment of a run, batch by batch. Its owner must call `unsubscribe`. */
export interface Subscription<R extends RunRecord = ThreadRun> {
  runId: string
  threadId: R['threadId']
  /** The options of the run. */
  options?: RunOptions
  /** The protocol in which this subscriber gets the events. */
  protocol: Protocol
  batches(signal: AbortSignal): AsyncGenerator<readonly RunEvent[]>
  /** Bytes that the run appended since the subscription began and that the subscriber has not read yet. */
  lag(): number
  unsubscribe(): void
}

/** The number of steering messages that may wait for a run's next step. */
const STEERING_QUEUE = 20

/** A subscriber that lags by more than this many bytes counts as slow; see `backpressure`. */
const BACKPRESSURE_BYTES = 256 * 1024

/** What the subscribers of a run may rely on. */
export interface SubscriberOptions {
  /** Whether the run continues when no subscriber is left. */
  resumable: boolean
  /** The protocol of subscribers that request none. */
  protocol: Protocol
}

export type ActiveRun<R extends RunRecord = ThreadRun> = ReturnType<typeof createActiveRun<R>>

/** A run that executes now, with its subscribers. When the last subscriber leaves, the run is aborted, unless it is resumable. */
export function createActiveRun<R extends RunRecord> (
  run: Run<R>,
  { resumable, protocol }: SubscriberOptions,
  onEnd?: () => void
) {
  /** What the user said and no step has read; it is on disk. */
  const steering = waitingIn(run.log.events)
  /** What is being written. */
  const storing = new Map<EventOf<'steer'>, Promise<void>>()
  let isEnding = false
  const controller = new AbortController()
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
  const stored = async () => {
    while (storing.size > 0) await Promise.allSettled(storing.values())
  }
  const isUnderBackpressure = () =>
    !resumable && positions.size > 0 && [...positions.values()].every((position) => run.log.lag(position) > BACKPRESSURE_BYTES)

  return {
    run,
    signal: controller.signal,
    resumable,
    /** Whether somebody reads the run. */
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
      run.log.end()
      done.resolve()
    },

    /**
     * Takes what the user says for the model's next step; `store` puts the event on disk, and in the log. Nothing is taken twice. Throws
     * SteeringFull (429), NoActiveRun (404) if no step follows, or SteeringIdUsed (409).
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
    /** Returns what step `step` is to read. */
    takeSteering: (step: number): EventOf<'steer'>[] => steering.splice(0).map((event) => ({ ...event, state: 'read', step })),
    /** Whether something waits for a step. */
    async isSteered (): Promise<boolean> {
      await stored()
      return steering.length > 0
    },
    /** Whether no step follows. */
    get isEnding () {
      return isEnding
    },
    /** Takes nothing more from the user, unless something waits for a step. Returns whether the run may end. */
    async endUnlessSteered (): Promise<boolean> {
      await stored()
      isEnding = steering.length === 0
      return isEnding
    },
    /** Takes nothing more from the user. Resolves when what was taken is in the log. */
    async endSteering (): Promise<void> {
      isEnding = true
      await stored()
    },

    /** Pending while every subscriber lags, which pauses the model stream; undefined while there is no backpressure. */
    backpressure (): Promise<void> | undefined {
      if (!isUnderBackpressure()) return undefined
      return (async () => {
        while (isUnderBackpressure() && !controller.signal.aborted) await moved.promise
      })()
    },

    /**
     * Subscribes from the first event of a segment, by default in the run's own protocol. With `isWhole`, a chat client gets the earlier
     * segments, too, because it builds one message of all.
     */
    subscribe (segment: number, as: Protocol = protocol, { isWhole = false } = {}): Subscription<R> {
      const subscriber = Symbol('subscriber')
      const first = segmentStart(run.log.events, segment)
      const earlier = isWhole && as !== 'documented' && segment > 0 ? wholeMessage(run.log.events.slice(0, first + 1), as) : []
      const start = earlier.length > 0 ? first + 1 : first
      // Earlier events have to be sent too, but do not count as lag: they are no sign of a slow reader.
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
            // Wait until the request is on disk: a crash must not lose a request whose events were sent. A failed write ends the run.
            opening: run.saved.then(() => earlier, () => earlier),
            onRead (batch) {
              positions.set(subscriber, positions.get(subscriber)! + batch.length)
              progress()
            }
          }),
        unsubscribe () {
          if (!positions.delete(subscriber)) return
          progress()
          if (positions.size === 0 && !run.log.ended && !resumable) abort(new Aborted('client', 'The client went away.'))
        }
      }
    }
  }
}

/** Returns the events of a subscription when all are there, without those of dropped tries, and ends it. */
export async function readWhole (subscription: Subscription, signal: AbortSignal): Promise<readonly RunEvent[]> {
  const read: RunEvent[] = []
  try {
    for await (const batch of subscription.batches(signal)) read.push(...batch)
  } finally {
    subscription.unsubscribe()
  }
  return withoutDroppedTries(read)
}

/** Returns a subscription to recorded events: a replayed segment, or approval requests that are sent again. */
export function subscribeToRecorded (
  { runId, threadId, options }: Pick<ThreadRun, 'runId' | 'threadId' | 'options'>,
  events: readonly RunEvent[],
  protocol: Protocol
): Subscription {
  const log = createRunLog(events)
  log.end()
  return {
    runId,
    threadId,
    options,
    protocol,
    batches: (signal) => log.read(0, signal),
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
 * Sends what the user says to an active run; the model gets it at its next step, also when the run is paused or cut before. It is on disk
 * when the promise resolves. Throws NoActiveRun (404) if no step follows, SteeringFull (429), or SteeringIdUsed
 * (409).
 */
export function steerRun<R extends RunRecord> (live: ActiveRun<R>, body: SteerBody, deps: Deps): Promise<EventOf<'steer'>> {
  const event = said(body, deps)
  return live.steer(event, () => live.run.saved.then(() => deps.runs.commit(live.run, { finalEvents: [event] })))
}

/** Does the same for a stored run that waits: the model gets it when the run goes on. `more` is stored with it. */
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
