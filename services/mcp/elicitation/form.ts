import { isObject } from '../../lib/json.ts'
import { QUESTION_LIMITS, type Answers, type Question } from '../../../schemas/questions.ts'

/** Thrown if a server's question cannot be shown to the user. The message is a clause, such as "it is not a form". */
export class FormRefused extends Error {}

export type Json = Record<string, unknown>
/** The value of a field, as the server gets it. */
type FieldValue = string | number | boolean | string[]
/** The value of an answer, or a clause that says what is wrong with the answer. */
type Reading = { value: FieldValue } | { wrong: string }

/** A server's form, converted to questions for the user. */
export interface Form {
  questions: Question[]
  /** Returns the invalid answers, each with the id of its question and a message. */
  check(answers: Answers): Array<{ id: string, message: string }>
  /** Returns the answer for the server. The user's answers must have passed `check`. */
  content(answers: Answers): { action: 'accept', content?: Record<string, FieldValue> } | { action: 'decline' }
}

const LONGEST_MESSAGE = 800
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
const CONSENT = 'consent'

/** Reads the parameters of `elicitation/create` in form mode. Throws FormRefused for a form that cannot be shown, or that violates MCP. */
export function readForm (server: string, { message, requestedSchema }: Json): Form {
  if (!isObject(requestedSchema) || !isObject(requestedSchema.properties)) throw new FormRefused('it is not a form')
  const entries = Object.entries(requestedSchema.properties)
  const { questions: most } = QUESTION_LIMITS
  if (entries.length > most) throw new FormRefused(`it has ${entries.length} fields, and at most ${most} are shown`)
  const required = new Set(Array.isArray(requestedSchema.required) ? requestedSchema.required : [])
  const fields = entries.map(([name, schema], at) => {
    if (!isObject(schema)) throw new FormRefused(`${JSON.stringify(shownText(name, 100))} is no field`)
    return formField(name, schema, { id: ID.test(name) && name !== '__proto__' ? name : `field-${at + 1}`, isRequired: required.has(name) })
  })
  const opening = `${whoAsks(server)} Give it no passwords, keys or card numbers.\n${quoted(message)}`
  return fields.length === 0 ? consent(opening) : formOf(fields, server, opening)
}

function formOf (fields: FormField[], server: string, opening: string): Form {
  const questions = fields.map(({ question }, at) => ({
    ...question,
    text: at === 0 ? `${opening}\n${question.text}` : `${JSON.stringify(server)} asks: ${question.text}`
  }))
  const given = (answers: Answers, { question: { id } }: FormField) => Object.hasOwn(answers, id) ? answers[id] : undefined
  return {
    questions,
    check: (answers) => fields.flatMap((field) => {
      const answer = given(answers, field)
      const reading = answer === undefined ? undefined : field.read(answer)
      const { id } = field.question
      return reading !== undefined && 'wrong' in reading
        ? [{ id, message: `The question ${JSON.stringify(id)} ${reading.wrong}.` }]
        : []
    }),
    content (answers) {
      const entries = fields.flatMap((field) => {
        const answer = given(answers, field)
        const reading = answer === undefined ? { value: field.whenLeftOut } : field.read(answer)
        return 'value' in reading && reading.value !== undefined ? [[field.name, reading.value] as const] : []
      })
      return { action: 'accept', content: Object.fromEntries(entries) }
    }
  }
}

/** Makes a yes-or-no question of a form without fields: the user agrees, or does not. */
function consent (opening: string): Form {
  const options = [{ value: 'yes', label: 'Agree' }, { value: 'no', label: 'Do not agree' }]
  return {
    questions: [{ id: CONSENT, text: opening, options, required: true }],
    check: () => [],
    content: (answers) => answers[CONSENT] === 'yes' ? { action: 'accept', content: {} } : { action: 'decline' }
  }
}

/** Returns the sentence that is put before everything that a server asks, so that the server cannot pretend to be the application. */
export const whoAsks = (server: string): string => `The tool server ${JSON.stringify(server)} asks this, not the application.`

export const quoted = (message: unknown): string => `“${shownText(message, LONGEST_MESSAGE)}”`

/** A field of a form: the question for the user, and the function that reads the answer. */
interface FormField {
  name: string
  question: Question
  /** The value that the server gets if the user leaves the field out; undefined for none. */
  whenLeftOut?: FieldValue
  read(answer: string | string[]): Reading
}

const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 400
const LONGEST_HINT = 300
/** The most choices that a hint names, if there are too many to show them as options. */
const NAMED = 5

/** A value that the user can choose, and the label of the value. */
interface Choice {
  value: string
  label: string
}

/** Converts one field of a form to a question. Throws FormRefused for a field that MCP does not allow. */
function formField (name: string, field: Json, { id, isRequired }: { id: string, isRequired: boolean }): FormField {
  const schema = withoutNull(field)
  const title = shownText(schema.title, LONGEST_TITLE) || shownText(name, LONGEST_TITLE)
  const description = shownText(schema.description, LONGEST_DESCRIPTION)
  const { hint, question, read, isValue } = kindOf(title, schema)
  const preset = isValue(schema.default) ? schema.default : undefined
  const hints = [hint, ...preset === undefined ? [] : [`left out: ${shownText(JSON.stringify(preset), 100)}`]].filter(Boolean).join('; ')
  return {
    name,
    question: {
      id,
      text: `${title}${description && ` – ${description}`}${hints && ` (${shownText(hints, LONGEST_HINT)})`}`,
      ...question,
      ...isRequired && preset === undefined && { required: true }
    },
    whenLeftOut: preset,
    read
  }
}

const isNull = (schema: unknown) => isObject(schema) && schema.type === 'null'

/**
 * Returns the schema of a field without the type null, which the Python SDK writes for an optional field: the user leaves such a field out.
 */
function withoutNull ({ anyOf, ...schema }: Json): Json {
  const types = Array.isArray(schema.type) ? schema.type.filter((type) => type !== 'null') : []
  const type = types.length === 1 ? { type: types[0] } : {}
  const [only, ...more] = Array.isArray(anyOf) && anyOf.some(isNull) ? anyOf.filter((each) => !isNull(each)) : []
  return isObject(only) && more.length === 0 ? { ...schema, ...type, ...only } : { ...schema, ...type, ...anyOf !== undefined && { anyOf } }
}

interface Kind {
  /** A text for the user about the expected form of the answer; '' for none. */
  hint: string
  question: Partial<Question>
  read(answer: string | string[]): Reading
  /** True if a default value fits this kind of field. */
  isValue(value: unknown): value is FieldValue
}

function kindOf (title: string, schema: Json): Kind {
  // Either mark says that the field is a secret, in any language. MCP forbids forms to ask for secrets.
  if (schema.format === 'password' || schema.writeOnly === true) {
    throw new FormRefused(`${JSON.stringify(title)} is a secret, for which no form may ask`)
  }
  const single = choicesOf(schema)
  if (single !== undefined && schema.type === 'string') return choice(single, schema)
  switch (schema.type) {
    case 'boolean':
      return yesOrNo
    case 'string':
      return {
        ...readText(schema),
        question: {},
        isValue: (value): value is string => typeof value === 'string'
      }
    case 'number':
    case 'integer':
      return { ...readNumber(schema), question: {}, isValue: (value): value is number => typeof value === 'number' }
    case 'array': {
      const several = isObject(schema.items) ? choicesOf(schema.items) : undefined
      if (several !== undefined) return choice(several, schema)
    }
  }
  throw new FormRefused(`${JSON.stringify(title)} is neither a text, a number, a yes or no, nor a choice`)
}

const yesOrNo: Kind = {
  hint: '',
  question: { options: [{ value: 'true', label: 'Yes' }, { value: 'false', label: 'No' }] },
  read: (answer) => ({ value: answer === 'true' }),
  isValue: (value) => typeof value === 'boolean'
}

/** Returns the choices of a schema, in any form that a version of MCP defines; undefined if the schema has none. */
function choicesOf ({ enum: values, enumNames, oneOf, anyOf }: Json): Choice[] | undefined {
  const titled = [oneOf, anyOf].find(Array.isArray)
  const all = titled === undefined
    ? Array.isArray(values) && values.map((value, at) => ({ value, label: Array.isArray(enumNames) ? enumNames[at] : value }))
    : titled.map((each) => isObject(each) ? { value: each.const, label: each.title } : {}) as Array<{ value?: unknown, label?: unknown }>
  if (!all) return undefined
  const choices = all.flatMap(({ value, label }) =>
    typeof value === 'string' ? [{ value, label: shownText(label, LONGEST_TITLE) || value }] : []
  )
  return choices.length > 0 ? choices : undefined
}

/**
 * Asks for one of the choices, or for several if the field is an array. If there are too many to show as options, the user types values or
 * labels.
 */
function choice (choices: Choice[], { type, minItems = 0, maxItems = Infinity }: Json): Kind {
  const isMulti = type === 'array'
  const [least, most] = [Number(minItems), Number(maxItems)]
  const fits = choices.length <= QUESTION_LIMITS.options
  const known = new Set(choices.map(({ value }) => value))
  // If values are empty, repeated or cannot be displayed, each option gets its number as value.
  const areShown = known.size === choices.length && choices.every(({ value }) => value !== '' && shownText(value, LONGEST_TITLE) === value)
  const options = choices.map(({ value, label }, at) => ({
    value: areShown ? value : String(at + 1),
    label: shownText(label, LONGEST_TITLE) || `(${at + 1})`
  }))
  const find = (answer: string): string | undefined =>
    fits && !areShown ? choices[Number(answer) - 1]?.value : choices.find(({ value, label }) => answer === value || answer === label)?.value
  const names = choices.slice(0, NAMED).map(({ label }) => label).join(', ')
  return {
    hint: fits ? '' : `one of ${choices.length}, such as ${names}`,
    question: { ...fits && { options }, ...isMulti && { multi: true } },
    read (answer) {
      const given = typeof answer === 'string' ? [answer] : answer
      const values = given.map(find)
      const odd = values.indexOf(undefined)
      if (odd !== -1) return { wrong: `has no choice ${JSON.stringify(given[odd].slice(0, 100))}` }
      if (!isMulti) return { value: values[0]! }
      if (values.length < least) return { wrong: `takes at least ${least} choices` }
      if (values.length > most) return { wrong: `takes at most ${most} choices` }
      return { value: values as string[] }
    },
    isValue: (value): value is string | string[] =>
      isMulti ? Array.isArray(value) && value.every((each) => known.has(each)) : typeof value === 'string' && known.has(value)
  }
}

interface Reader {
  hint: string
  read(answer: string | string[]): Reading
}

/** A date and time in the form of RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i
/** The formats that MCP defines. A `pattern` of a server is not used: its regular expression could block the whole service. */
const FORMATS: Record<string, { hint: string, fits(text: string): boolean }> = {
  email: { hint: 'an email address', fits: (text) => text.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(text) },
  uri: { hint: 'an address such as https://example.com', fits: (text) => URL.canParse(text) },
  date: { hint: 'a date as YYYY-MM-DD', fits: isDate },
  'date-time': {
    hint: 'a time as YYYY-MM-DDThh:mm:ssZ',
    fits: (text) => TIME.test(text) && isDate(text.slice(0, 10)) && !isNaN(Date.parse(text))
  }
}

function isDate (text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // If the month does not have that day, Date returns a day of the next month.
  return !isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Reads a text answer, and checks its length in characters and its format. */
function readText ({ format, minLength, maxLength }: Json): Reader {
  const known = typeof format === 'string' && Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined
  const length = between(minLength, maxLength)
  return {
    hint: [known?.hint, length && `${length} characters`].filter(Boolean).join(', '),
    read (answer) {
      const value = String(answer)
      if (known !== undefined && !known.fits(value)) return { wrong: `takes ${known.hint}` }
      return isBetween([...value].length, minLength, maxLength) ? { value } : { wrong: `takes ${length} characters` }
    }
  }
}

/** Reads a number in the notation of JSON. */
function readNumber ({ type, minimum, maximum }: Json): Reader {
  const range = between(minimum, maximum)
  const hint = `${type === 'integer' ? 'a whole number' : 'a number'}${range && ` ${range}`}`
  return {
    hint,
    read (answer) {
      const text = String(answer).trim()
      const value = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text) ? Number(text) : NaN
      const isOfType = type === 'integer' ? Number.isSafeInteger(value) : Number.isFinite(value)
      return isOfType && isBetween(value, minimum, maximum) ? { value } : { wrong: `takes ${hint}` }
    }
  }
}

const isBetween = (value: number, least: unknown, most: unknown): boolean =>
  !(typeof least === 'number' && value < least) && !(typeof most === 'number' && value > most)

/** Describes a range in words; '' if neither limit is a number. */
function between (least: unknown, most: unknown): string {
  const [from, to] = [typeof least === 'number', typeof most === 'number']
  if (from && to) return `from ${least} to ${most}`
  return from ? `of at least ${least}` : to ? `of at most ${most}` : ''
}

// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g

/**
 * Returns a server's text as one line of at most `longest` characters. Control characters and overrides of the text direction are replaced
 * by spaces, because they could make the user see another text. Line ends are replaced too, because a new line could imitate the
 * application.
 */
function shownText (value: unknown, longest: number): string {
  if (typeof value !== 'string') return ''
  // Cut before the replacements, because the text can be of any length.
  const text = value.slice(0, longest * 4).replace(UNSEEN, ' ').replace(/ {2,}/g, ' ').trim()
  return text.length <= longest && value.length <= longest * 4 ? text : `${text.slice(0, longest - 1).trimEnd()}…`
}
