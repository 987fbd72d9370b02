import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { ProviderTested } from '../../../schemas/providers.ts'
import type { Clock } from '../../lib/clock.ts'
import { withDeadline } from '../../lib/deadline.ts'
import { failureOf, isFailure } from './check-part.ts'
import { isBudgetError, type Meter, type Reported } from '../../usage/index.ts'
import type { Failure } from './describe-failure.ts'

const LIMIT_MS = 15_000
/** The smallest limit that every provider accepts. Tokens of the model's reasoning count too. */
const TOKENS = 16

interface Parts {
  id: string
  load(id: string): Promise<{ model: LanguageModelV4 }>
  describe(error: unknown, id: string): Failure
  /** What the provider said, if it said something. */
  words(error: unknown): string | undefined
  clock: Clock
  meter: Meter
  signal: AbortSignal
}

/** Makes one small call, streamed like the calls of runs, and returns its result and latency. Never rejects. */
export async function probeModel ({ id, load, describe, words, clock, meter, signal }: Parts): Promise<ProviderTested> {
  const started = clock.monotonic()
  let reported: Reported | undefined
  const latencyMs = () => Math.round(clock.monotonic() - started)
  try {
    await withDeadline({ clock, ms: LIMIT_MS, signal }, async (abortSignal) => {
      const { model } = await load(id)
      await meter.admit(id)
      const { stream } = await model.doStream({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Reply with the word OK.' }] }],
        maxOutputTokens: TOKENS,
        abortSignal
      })
      for await (const part of stream) {
        if (isFailure(part)) throw failureOf(part)
        if (part.type !== 'finish') continue
        reported = part
        return
      }
      throw new Error('The answer broke off before it was finished.')
    })
    const answered = { ok: true, model: id, latencyMs: latencyMs() }
    await meter.count({ model: id, role: 'capable', reported, estimate: () => ({ inputTokens: 0, outputTokens: 0 }), ms: latencyMs() })
    return answered
  } catch (error) {
    const failed = { ok: false, model: id, latencyMs: latencyMs() }
    if (isBudgetError(error)) return { ...failed, error: error.message, code: error.code }
    const { message, code } = describe(error, id)
    const said = words(error)
    return { ...failed, error: message, code, ...said !== undefined && { said } }
  }
}
