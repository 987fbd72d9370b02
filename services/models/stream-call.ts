import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Prompt, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import type { Failure } from '../providers/describe-failure.ts'
import { checkPart } from './check-part.ts'
import { yieldToEventLoop } from '../lib/yield-to-event-loop.ts'

/** A model call that failed for good. */
export class ModelFailed extends Error {
  readonly code: string
  readonly statusCode = 502
  constructor ({ message, code }: Failure) {
    super(message)
    this.code = code
  }
}

export interface ModelCall {
  /** `<provider>/<model>`: the one wanted first, then those to fall back to. */
  models: string[]
  load(id: string): Promise<{ id: string, model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /** What a model is told. Asked once more when its provider finds that `tooLong`; undefined: it cannot be made shorter. */
  prompt(id: string, tooLong: boolean): Promise<LanguageModelV4Prompt | undefined>
  options: Omit<LanguageModelV4CallOptions, 'abortSignal' | 'prompt'>
  signal: AbortSignal
  clock: Clock
  /** Told every part as it comes, at once, with the id of the model that answers; a promise it returns holds the model back. */
  onPart(part: LanguageModelV4StreamPart, id: string): void | Promise<void>
}

/** Milliseconds until the first part, and of silence between parts. */
const SILENCE_MS = 60_000
const RETRIES = 3
const RETRY_MS = 1_000
const TOO_LONG = 'ERR_CONTEXT_TOO_LONG'
/** A provider that asks for a longer wait has refused. */
const LONGEST_WAIT_MS = 60_000

/**
 * Streams one model call. Until its first part it is tried again (RETRIES times, `retry-after` honoured; once with a
 * shorter prompt), then on the next model; after the first part a failure is final. Rejects with ModelFailed, or with
 * the signal's reason.
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
        if (progress.refused) throw progress.refused.error
        failure = call.describe(error, id)
        if (progress.started) throw new ModelFailed(failure)
        if (failure.code === TOO_LONG && !isShortened) {
          isShortened = true
          prompt = undefined
          continue
        }
        const wait = failure.retryAfterMs ?? RETRY_MS * 2 ** attempt
        if (!failure.retryable || wait > LONGEST_WAIT_MS || attempt === RETRIES) break
        await call.clock.sleep(wait, call.signal)
      }
    }
  }
  throw new ModelFailed(failure)
}

interface Progress {
  /** A part of the answer has come. */
  started: boolean
  /** The caller would not take a part: no fault of the model. */
  refused?: { error: unknown }
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
  let heardAt = clock.awake()
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

  /** Aborts the attempt when nothing was heard for SILENCE_MS. */
  async function watch () {
    for (;;) {
      const left = heardAt + SILENCE_MS - clock.awake()
      if (left <= 0) return silence.abort(new Aborted('timeout', `The model said nothing for ${SILENCE_MS / 1000} s.`))
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
        const held = onPart(part, id)
        if (held) await held
      } catch (error) {
        progress.refused = { error }
        throw error
      }
      heardAt = clock.awake()
      const over = yieldToEventLoop()
      if (over) await over
    }
  }
}

/** A promise's value, or a rejection with the signal's reason when that comes first. The promise is never left unheard. */
export async function orAbort<T> (promise: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  // Whoever began it may have given it the same signal: its rejection then comes as well, and nobody waits for it.
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
