import type { TSchema } from '@sinclair/typebox'
import { isObject } from '../../lib/json.ts'
import { quoteFinder } from '../../lib/quotes.ts'
import { foldAdvice, isFiller, withoutTemplateTokens } from '../../lib/fillers.ts'

/** An answer with the fields that could be read. An absent field means that there is no advice about it. */
export type Advice<T> = T extends ReadonlyArray<infer Each>
  ? Array<Advice<Each>>
  : T extends object ? { [Name in keyof T]?: Advice<Exclude<T[Name], null | undefined>> } : T

/** The words of the question. A value in the answer that copies them is ignored. */
interface QuestionWords {
  /** The instructions, folded by `foldAdvice`. */
  instructions: string
  /** Names, descriptions and example texts of the fields, folded by `foldAdvice`. */
  own: ReadonlySet<string>
  /** The text that the question is about: a request, a report or messages. Words of this text can also stand in the answer. */
  text: string
}

/** The most wrapper objects that are unwrapped: {"answer": {…}}. */
const MOST_WRAPPERS = 3
/** The fewest characters of a text that counts as a copy if the instructions contain it. */
const COPY_LENGTH = 16

/** Parses the value of a field. Returns undefined if the value says nothing or does not match the schema. */
export function readField (schema: TSchema, value: unknown, words: QuestionWords): unknown {
  if (value === null || value === undefined) return undefined
  const choices = choicesOf(schema)
  if (choices !== undefined) return readChoice(choices, value)
  if (Array.isArray(schema.anyOf)) {
    return firstRead(schema.anyOf.filter(({ type }: TSchema) => type !== 'null'), (each) => readField(each, value, words))
  }
  switch (schema.type) {
    case 'string':
      return readText(value, words)
    case 'boolean':
      return readBoolean(value)
    case 'integer':
    case 'number':
      return readNumber(value, schema.type === 'integer')
    case 'array':
      return readList(schema, value, words)
    case 'object':
      return readObject(schema, value, words)
    default:
      return value
  }
}

function firstRead (schemas: readonly TSchema[], read: (schema: TSchema) => unknown): unknown {
  for (const schema of schemas) {
    const found = read(schema)
    if (found !== undefined) return found
  }
  return undefined
}

/** Returns the texts that a schema allows; undefined for other schemas. */
function choicesOf ({ anyOf, enum: values }: TSchema): string[] | undefined {
  if (Array.isArray(values)) return values
  const literals = Array.isArray(anyOf) ? anyOf.filter(({ type }: TSchema) => type !== 'null') : []
  return literals.length > 0 && literals.every(({ const: literal }) => typeof literal === 'string')
    ? literals.map(({ const: literal }) => literal)
    : undefined
}

const foldChoice = (text: string) => foldAdvice(text).replace(/[\s_-]+/g, ' ')

function readChoice (choices: string[], value: unknown): string | undefined {
  if (Array.isArray(value)) return value.length === 1 ? readChoice(choices, value[0]) : undefined
  return typeof value === 'string' ? choices.find((choice) => foldChoice(choice) === foldChoice(value)) : undefined
}

function readText (value: unknown, words: QuestionWords): string | undefined {
  if (Array.isArray(value)) return value.length === 1 ? readText(value[0], words) : undefined
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = withoutTemplateTokens(String(value).toWellFormed())
  return isFiller(text) || isCopy(text, words) ? undefined : text
}

/** True if a text is copied from the question: a description, an example or a sentence of the instructions. */
function isCopy (text: string, { instructions, own, text: about }: QuestionWords): boolean {
  const folded = foldAdvice(text).replace(/^your /, '')
  const isOwn = own.has(folded) || (folded.length >= COPY_LENGTH && instructions.includes(folded))
  return isOwn && quoteFinder(about)(text) === undefined
}

function readBoolean (value: unknown): boolean | undefined {
  if (typeof value === 'boolean') return value
  const folded = foldAdvice(String(value))
  return ['true', 'yes', '1'].includes(folded) ? true : ['false', 'no', '0'].includes(folded) ? false : undefined
}

function readNumber (value: unknown, isWhole: boolean): number | undefined {
  const text = typeof value === 'string' ? value.trim().replace(/^["']|["']$/g, '').replace(/^([+-]?\d+),(\d+)/, '$1.$2') : ''
  const [, digits, percent] = /^([+-]?\d+(?:\.\d+)?)(%?)$/.exec(text) ?? []
  const number = typeof value === 'number' ? value : Number(digits ?? NaN) / (percent === '%' ? 100 : 1)
  return Number.isFinite(number) && (!isWhole || Number.isInteger(number)) ? number : undefined
}

/** Parses each entry separately, and drops unreadable entries. A value that is not a list counts as the only entry. */
function readList (schema: TSchema, value: unknown, words: QuestionWords): unknown[] | undefined {
  const entries = Array.isArray(value) ? value : [value]
  const read = entries.flatMap((entry) => readField(schema.items, entry, words) ?? [])
  return read.length === 0 ? undefined : read.slice(0, schema.maxItems)
}

/**
 * Parses each field separately. The case and the punctuation of names do not matter. Fields that the question does not have are ignored.
 */
function readObject (schema: TSchema, value: unknown, words: QuestionWords, wrappers = 0): object | undefined {
  if (Array.isArray(value)) return value.length === 1 ? readObject(schema, value[0], words, wrappers) : undefined
  if (!isObject(value)) return undefined
  const names = new Map(Object.keys(schema.properties).map((name) => [foldName(name), name]))
  const known = Object.entries(value).flatMap(([name, each]): Array<[string, unknown]> => {
    const property = names.get(foldName(name))
    return property === undefined ? [] : [[property, each]]
  })
  if (known.length === 0) {
    const inner = Object.values(value).filter(isObject)
    return inner.length === 1 && wrappers < MOST_WRAPPERS ? readObject(schema, inner[0], words, wrappers + 1) : undefined
  }
  const fields = known.flatMap(([name, each]): Array<[string, unknown]> => {
    const read = readField(schema.properties[name], each, words)
    return read === undefined ? [] : [[name, read]]
  })
  return fields.length === 0 ? undefined : Object.fromEntries(fields)
}

const foldName = (name: string) => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
