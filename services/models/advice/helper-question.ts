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
  /** The schema that servers get. Each property says in its description what it holds, and when it is left empty. */
  asked: S
  /** The length of a whole answer, tokens. A small model fills more with repetition, and the user's next message may wait for it. */
  mostTokens: number
  /** The answer of a model that has nothing to say. */
  empty: Static<S>
  /** An answer with something in every field, about something that no user is likely to ask. */
  full: Static<S>
}

/** A question of the service to a helper model. */
export interface HelperQuestion<S extends TObject> {
  name: string
  asked: S
  mostTokens: number
  empty: Static<S>
  full: Static<S>
  instructions: string
  /**
   * Reads an answer field by field; `text` is what the question is about. Whatever cannot be read is absent. Undefined for an answer
   * that is no JSON at all.
   */
  read: (answer: string, text: string) => Advice<Static<S>> | undefined
}

/**
 * Makes a question whose instructions name every field, because some servers do not show the schema to the model, and whose reader takes
 * from an answer what can be read. The answer is advice: its reader may not rely on any field.
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
    // The instructions say what each field is.
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

/** A list in place of an object with one list in it is that list. */
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
  /** Such as claims[].quote. */
  path: string
  about: string
}

/** Returns all fields of a schema with their descriptions. Throws for one without a description. */
function fieldsOf ({ properties }: TObject, before = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]: [string, TSchema]) => {
    const inner = schema.type === 'array' ? schema.items : schema
    const path = `${before}${name}${schema.type === 'array' ? '[]' : ''}`
    const about = schema.description ?? inner.description
    if (about === undefined) throw new TypeError(`The field ${path} of a question has no description.`)
    return [{ path, about }, ...inner.type === 'object' ? fieldsOf(inner, `${path}.`) : []]
  })
}

/** All texts of an example. */
function textsOf (value: unknown): string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) || isObject(value) ? Object.values(value).flatMap(textsOf) : []
}
