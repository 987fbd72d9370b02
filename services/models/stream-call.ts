import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { ServiceError } from '../lib/service-error.ts'
import type { Failure } from '../providers/describe-failure.ts'
import { checkPart } from './check-part.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'

/** A model call that failed on every attempt. */
export class ModelFailed extends ServiceError {
  constructor ({ message, code }: Failure) {
    super(code, message)
  }
}

export interface ModelCall {
  /** Ids as `<provider>/<model>`: the preferred model first, then the fallbacks. */
  models: string[]
  load(id: string): Promise<{ id: string, model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /** Returns the prompt for a model; called again with `tooLong` if the provider refuses the length. Undefined: cannot be shortened. */
  prompt(id: string, tooLong: boolean): Promise<LanguageModelV4Prompt | undefined>
  options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'prompt'>
  signal: AbortSignal
  clock: Clock
  /** Called with every part as it arrives, and with the id of the answering model. A returned promise pauses the model stream. */
  onPart(part: LanguageModelV4StreamPart, id: string): void | Promise<void>
}

/** The maximum time until the first part and between parts, milliseconds. */
const SILENCE_MS = 60_000
const RETRIES = 3
/** The wait before the first retry, milliseconds; it doubles with each retry. */
const RETRY_MS = 1_000
const TOO_LONG = 'ERR_CONTEXT_TOO_LONG'
/** If a provider requests a longer wait, the call is not retried on this model. Milliseconds. */
const MAX_WAIT_MS = 60_000

/**
 * Streams one model call. Before the first part, a failed call is retried (RETRIES times, with the wait of `retry-after`; once
 * with a shorter prompt), then sent to the next model. After the first part, a failure is final. Rejects with ModelFailed, with
 * the error that `onPart` threw, or with the signal's reason.
 */
export async function streamModel (call: ModelCall): Promise<void> {
  let failure: Failure = { message: 'No model is configured.', code: 'ERR_NO_MODEL', retryable: false }
  for (const id of call.models) {
    let isShortened = false
    let prompt: LanguageModelV4Prompt | undefined
    for (let attempt = 0; attempt <= RETRIES; attempt++) {
      const progress: Progress = { started: false }
      try {
        const { model } = await call.load(id)
        prompt ??= await call.prompt(id, isShortened)
        if (prompt === undefined) break
        return await attemptOnce(id, model, prompt, call, progress)
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason
        if (progress.rejection) throw progress.rejection.error
        failure = call.describe(error, id)
        if (progress.started) throw new ModelFailed(failure)
        if (failure.code === TOO_LONG && !isShortened) {
          isShortened = true
          prompt = undefined
          continue
        }
        const wait = failure.retryAfterMs ?? RETRY_MS * 2 ** attempt
        if (!failure.retryable || wait > MAX_WAIT_MS || attempt === RETRIES) break
        await call.clock.sleep(wait, call.signal)
      }
    }
  }
  throw new ModelFailed(failure)
}

interface Progress {
  /** Whether a part of the answer has arrived. */
  started: boolean
  /** The error that the caller's `onPart` threw, which is not a failure of the model. */
  rejection?: { error: unknown }
}

async function attemptOnce (
  id: string,
  model: LanguageModelV4,
  prompt: LanguageModelV4Prompt,
  { options, signal, clock, onPart }: ModelCall,
  progress: Progress
) {
  const silence = new AbortController()
  const done = new AbortController()
  const either = AbortSignal.any([signal, silence.signal])
  let lastPartAt = clock.awake()
  watch().catch(() => {})

  try {
    const { stream } = await orAbort(model.doStream({ ...options, prompt, abortSignal: either }), either)
    const reader = stream.getReader()
    const cancel = () => {
      reader.cancel(either.reason).catch(() => {})
    }
    either.addEventListener('abort', cancel)
    try {
      await readAll(reader)
    } finally {
      either.removeEventListener('abort', cancel)
      reader.cancel().catch(() => {})
    }
  } finally {
    done.abort()
  }

  /** Aborts the attempt when no part has arrived for SILENCE_MS. */
  async function watch () {
    for (;;) {
      const left = lastPartAt + SILENCE_MS - clock.awake()
      if (left <= 0) return silence.abort(new Aborted('timeout', `The model sent nothing for ${SILENCE_MS / 1000} s.`))
      await clock.timeout(left, done.signal)
    }
  }

  async function readAll (reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>) {
    for (let finished = false; ;) {
      const { done: ended, value: part } = await reader.read()
      either.throwIfAborted()
      if (ended) {
        if (!finished) throw new Error("The model's answer broke off before it was finished.")
        return
      }
      checkPart(part)
      if (part.type === 'error') throw part.error
      if (part.type === 'finish') finished = true
      if (part.type !== 'stream-start' && part.type !== 'response-metadata' && part.type !== 'ping') progress.started = true
      try {
        const backpressure = onPart(part, id)
        if (backpressure) await backpressure
      } catch (error) {
        progress.rejection = { error }
        throw error
      }
      lastPartAt = clock.awake()
      const turn = yieldToEventLoop()
      if (turn) await turn
    }
  }
}

/** Resolves with the promise, or rejects with the signal's reason if the signal aborts first. A late rejection is handled. */
export async function orAbort<T> (promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  // The promise may depend on the same signal and reject as well, when nothing awaits it any more.
  Promise.resolve(promise).catch(() => {})
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    return await Promise.race([aborted.promise, promise])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
