import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import type { ErrorCode } from '../../schemas/error-codes.ts'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Failure } from './providers/failures.ts'
import type { Timeouts } from './providers/provider.ts'
import { batchesOf, type PartBatches } from './providers/part-batches.ts'
import { onSignOfLife } from './providers/answer-stream/signs-of-life.ts'
import { BROKE_OFF, failureOf, isFailure } from './providers/check-part.ts'
import { ToolsUnseen } from './providers/kinds/usable-tools.ts'
import { createAnswerParts } from './answer-parts.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import type { Meter, Reported } from '../usage/index.ts'
import { tokensOf, toolTokens } from './token-estimate.ts'

/** A model call failed on every attempt. `isOutage`: the provider or the network is to blame, so the call might succeed later. */
class ModelFailed extends ServiceError {
  readonly isOutage: boolean

  constructor ({ message, code, retryAfterMs }: Failure, isOutage: boolean) {
    super(code, message)
    this.isOutage = isOutage
    this.retryAfterMs = retryAfterMs
  }
}

/** Codes of failures after which the same call might succeed in minutes or hours. Failures that are `retryable` might succeed at once. */
const OF_NETWORK: readonly ErrorCode[] = ['ERR_PROVIDER_RESPONSE', 'ERR_PROVIDER_CERTIFICATE', 'ERR_PROVIDER_TLS']

/** True if a model call failed because of a provider or the network. */
export const isOutage = (error: unknown): error is ModelFailed => error instanceof ModelFailed && error.isOutage

type CallOptions = Omit<LanguageModelV4CallOptions, 'abortSignal' | 'prompt'>

interface ModelCall {
  /** Ids as `<provider>/<model>`: the preferred model first, then the fallbacks. */
  models: string[]
  /** Loads a model. `origin` marks the data that the model attaches to its answer (models/reasoning.ts); the id by default. */
  load(id: string): Promise<{ id: string, origin?: string, model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /**
   * Returns the prompt for a model. Called again with `tooLong` if the provider refuses the prompt's length; then undefined means that the
   * prompt cannot be shortened.
   */
  prompt(id: string, tooLong: boolean): Promise<LanguageModelV4Prompt | undefined>
  options: CallOptions
  /** Returns the options with fewer tools if the provider refuses their number; undefined if there are no fewer. */
  withFewerTools(id: string, error: unknown): Promise<CallOptions | undefined>
  signal: AbortSignal
  clock: Clock
  meter: Meter
  /** Returns how long a model may be silent, and whether its server is the user's own. */
  timeouts(id: string): Timeouts
  /** Stops counting the time of the run until the promise settles. */
  pause<T>(work: Promise<T>): Promise<T>
  /** Called before a model is asked again although parts of the answer were delivered. These parts are void. */
  onDropped(dropped: { attempt: number, reason: string }): void
  /** Called while nothing comes from the model, with the milliseconds since the model last sent something. */
  onWaiting(sinceMs: number): void
  /**
   * Called with the parts as they arrive, one or more at a time, and with the origin of the answer. A returned promise pauses the model
   * stream; `enough` ends the call as if the answer were complete.
   */
  onParts(parts: readonly LanguageModelV4StreamPart[], origin: string): void | 'enough' | Promise<void>
}

/** How long a model is silent before readers are told that the run waits, and the interval at which they are told again; milliseconds. */
const WAITING_MS = 10_000
const RETRIES = 3
/** The wait before the first retry, milliseconds; it doubles with each retry. */
const RETRY_MS = 1_000
/**
 * How long a server may keep an answer alive without sending a part of it, in milliseconds. If a timeout of the model is longer, the
 * timeout counts.
 */
const ALIVE_MS = 10 * 60_000
const TOO_LONG = 'ERR_CONTEXT_TOO_LONG'
const TOO_MANY_TOOLS = 'ERR_TOO_MANY_TOOLS'
/** Used to estimate the tokens of an answer that was cut off. */
const CHARACTERS_PER_TOKEN = 4
/** Matches the advice to try again, which the service does by itself. */
const TRY_AGAIN = / Try again[^.]*\.$/
/** If a provider requests a longer wait, the call is not retried on this model. Milliseconds. */
const MAX_WAIT_MS = 60_000

/**
 * Streams one model call. A failed call is retried at most RETRIES times: after a wait (`retry-after`, if the provider sends it), once with
 * a shorter prompt if the provider refuses its length, or with fewer tools if it refuses their number. Then the next model is asked. If the
 * answer of a failed call had begun, the answer is dropped (`onDropped`), unless no attempt is left. Rejects with ModelFailed, with the
 * error that `onParts` threw, with the signal's reason, or with the budget's error if a call may not be made.
 */
export async function streamModel (call: ModelCall): Promise<void> {
  let failure: Failure = { message: 'No model is configured.', code: 'ERR_NO_MODEL', retryable: false }
  let { options } = call
  let dropped = 0
  /** True if one of the models might answer later. */
  let mayRecover = false
  for (const [at, id] of call.models.entries()) {
    let isShortened = false
    let prompt: LanguageModelV4Prompt | undefined
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      const progress: Progress = { begunAt: call.clock.awake(), started: false, characters: 0 }
      await call.meter.admit(id)
      try {
        const { model, origin = id } = await call.load(id)
        prompt ??= await call.prompt(id, isShortened)
        if (prompt === undefined) break
        return await attemptOnce({ id, origin, model }, prompt, { ...call, options }, progress)
      } catch (error) {
        progress.isCutOff = abortKind(error) !== undefined
        if (call.signal.aborted) throw call.signal.reason
        if (progress.rejection) throw progress.rejection.error
        failure = call.describe(error, id)
        mayRecover ||= failure.retryable || OF_NETWORK.includes(failure.code)
        progress.code = failure.code
        const ms = progress.ms = call.clock.awake() - progress.begunAt
        if (!isCountable(progress, prompt)) call.meter.failed({ model: id, role: 'capable', ms, code: failure.code })
        const { started, isCutOff } = progress
        // The model would answer with nonsense again.
        if (started && (!failure.retryable || failure.code === 'ERR_PROVIDER_RESPONSE')) throw new ModelFailed(failure, false)
        if (failure.code === TOO_LONG && !isShortened) {
          isShortened = true
          prompt = undefined
          continue
        }
        const fewer = failure.code === TOO_MANY_TOOLS && !started ? await call.withFewerTools(id, error) : undefined
        if (fewer !== undefined) {
          options = fewer
          prompt = undefined
          continue
        }
        const wait = failure.retryAfterMs ?? RETRY_MS * 2 ** attempt
        const isSlow = isCutOff && !started && call.timeouts(id).isOwn
        const isAgain = failure.retryable && !isSlow && wait <= MAX_WAIT_MS && attempt < RETRIES
        if (started && !isAgain && at === call.models.length - 1) throw new ModelFailed(failure, mayRecover)
        if (started) call.onDropped({ attempt: ++dropped, reason: failure.message.replace(TRY_AGAIN, '') })
        if (!isAgain) break
        await call.pause(call.clock.sleep(wait, call.signal))
      } finally {
        await countAttempt(call, id, prompt, progress)
      }
    }
  }
  throw new ModelFailed(failure, mayRecover)
}

interface Progress {
  /** When the attempt began; `clock.awake()`. */
  begunAt: number
  /** When the last part of the answer arrived; `clock.awake()`. */
  partAt?: number
  /** When the model last sent something; undefined while the service waits for a reader; `clock.monotonic()`. */
  heardAt?: number
  /** Whether a part of the answer has arrived. */
  started: boolean
  /** The length of the answer so far. */
  characters: number
  /** The usage that the provider reports at the end. */
  reported?: Reported
  /** True if the call was aborted, or given up because the model was silent. */
  isCutOff?: boolean
  /** The code of the failure and the duration until then in milliseconds, if the attempt failed. */
  code?: ErrorCode
  ms?: number
  /** The error that the caller's `onParts` threw, which is not a failure of the model. */
  rejection?: { error: unknown }
}

/** True if an attempt might cost something: the provider has answered at least partly, or the attempt was cut off. */
const isCountable = ({ started, reported, isCutOff = false }: Progress, prompt: LanguageModelV4Prompt | undefined): boolean =>
  started || reported !== undefined || (isCutOff && prompt !== undefined)

async function countAttempt (
  { meter, clock, options }: ModelCall,
  model: string,
  prompt: LanguageModelV4Prompt | undefined,
  progress: Progress
) {
  if (!isCountable(progress, prompt)) return
  const { begunAt, reported, characters, code, ms = clock.awake() - begunAt } = progress
  const estimate = () => ({
    inputTokens: (prompt ?? []).reduce((sum, message) => sum + tokensOf(message), toolTokens(options.tools)),
    outputTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN)
  })
  await meter.count({ model, role: 'capable', reported, estimate, ms, code, prompt })
}

async function attemptOnce (
  { id, origin, model }: { id: string, origin: string, model: LanguageModelV4 },
  prompt: LanguageModelV4Prompt,
  call: ModelCall,
  progress: Progress
) {
  const { options, signal, clock } = call
  const { firstTokenMs, idleMs } = call.timeouts(id)
  const message = (ms: number) => `The model sent nothing for ${ms / 1000} s.`
  const limit = { clock, ms: firstTokenMs, renewedMs: idleMs, signal, message }
  const over = new AbortController()
  tellWhileSilent(call, progress, over.signal).catch(() => {})
  try {
    await withDeadline(limit, async (abortSignal, renew) => {
      const stayAlive = () => keepAlive(progress, { clock, firstTokenMs, idleMs, renew })
      onSignOfLife(abortSignal, stayAlive)
      const batches = batchesOf(await model.doStream({ ...options, prompt, abortSignal }))
      const cancel = () => batches.cancel(abortSignal.reason)
      abortSignal.addEventListener('abort', cancel)
      try {
        await readParts({ batches, origin, signal: abortSignal, renew, stayAlive }, call, progress)
      } finally {
        abortSignal.removeEventListener('abort', cancel)
        batches.cancel(undefined)
      }
    })
  } finally {
    // Without a reason, Node would make an exception with a stack trace.
    over.abort('over')
  }
}

/**
 * Renews the timeout for the next part of the answer, because the server has shown a sign of life. ALIVE_MS after the last part, the
 * timeout is not renewed any more.
 */
function keepAlive (
  { partAt, begunAt, started }: Progress,
  { clock, firstTokenMs, idleMs, renew }: Pick<Timeouts, 'firstTokenMs' | 'idleMs'> & { clock: Clock, renew: (ms: number) => void }
) {
  const ms = started ? idleMs : firstTokenMs
  const left = Math.max(ALIVE_MS, ms) - (clock.awake() - (partAt ?? begunAt))
  if (left > 0) renew(Math.min(ms, left))
}

interface Reading {
  batches: PartBatches
  origin: string
  signal: AbortSignal
  /** Called after each part of the answer. */
  renew: () => void
  /** Called after parts without content. */
  stayAlive: () => void
}

/** Reads parts until the end of the answer. */
async function readParts ({ batches, origin, signal, renew, stayAlive }: Reading, { clock, onParts }: ModelCall, progress: Progress) {
  const { mend } = createAnswerParts()
  for (let batch = await batches.read(); batch !== undefined; batch = await batches.read()) {
    signal.throwIfAborted()
    let begins = false
    const end = batch.findIndex(isFailure)
    const parts = mend(end === -1 ? batch : batch.slice(0, end))
    const hasContent = parts.some(isContent)
    if (parts.length > 0) {
      for (const part of parts) {
        if (part.type === 'finish') progress.reported = part
        else if ('delta' in part) progress.characters += part.delta.length
      }
      begins = !progress.started && hasContent
      progress.started ||= begins
      try {
        const backpressure = onParts(parts, origin)
        if (backpressure === 'enough') return
        if (backpressure) {
          progress.heardAt = undefined
          await backpressure
        }
      } catch (error) {
        progress.rejection = { error }
        throw error
      }
    }
    if (end !== -1) {
      const error = failureOf(batch[end])
      if (error instanceof ToolsUnseen) progress.reported = error.finish
      throw error
    }
    if (hasContent) {
      progress.heardAt = clock.monotonic()
      progress.partAt = clock.awake()
      renew()
    } else {
      progress.heardAt ??= clock.monotonic()
      stayAlive()
    }
    // A short answer arrives in one batch. Waiting for a turn of the event loop lets readers get its text before the work at its end is
    // done.
    const turn = begins ? nextTurn() : yieldToEventLoop()
    if (turn) await turn
  }
  signal.throwIfAborted()
  if (progress.reported === undefined) throw new Error(BROKE_OFF)
}

/** Parts without content. Anthropic's `custom` part repeats the first event of its stream. */
const BEFORE_ANSWER = new Set(['stream-start', 'response-metadata', 'ping', 'custom'])

/** True if a part has content of the answer. Some servers send empty pieces to keep the connection open. */
const isContent = (part: LanguageModelV4StreamPart): boolean =>
  !BEFORE_ANSWER.has(part.type) && !('delta' in part && part.delta === '' && part.providerMetadata === undefined)

async function tellWhileSilent ({ clock, onWaiting }: ModelCall, progress: Progress, signal: AbortSignal): Promise<void> {
  progress.heardAt = clock.monotonic()
  for (let wait = WAITING_MS; ;) {
    await clock.sleep(wait, signal)
    const silent = clock.monotonic() - (progress.heardAt ?? clock.monotonic())
    wait = silent < WAITING_MS ? WAITING_MS - silent : WAITING_MS
    if (silent >= WAITING_MS) onWaiting(Math.round(silent))
  }
}
