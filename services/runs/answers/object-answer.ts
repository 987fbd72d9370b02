import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import { isObject } from '../../lib/json.ts'
import type { ObjectOption } from '../../../schemas/run-options.ts'
import { ANSWER_OPENING, ANSWER_TOOL } from '../../contracts/model-texts.ts'
import { objectsIn, readNearlyJson } from '../../lib/nearly-json.ts'
import { mendInput, type Validation } from '../../tools/index.ts'
import { withOriginalNames } from '../../models/index.ts'
import type { CheckObject, Problem, Schema } from './compile-object-schema.ts'
import { wireSchema, WRAPPER, type WireSchema } from './wire-schema.ts'

const DEFAULT_RETRIES = 2
/** The most characters of the schema in the description of the tool and in the system prompt. */
const SCHEMA_SHOWN = 16_000

/** An answer that fits the schema, or a value that does not (`given`) and its problems. */
export type Reading = { object: Record<string, unknown> } | { problems: Problem[], given: unknown }

export type ObjectAnswer = Awaited<ReturnType<typeof openObjectAnswer>>

/** Prepares the structured answer that a run must give. The schema compiler is loaded at its first use. Throws BadObjectSchema (400). */
export async function openObjectAnswer ({ schema, retries = DEFAULT_RETRIES }: ObjectOption) {
  const { compileObjectSchema } = await import('./compile-object-schema.ts')
  const check = compileObjectSchema(schema)
  const wire = wireSchema(schema)
  const closed = closeObjects(wire.schema)
  const inFull = JSON.stringify(schema)
  const told = inFull.length > SCHEMA_SHOWN ? '' : ` The schema in full: ${inFull}`

  function read (answered: unknown): Reading {
    const given = withOriginalNames(wire.schema, answered)
    const reading = readWrapped(given, wire, check)
    const mended = 'object' in reading ? given : mendInput(wire.schema, given)
    const again = mended === given ? reading : readWrapped(mended, wire, check)
    return 'object' in again ? again : reading
  }
  /** Returns the last object in a text that fits the schema. */
  const findInText = (text: string): Reading | undefined => objectsIn(text).map(read).findLast((reading) => 'object' in reading)

  return {
    retries,
    tool: {
      type: 'function',
      name: ANSWER_TOOL,
      description: `${ANSWER_OPENING}, as data. Call it last, when the work is done and all other calls have their results.` +
        `${wire.isWrapped ? ` The object is the property "${WRAPPER}".` : ''} The object must fit the schema exactly.${
          wire.isExact ? '' : told
        }`,
      inputSchema: wire.schema
    } satisfies LanguageModelV4FunctionTool,

    /**
     * The response format for runs without tools. It contains the schema only if the strict modes of providers accept that schema: they
     * refuse, for example, optional properties.
     */
    responseFormat: {
      type: 'json',
      name: ANSWER_TOOL,
      ...(wire.isExact && !wire.isWrapped && isStrict(closed) && { schema: closed })
    } satisfies LanguageModelV4CallOptions['responseFormat'],

    /** Returns the part of the system prompt about the answer. */
    instructions: (hasTools: boolean): string =>
      hasTools
        ? `The application needs the answer of this run as data: end the work with a call of the tool ${ANSWER_TOOL}, alone in its step. ` +
          'A run without that call has failed.'
        : `The application needs the answer of this run as data: answer with one JSON object and nothing else.${told}`,

    /** Checks the input of the model's call of the tool `answer`. The error text is for the model. */
    validateCall (_name: string, input: unknown): Validation {
      const reading = read(input)
      return 'object' in reading
        ? { ok: true, input }
        : { ok: false, error: `The object does not fit: ${inWords(reading.problems)}. Call ${ANSWER_TOOL} again with the whole object.` }
    },

    read,

    findInText,

    /** Reads the answer of a run that has no tools. */
    readText (text: string): Reading {
      const found = findInText(text)
      if (found !== undefined) return found
      const [object = readNearlyJson(text)?.value] = objectsIn(text).slice(-1)
      return object !== undefined ? read(object) : { problems: [{ path: '/', message: 'the answer is not JSON' }], given: text }
    }
  }
}

export const inWords = (problems: Problem[]): string => problems.map(({ message }) => message).join('; ')

/** Reads an answer with or without the wrapper property: models that have seen the original schema sometimes leave the wrapper out. */
function readWrapped (given: unknown, { isWrapped }: WireSchema, check: CheckObject): Reading {
  const isInside = isWrapped && isObject(given) && WRAPPER in given
  const inner = isInside ? given[WRAPPER] : given
  const problems = check(inner)
  if (problems === undefined) return { object: inner as Record<string, unknown> }
  return isInside && check(given) === undefined ? { object: given } : { problems, given: inner }
}

/**
 * Returns the schema with `additionalProperties: false` in each object that does not state it. Strict modes require this, and weak models
 * would add properties without end.
 */
function closeObjects (schema: Schema): Schema {
  const { properties, additionalProperties, items, anyOf } = schema
  return {
    ...schema,
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, closeObjects(each as Schema)])),
      ...(additionalProperties === undefined && Object.keys(properties).length > 0 && { additionalProperties: false })
    }),
    ...(isObject(items) && { items: closeObjects(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map((each) => closeObjects(each)) })
  }
}

/** Whether the strict modes of providers accept a schema: every object lists all its properties as required and allows no others. */
function isStrict (schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isObject(schema)) return true
  const { type, properties = {}, required, additionalProperties } = schema
  const names = Object.keys(properties as object)
  const isClosed = type !== 'object' || (additionalProperties === false && names.length === (Array.isArray(required) ? required.length : 0))
  return isClosed && Object.values(properties as object).every(isStrict) && isStrict(schema.items) && isStrict(schema.anyOf)
}
