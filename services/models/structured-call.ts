import type { LanguageModelV4 } from '@ai-sdk/provider'
import type { Static, TSchema } from '@sinclair/typebox'
import { readJson } from '../lib/json.ts'
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
  /** Reads an answer about `text`; undefined when it cannot be read at all. */
  read: (answer: string, text: string) => V | undefined | Promise<V | undefined>
  instructions: string
  text: string
  /** An earlier message of the same author, such as the conversation that the text continues. */
  earlier?: string
  /** Default: MAX_ANSWER_TOKENS. */
  maxAnswerTokens?: number
}

/** Asks the model of role `fast`; `More` is what the question says beside its words. */
export type Ask<More = object> = <V>(question: StructuredQuestion<V> & More) => Promise<{ value: V } | NoAnswer>

interface StructuredCall<V> extends StructuredQuestion<V> {
  /** `settings` are the user's for the role of the model. */
  load: () => Promise<{ id: string, model: LanguageModelV4, settings?: CallSettings }>
  /** The role in which the call is counted; `fast` by default. */
  role?: Role
  meter: Meter
  limitMs: number
  signal: AbortSignal
  clock: Clock
}

/** Returns the value of a JSON text, or of the object in a text that says more. Throws a SyntaxError when there is none. */
function jsonIn (text: string): unknown {
  let value: unknown = readJson(text.replace(/^\s*```(?:json)?|```\s*$/g, ''))
  const [first, last] = [text.indexOf('{'), text.lastIndexOf('}')]
  const end = Math.min(last, first + MAX_PROSE)
  // Words before the object may hold a brace of their own.
  for (let from = first; value === undefined && from !== -1 && from < end; from = text.indexOf('{', from + 1)) {
    value = readJson(text.slice(from, last + 1))
  }
  if (value === undefined) throw new SyntaxError('no JSON')
  return value
}

/** Returns a reader of answers that count only when all of them matches a schema. */
export function readWhole<S extends TSchema> (schema: S): (answer: string) => Promise<Static<S> | undefined> {
  return async (answer) => {
    const { Value } = await import('@sinclair/typebox/value')
    const value = withoutNulls(schema, jsonIn(answer))
    return Value.Check(schema, value) ? value : undefined
  }
}

/** Returns an answer with '' for null where a text is due, and without properties that hold nothing and may be absent. */
function withoutNulls (schema: TSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || schema.type !== 'object') return value
  return Object.fromEntries(Object.entries(value).flatMap(([name, each]): Array<[string, unknown]> => {
    const rules: TSchema | undefined = schema.properties?.[name]
    const isNone = each === null || (each === '' && rules?.type === 'object')
    if (!isNone || rules === undefined) return [[name, rules === undefined ? each : withoutNulls(rules, each)]]
    if (rules.type === 'string') return [[name, '']]
    return schema.required?.includes(name) ? [[name, null]] : []
  }))
}

const userMessage = (text: string) => ({ role: 'user' as const, content: [{ type: 'text' as const, text }] })

/** Characters of an answer that are read; models that ignore its maximum length may send megabytes. */
const MAX_ANSWER_CHARACTERS = 512 * 1024
/** Characters of prose in which the beginning of an object is looked for. */
const MAX_PROSE = 4_000
/** The maximum length of an answer, tokens. */
const MAX_ANSWER_TOKENS = 2_000

/** An answer that is missing: why, in words, and the error when a budget forbids the call. */
export interface NoAnswer {
  problem: string
  /** `unavailable` if the provider refused the call or could not be reached. */
  kind?: 'budget' | 'unavailable' | 'slow' | 'unreadable'
  refused?: BudgetError
}

/**
 * Asks a model for data that matches a schema, for the service itself (the answers of runs: services/runs/answers/). A failure, a
 * timeout after `limitMs` milliseconds or an invalid answer resolves to a `problem` in words, as does a call that a budget forbids
 * (`refused`); rejects only with the signal's reason.
 */
export async function askStructured<V> ({
  load,
  role = 'fast',
  meter,
  name,
  asked,
  read,
  instructions,
  text,
  earlier,
  maxAnswerTokens = MAX_ANSWER_TOKENS,
  limitMs,
  signal,
  clock
}: StructuredCall<V>): Promise<{ value: V } | NoAnswer> {
  try {
    const answer = await generateWithin({
      load,
      options: (settings) => ({
        prompt: [
          { role: 'system', content: instructions },
          ...(earlier === undefined ? [] : [userMessage(earlier)]),
          userMessage(text)
        ],
        responseFormat: { type: 'json', name, schema: asked as never },
        maxOutputTokens: Math.min(maxAnswerTokens, settings?.maxOutputTokens ?? maxAnswerTokens),
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
    const value = await read(answer, text)
    return value === undefined ? { problem: 'could not be read', kind: 'unreadable' } : { value }
  } catch (error) {
    signal.throwIfAborted()
    if (isBudgetError(error)) return { problem: 'was not made, because a budget is used up', kind: 'budget', refused: error }
    return abortKind(error) === 'timeout' ? { problem: 'took too long', kind: 'slow' } : { problem: 'failed', kind: 'unavailable' }
  }
}
