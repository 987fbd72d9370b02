import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { looseValuesIn } from '../../lib/nearly-json.ts'
import { isObject } from '../../lib/json.ts'
import { foldAdvice } from '../../lib/fillers.ts'
import { type Advice, readField } from './read-advice.ts'

interface QuestionParts<S extends TObject> {
  /** The name of the response format, by which the offline model recognises the question. */
  name: string
  /** What the model is to do. */
  task: string
  /** The schema of the answer. The description of each property says what the property holds, and when it is left empty. */
  asked: S
  /**
   * The maximum length of an answer, in tokens. With a higher limit, a small model would fill the answer with repetition, and the user's
   * next message might have to wait for that answer.
   */
  mostTokens: number
  /** The answer of a model that has nothing to say. */
  empty: Static<S>
  /** An example answer with a value in every field, about a subject that no user is likely to ask about. */
  full: Static<S>
}

/** A question that the service asks a helper model. */
export interface HelperQuestion<S extends TObject> {
  name: string
  asked: S
  mostTokens: number
  empty: Static<S>
  full: Static<S>
  instructions: string
  /**
   * Parses an answer field by field. `text` is the text that the question is about. Fields that cannot be parsed are absent. Returns
   * undefined for an answer without JSON.
   */
  read: (answer: string, text: string) => Advice<Static<S>> | undefined
}

/**
 * Defines a question to a helper model. The instructions describe every field, because some servers do not show the schema to the model.
 * The answer is advice: callers must not rely on any field.
 */
export function defineQuestion<S extends TObject> ({ name, task, asked, mostTokens, empty, full }: QuestionParts<S>): HelperQuestion<S> {
  const fields = fieldsOf(asked)
  const instructions = [
    task,
    `Fields of the answer:\n${fields.map(({ path, about }) => `- ${path}: ${about}`).join('\n')}`,
    `With nothing to say: ${JSON.stringify(empty)}\nAn example, about something else: ${JSON.stringify(full)}`,
    'Answer with the JSON object only.'
  ].join('\n\n')
  const own = new Set([...fields.flatMap(({ path, about }) => [path.split('.').at(-1)!, about]), ...textsOf(full)].map(foldAdvice))
  const words = { instructions: foldAdvice(instructions), own }
  return {
    name,
    // The instructions describe each field already.
    asked: withoutDescriptions(asked) as S,
    mostTokens,
    empty,
    full,
    instructions,
    read (answer, text) {
      const values = looseValuesIn(answer)
      if (values.length === 0) return undefined
      for (const value of values) {
        const read = readField(asked, wrapped(asked, value), { ...words, text })
        if (read !== undefined) return read as Advice<Static<S>>
      }
      return {} as Advice<Static<S>>
    }
  }
}

/**
 * Returns `value`. If the only property of the schema is a list, and `value` is a list, returns an object with `value` as this property.
 */
function wrapped ({ properties }: TObject, value: unknown): unknown {
  const [[name, only], ...more] = Object.entries(properties)
  return Array.isArray(value) && more.length === 0 && only.type === 'array' ? { [name]: value } : value
}

function withoutDescriptions (schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutDescriptions)
  if (!isObject(schema)) return schema
  const { description, properties, ...rest } = schema
  return {
    ...Object.fromEntries(Object.entries(rest).map(([name, each]) => [name, withoutDescriptions(each)])),
    ...(isObject(properties) && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, withoutDescriptions(each)]))
    })
  }
}

interface Field {
  /** The path of the field, such as claims[].quote. */
  path: string
  about: string
}

/** Returns all fields of a schema with their descriptions. Throws a TypeError for a field without a description. */
function fieldsOf ({ properties }: TObject, before = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]: [string, TSchema]) => {
    const inner = schema.type === 'array' ? schema.items : schema
    const path = `${before}${name}${schema.type === 'array' ? '[]' : ''}`
    const about = schema.description ?? inner.description
    if (about === undefined) throw new TypeError(`The field ${path} of a question has no description.`)
    return [{ path, about }, ...inner.type === 'object' ? fieldsOf(inner, `${path}.`) : []]
  })
}

/** Returns all strings in an example. */
function textsOf (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) || isObject(value) ? Object.values(value).flatMap(textsOf) : []
}
