import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { TSchema } from '@sinclair/typebox'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import type { Role } from '../contracts/model-role.ts'
import type { CallSettings } from './providers/registry.ts'
import { type BudgetError, isBudgetError, type Meter } from '../usage/index.ts'
import { generateWithin } from './whole-call.ts'

/** A question to a model that answers with structured data. */
interface StructuredQuestion<V> {
  /** The name of the response format, by which the offline model recognises the question. */
  name: string
  /** The schema that the model gets. */
  asked: TSchema
  /** Parses an answer to the question about `text`. Returns undefined if the answer cannot be parsed at all. */
  read: (answer: string, text: string) => V | undefined
  instructions: string
  text: string
  /** An earlier message of the author of `text`, for example the conversation that the text continues. */
  earlier?: string
  /** The maximum length of the answer, in tokens. */
  mostTokens: number
  /**
   * Additional tokens for a model that thinks although it is asked not to. If the answer was cut off before anything could be parsed, the
   * model is asked once more with these tokens added to `mostTokens`. If undefined, it is not asked again.
   */
  thoughtTokens?: number
}

/** Asks the model of role `fast`. `More` are further fields of the question. */
export type Ask<More = object> = <V>(question: StructuredQuestion<V> & More) => Promise<Answer<V> | NoAnswer>

/** `isCut` is true if the answer reached its maximum length, so that its end is missing. */
interface Answer<V> {
  value: V
  isCut?: boolean
}

interface StructuredCall<V> extends StructuredQuestion<V> {
  /** Loads the model, with the `settings` that the user chose for its role. */
  load: () => Promise<{ id: string, model: LanguageModelV4, settings?: CallSettings }>
  /** The role in which the call is counted; `fast` by default. */
  role?: Role
  meter: Meter
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

const userMessage = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

/** The most characters of an answer that is parsed. Models that ignore its maximum length might send megabytes. */
const MAX_ANSWER_CHARACTERS = 512 * 1024

/** The reason why there is no answer: `problem` says it in words, and `refused` is the error of a budget that forbids the call. */
export interface NoAnswer {
  problem: string
  /** `unavailable` if the provider refused the call or could not be reached. */
  kind?: 'budget' | 'unavailable' | 'slow' | 'unreadable'
  refused?: BudgetError
  /** True if the answer reached its maximum length before anything could be read. */
  isCut?: boolean
}

/**
 * Asks a model for data that matches a schema, for the service itself. (Structured answers of runs: services/runs/answers/.) A failure, a
 * timeout after `limitMs` milliseconds, an unreadable answer, or a budget that forbids the call resolves to NoAnswer. Rejects only with the
 * signal's reason.
 */
export async function askStructured<V> ({ thoughtTokens, ...call }: StructuredCall<V>): Promise<Answer<V> | NoAnswer> {
  const answer = await askOnce(call)
  const isCutInThoughts = 'problem' in answer && answer.kind === 'unreadable' && answer.isCut
  return isCutInThoughts && thoughtTokens !== undefined ? askOnce({ ...call, mostTokens: call.mostTokens + thoughtTokens }) : answer
}

async function askOnce<V> (
  { load, role = 'fast', meter, name, asked, read, instructions, text, earlier, mostTokens, limitMs, signal, clock }: StructuredCall<V>
): Promise<Answer<V> | NoAnswer> {
  try {
    const { text: answer, isCut } = await generateWithin({
      load,
      options: (settings) => ({
        prompt: [
          { role: 'system', content: instructions },
          ...(earlier === undefined ? [] : [userMessage(earlier)]),
          userMessage(text)
        ],
        responseFormat: { type: 'json', name, schema: asked as never },
        maxOutputTokens: Math.min(mostTokens, settings?.maxOutputTokens ?? mostTokens),
        // The answer is short and the caller waits; tokens of reasoning would count against the limit.
        reasoning: 'none'
      }),
      role,
      meter,
      limitMs,
      signal,
      clock
    })
    if (answer.length > MAX_ANSWER_CHARACTERS) return { problem: 'was too long', kind: 'unreadable' }
    const value = read(answer, text)
    return value === undefined ? { problem: 'could not be read', kind: 'unreadable', isCut } : { value, ...isCut && { isCut } }
  } catch (error) {
    signal.throwIfAborted()
    if (isBudgetError(error)) return { problem: 'was not made, because a budget is used up', kind: 'budget', refused: error }
    return abortKind(error) === 'timeout' ? { problem: 'took too long', kind: 'slow' } : { problem: 'failed', kind: 'unavailable' }
  }
}
