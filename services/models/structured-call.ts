import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Static, TSchema } from '@sinclair/typebox'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'

/** A question to a model that answers with structured data. */
export interface StructuredCall<S extends TSchema> {
  /** `settings` are the user's for the role of the model. */
  load: () => Promise<{ model: LanguageModelV4, settings?: { maxOutputTokens?: number } }>
  /** The name of the response format, by which the offline model recognises the question. */
  name: string
  schema: S
  /** The schema that the model gets, if it differs from the schema that validates the answer. */
  asked?: TSchema
  instructions: string
  text: string
  /** An earlier message of the same author, such as the conversation that the text continues. */
  earlier?: string
  /** Default: MAX_ANSWER_TOKENS. */
  maxAnswerTokens?: number
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

const userMessage = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

/** Characters of an answer that are read; models that ignore its maximum length may send megabytes. */
const MAX_ANSWER_CHARACTERS = 512 * 1024
/** The maximum length of an answer, tokens. */
const MAX_ANSWER_TOKENS = 2_000

/**
 * Asks a model for data that matches a schema. A failure, a timeout after `limitMs` milliseconds or an invalid answer resolves
 * to a `problem` in words; rejects only with the signal's reason.
 */
export async function askStructured<S extends TSchema> ({
  load,
  name,
  schema,
  asked = schema,
  instructions,
  text,
  earlier,
  maxAnswerTokens = MAX_ANSWER_TOKENS,
  limitMs,
  signal,
  clock
}: StructuredCall<S>): Promise<{ value: Static<S> } | { problem: string }> {
  try {
    const { content, Value } = await withDeadline({ clock, ms: limitMs, signal }, async (abortSignal) => {
      const [{ model, settings }, { Value }] = await Promise.all([load(), import('@sinclair/typebox/value')])
      const { content } = await model.doGenerate({
        prompt: [
          { role: 'system', content: instructions },
          ...(earlier === undefined ? [] : [userMessage(earlier)]),
          userMessage(text)
        ],
        responseFormat: { type: 'json', name, schema: asked as never },
        maxOutputTokens: Math.min(maxAnswerTokens, settings?.maxOutputTokens ?? maxAnswerTokens),
        // The answer is short and the caller waits; tokens of reasoning would count against the limit.
        reasoning: 'none',
        abortSignal
      })
      return { content, Value }
    })
    const answer = content.map((part) => part.type === 'text' ? part.text : '').join('')
    if (answer.length > MAX_ANSWER_CHARACTERS) return { problem: 'was too long' }
    const value: unknown = JSON.parse(answer.replace(/^\s*```(?:json)?|```\s*$/g, ''))
    return Value.Check(schema, value) ? { value } : { problem: 'could not be read' }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: abortKind(error) === 'timeout' ? 'took too long' : 'failed' }
  }
}
