import type { FileApi } from '../attached/file-forms.ts'
import type { Schema } from './flatten-schema.ts'
import type { JsonType } from './types.ts'

/** The API whose rules for schemas apply. `compatible` stands for every server whose rules are not known. */
export type Wire = Exclude<FileApi, 'offline'>

/** The keywords of JSON Schema that a provider accepts. */
export interface KeywordRules {
  /** True if a schema can name only one type, not a list of types. Null is then allowed only for values that cannot be left out. */
  isPlain: boolean
  /**
   * `google`: the fields that Google documents in both of its references, https://ai.google.dev/api/caching#Schema and
   * https://ai.google.dev/api/generate-content#FIELDS.response_json_schema. `few`: the keywords that the grammars of llama.cpp and chat
   * templates support: no patterns, and no counts so high that a grammar becomes too large.
   */
  keywords: 'all' | 'google' | 'few'
}

/** Formats of strings that OpenAI documents: https://platform.openai.com/docs/guides/structured-outputs#supported-properties */
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid']
const GOOGLE_FORMATS: Partial<Record<JsonType, readonly string[]>> = {
  string: ['date-time'],
  number: ['float', 'double'],
  integer: ['int32', 'int64']
}
/** The longest default value that is put into a description, in characters of JSON. */
const LONGEST_DEFAULT = 100

/** The highest count for `few`. llama.cpp refuses more than 2,000 repetitions (MAX_REPETITION_THRESHOLD in llama-grammar.cpp). */
const MOST_REPETITIONS = 1_000

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isNumber = (value: unknown) => typeof value === 'number' && Number.isFinite(value)

/**
 * Returns the keywords that describe a schema to the model: title, description, default and examples. For Google, the default becomes part
 * of the description.
 */
export function readWords (node: Schema, { keywords, isPlain }: KeywordRules): Schema {
  const { title, description, default: preset, examples } = node
  const hasDefault = Object.hasOwn(node, 'default') && !(isPlain && preset === null)
  const words: Schema = { ...isText(title) && { title }, ...isText(description) && { description } }
  if (keywords !== 'google') {
    return {
      ...words,
      ...hasDefault && { default: preset },
      ...keywords === 'all' && Array.isArray(examples) && { examples }
    }
  }
  const text = hasDefault ? JSON.stringify(preset) ?? '' : ''
  if (text === '' || text.length > LONGEST_DEFAULT || /default/i.test(String(words.description))) return words
  return { ...words, description: [words.description, `Default: ${text}.`].filter(Boolean).join(' ') }
}

/** Returns the keywords of a schema that restrict values of a type, as JSON Schema 2020-12 writes them. */
export function readKeywords (type: JsonType, node: Schema, rules: KeywordRules): Schema {
  switch (type) {
    case 'string':
      return textKeywords(node, rules)
    case 'number':
    case 'integer':
      return numberKeywords(type, node, rules)
    case 'array':
      return counts(node, ['minItems', 'maxItems'], rules)
    case 'object':
      return rules.keywords === 'all' ? counts(node, ['minProperties', 'maxProperties'], rules) : {}
    case 'boolean':
      return {}
  }
}

function counts (node: Schema, keys: readonly string[], { keywords }: KeywordRules): Schema {
  const isAccepted = (value: unknown) => isCount(value) && (keywords !== 'few' || (value as number) <= MOST_REPETITIONS)
  return Object.fromEntries(Object.entries(node).filter(([key, value]) => keys.includes(key) && isAccepted(value)))
}

function textKeywords (node: Schema, rules: KeywordRules): Schema {
  const { keywords } = rules
  const { format, pattern } = node
  const formats = keywords === 'google' ? GOOGLE_FORMATS.string! : FORMATS
  return {
    ...typeof format === 'string' && formats.includes(format) && { format },
    ...keywords !== 'google' && counts(node, ['minLength', 'maxLength'], rules),
    ...keywords === 'all' && isPattern(pattern) && { pattern }
  }
}

/** True if the value is a string that is a valid regular expression of ECMA-262, as JSON Schema requires. */
function isPattern (pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false
  try {
    return new RegExp(pattern, 'u') !== undefined
  } catch {
    return false
  }
}

function numberKeywords (type: 'number' | 'integer', node: Schema, { keywords }: KeywordRules): Schema {
  const { format, multipleOf } = node
  const [low, high] = [bound(node, 'minimum', 'exclusiveMinimum'), bound(node, 'maximum', 'exclusiveMaximum')]
  const isGoogle = keywords === 'google'
  return {
    ...isGoogle && typeof format === 'string' && GOOGLE_FORMATS[type]!.includes(format) && { format },
    ...keywords === 'all'
      ? {
          ...low && { [low.isOpen ? 'exclusiveMinimum' : 'minimum']: low.value },
          ...high && { [high.isOpen ? 'exclusiveMaximum' : 'maximum']: high.value },
          ...isNumber(multipleOf) && (multipleOf as number) > 0 && { multipleOf }
        }
      : {
          ...low && { minimum: closed(low, type, 1) },
          ...high && { maximum: closed(high, type, -1) }
        }
  }
}

interface Bound {
  value: number
  isOpen: boolean
}

/** Returns a lower or upper bound. In JSON Schema draft 4, `exclusive…` is a boolean; in later versions, it is a number. */
function bound (node: Schema, closedKey: string, openKey: string): Bound | undefined {
  const [value, open] = [node[closedKey], node[openKey]]
  if (isNumber(open)) return { value: open as number, isOpen: true }
  return isNumber(value) ? { value: value as number, isOpen: open === true } : undefined
}

/**
 * Returns an inclusive bound, for providers without exclusive bounds. For numbers that are not integers, the result also allows the bound
 * itself. `step` is 1 for a minimum and -1 for a maximum.
 */
const closed = ({ value, isOpen }: Bound, type: JsonType, step: number): number =>
  isOpen && type === 'integer' ? (Number.isInteger(value) ? value + step : step > 0 ? Math.ceil(value) : Math.floor(value)) : value
