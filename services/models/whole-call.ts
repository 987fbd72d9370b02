import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4GenerateResult, LanguageModelV4Prompt } from '@ai-sdk/provider'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import type { Role } from '../contracts/model-role.ts'
import { BROKE_OFF, isBrokenEnd } from './providers/check-part.ts'
import type { CallSettings } from './providers/registry.ts'
import type { Meter } from '../usage/index.ts'
import { createAnswerText } from './text-calls/answer-text.ts'
import { tokensIn, tokensOf, toolTokens } from './token-estimate.ts'

interface WholeCall {
  /** Loads the model, with the `settings` that the user chose for its role. */
  load: () => Promise<{ id: string, model: LanguageModelV4, settings?: CallSettings }>
  options: (settings: CallSettings) => Omit<LanguageModelV4CallOptions, 'abortSignal'>
  /** The role in which the call is counted. */
  role: Role
  meter: Meter
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

interface WholeAnswer {
  text: string
  /** True if the answer was cut off at its maximum length. */
  isCut: boolean
}

/** Returns the answer in a text, without thoughts in tags and without tokens of the chat template, as in the answers of runs. */
function answerIn (text: string): string {
  const reader = createAnswerText(undefined)
  let answer = ''
  for (const piece of [...reader.take(text), ...reader.end()]) {
    if (piece.kind === 'text') answer += piece.delta
    if (piece.kind === 'was-thought') answer = ''
  }
  return answer
}

/**
 * Makes one model call without streaming, counts its usage, and returns the text of the answer. Rejects with the model's error, with a
 * timeout after `limitMs` milliseconds, with the signal's reason, or with the budget's error if the budget does not allow the call.
 */
export async function generateWithin (
  { load, options, role, meter, limitMs, signal, clock }: WholeCall
): Promise<WholeAnswer> {
  let called: { id: string, prompt: LanguageModelV4Prompt, tools?: readonly object[] } | undefined
  let result: LanguageModelV4GenerateResult | undefined
  let isCutOff = false
  const begun = clock.awake()
  const ms = () => clock.awake() - begun
  try {
    return await withDeadline({ clock, ms: limitMs, signal }, async (abortSignal) => {
      const { id, model, settings = {} } = await load()
      await meter.admit(id)
      const callOptions = options(settings)
      called = { id, ...callOptions }
      result = await model.doGenerate({ ...callOptions, abortSignal })
      if (isBrokenEnd(result.finishReason)) throw new Error(BROKE_OFF)
      const text = answerIn(result.content.map((part) => part.type === 'text' ? part.text : '').join(''))
      return { text, isCut: result.finishReason.unified === 'length' }
    })
  } catch (error) {
    isCutOff = abortKind(error) !== undefined
    throw error
  } finally {
    // A failed call costs nothing; a call that was cut off might cost something.
    if (called !== undefined && (result !== undefined || isCutOff)) {
      const { id, prompt, tools } = called
      const estimate = () => ({
        inputTokens: prompt.reduce((sum, message) => sum + tokensOf(message), toolTokens(tools)),
        outputTokens: (result?.content ?? []).reduce((sum, part) => sum + (part.type === 'text' ? tokensIn(part.text) : 0), 0)
      })
      await meter.count({ model: id, role, reported: result, estimate, ms: ms(), prompt })
    }
  }
}
