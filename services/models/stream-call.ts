import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Failure } from './providers/failures.ts'
import { batchesOf, type PartBatches } from './providers/part-batches.ts'
import { failureOf, isFailure } from './providers/check-part.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'
import type { Meter, Reported } from '../usage/index.ts'
import { tokensOf } from './token-estimate.ts'

/** A model call that failed on every attempt. */
export class ModelFailed extends ServiceError {
  constructor ({ message, code }: Failure) {
    super(code, message)
  }
}

export interface ModelCall {
  /** Ids as `<provider>/<model>`: the preferred model first, then the fallbacks. */
  models: string[]
  /** `origin` marks what the model attaches to its answer, see models/reasoning.ts; by default the id. */
  load(id: string): Promise<{ id: string, origin?: string, model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /** Returns the prompt for a model; called again with `tooLong` if the provider refuses the length. Undefined: cannot be shortened. */
  prompt(id: string, tooLong: boolean): Promise<LanguageModelV4Prompt | undefined>
  options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'prompt'>
  signal: AbortSignal
  clock: Clock
  meter: Meter
  /**
   * Called with the parts as they arrive, at least one at a time, and with the origin of the answer. A returned promise pauses
   * the model stream.
   */
  onParts(parts: readonly LanguageModelV4StreamPart[], origin: string): void | Promise<void>
}

/** The maximum time until the first part and between parts, milliseconds. */
const SILENCE_MS = 60_000
const RETRIES = 3
/** The wait before the first retry, milliseconds; it doubles with each retry. */
const RETRY_MS = 1_000
/** Parts that carry nothing of the answer. Anthropic's `custom` part repeats the first event of its stream. */
const BEFORE_ANSWER = new Set(['stream-start', 'response-metadata', 'ping', 'custom'])
const TOO_LONG = 'ERR_CONTEXT_TOO_LONG'
/** For the estimate of an answer that was cut off. */
const CHARACTERS_PER_TOKEN = 4
/** If a provider requests a longer wait, the call is not retried on this model. Milliseconds. */
const MAX_WAIT_MS = 60_000

/**
 * Streams one model call. Before the first part, a failed call is retried (RETRIES times, with the wait of `retry-after`; once
 * with a shorter prompt), then sent to the next model. After the first part, a failure is final. Rejects with ModelFailed, with
 * the error that `onParts` threw, with the signal's reason, or with the budget's error when a call may not be made.
 */
export async function streamModel (call: ModelCall): Promise<void> {
  let failure: Failure = { message: 'No model is configured.', code: 'ERR_NO_MODEL', retryable: false }
  for (const id of call.models) {
    let isShortened = false
    let prompt: LanguageModelV4Prompt | undefined
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      const progress: Progress = { begunAt: call.clock.awake(), started: false, characters: 0 }
      await call.meter.admit(id)
      try {
        const { model, origin = id } = await call.load(id)
        prompt ??= await call.prompt(id, isShortened)
        if (prompt === undefined) break
        return await attemptOnce(origin, model, prompt, call, progress)
      } catch (error) {
        progress.isCutOff = abortKind(error) !== undefined
        if (call.signal.aborted) throw call.signal.reason
        if (progress.rejection) throw progress.rejection.error
        failure = call.describe(error, id)
        call.meter.failed({ model: id, role: 'capable', ms: call.clock.awake() - progress.begunAt, code: failure.code })
        if (progress.started) throw new ModelFailed(failure)
        if (failure.code === TOO_LONG && !isShortened) {
          isShortened = true
          prompt = undefined
          continue
        }
        const wait = failure.retryAfterMs ?? RETRY_MS * 2 ** attempt
        if (!failure.retryable || wait > MAX_WAIT_MS || attempt === RETRIES) break
        await call.clock.sleep(wait, call.signal)
      } finally {
        await countAttempt(call, id, prompt, progress)
      }
    }
  }
  throw new ModelFailed(failure)
}

interface Progress {
  /** When the attempt began; `clock.awake()`. */
  begunAt: number
  /** Whether a part of the answer has arrived. */
  started: boolean
  /** The length of the answer so far. */
  characters: number
  /** What the provider says that the call used, at its end. */
  reported?: Reported
  /** Whether the call was aborted, or given up because the model said nothing. */
  isCutOff?: boolean
  /** The error that the caller's `onParts` threw, which is not a failure of the model. */
  rejection?: { error: unknown }
}

/** Counts an attempt that the provider has answered, at least in part, or that was cut off: its prompt may cost something. */
async function countAttempt ({ meter, clock }: ModelCall, model: string, prompt: LanguageModelV4Prompt | undefined, progress: Progress) {
  const { begunAt, started, reported, isCutOff = false, characters } = progress
  if (!started && reported === undefined && (!isCutOff || prompt === undefined)) return
  const estimate = () => ({
    inputTokens: (prompt ?? []).reduce((sum, message) => sum + tokensOf(message), 0),
    outputTokens: Math.ceil(characters / CHARACTERS_PER_TOKEN)
  })
  await meter.count({ model, role: 'capable', reported, estimate, ms: clock.awake() - begunAt })
}

async function attemptOnce (
  origin: string,
  model: LanguageModelV4,
  prompt: LanguageModelV4Prompt,
  { options, signal, clock, onParts }: ModelCall,
  progress: Progress
) {
  const message = `The model sent nothing for ${SILENCE_MS / 1000} s.`
  await withDeadline({ clock, ms: SILENCE_MS, signal, message }, async (abortSignal, renew) => {
    const batches = batchesOf(await model.doStream({ ...options, prompt, abortSignal }))
    const cancel = () => batches.cancel(abortSignal.reason)
    abortSignal.addEventListener('abort', cancel)
    try {
      await readAll(batches, abortSignal, renew)
    } finally {
      abortSignal.removeEventListener('abort', cancel)
      batches.cancel(undefined)
    }
  })

  async function readAll (batches: PartBatches, abortSignal: AbortSignal, renew: () => void) {
    for (;;) {
      const batch = await batches.read()
      abortSignal.throwIfAborted()
      if (batch === undefined) {
        if (progress.reported === undefined) throw new Error("The model's answer broke off before it was finished.")
        return
      }
      let begins = false
      const end = batch.findIndex(isFailure)
      const parts = end === -1 ? batch : batch.slice(0, end)
      if (parts.length > 0) {
        for (const part of parts) {
          if (part.type === 'finish') progress.reported = part
          else if ('delta' in part) progress.characters += part.delta.length
        }
        begins = !progress.started && parts.some(({ type }) => !BEFORE_ANSWER.has(type))
        progress.started ||= begins
        try {
          const backpressure = onParts(parts, origin)
          if (backpressure) await backpressure
        } catch (error) {
          progress.rejection = { error }
          throw error
        }
      }
      if (end !== -1) throw failureOf(batch[end])
      renew()
      // A short answer arrives as a whole: readers get its text before the work of its end is done.
      const turn = begins ? nextTurn() : yieldToEventLoop()
      if (turn) await turn
    }
  }
}
