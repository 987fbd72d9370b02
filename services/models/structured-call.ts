import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Static, TSchema } from '@sinclair/typebox'
import { Aborted } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { orAbort } from './stream-call.ts'

/** A question to a model whose answer is data. */
export interface StructuredCall<S extends TSchema> {
  load: () => Promise<{ model: LanguageModelV4 }>
  /** Tells the model, and the offline one, what is asked for. */
  name: string
  schema: S
  /** The schema as the model is told it, where that differs from what is taken. */
  asked?: TSchema
  instructions: string
  text: string
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

/** Tokens; the answers are short. */
const LONGEST_ANSWER = 2_000

/**
 * Asks for data that fits a schema. Never fails but by the signal: what cannot be had in time, or makes no sense, is
 * a `problem` in words.
 */
export async function askStructured<S extends TSchema> (
  { load, name, schema, asked = schema, instructions, text, limitMs, signal, clock }: StructuredCall<S>
): Promise<{ value: Static<S> } | { problem: string }> {
  const overdue = new AbortController()
  const done = new AbortController()
  clock.timeout(limitMs, done.signal).then(() => overdue.abort(new Aborted('timeout')), () => {})
  const either = AbortSignal.any([signal, overdue.signal])
  try {
    const [{ model }, { Value }] = await Promise.all([load(), import('@sinclair/typebox/value')])
    const { content } = await orAbort(
      model.doGenerate({
        prompt: [{ role: 'system', content: instructions }, { role: 'user', content: [{ type: 'text', text }] }],
        responseFormat: { type: 'json', name, schema: asked as never },
        maxOutputTokens: LONGEST_ANSWER,
        abortSignal: either
      }),
      either
    )
    const answer = content.map((part) => part.type === 'text' ? part.text : '').join('')
    const value: unknown = JSON.parse(answer.replace(/^\s*```(?:json)?|```\s*$/g, ''))
    return Value.Check(schema, value) ? { value } : { problem: 'could not be read' }
  } catch {
    signal.throwIfAborted()
    return { problem: overdue.signal.aborted ? 'took too long' : 'failed' }
  } finally {
    done.abort()
  }
}
