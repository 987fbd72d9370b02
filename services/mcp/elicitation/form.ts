import { isObject } from '../../lib/json.ts'
import { QUESTION_LIMITS, type Answers, type Question } from '../../../schemas/questions.ts'

/** A server's question cannot be shown to the user. The message completes "it cannot be asked: ". */
export class FormRefused extends Error {}

export type Json = Record<string, unknown>
/** The value of a field in the form that the server gets. */
type FieldValue = string | number | boolean | string[]
/** The value that an answer means, or a clause that says what is wrong with it. */
type Reading = { value: FieldValue } | { wrong: string }

/** A server's form as questions, with functions that convert the answers for the server. */
export interface Form {
  questions: Question[]
  /** Returns the faults of answers, by the question's id. */
  check(answers: Answers): Array<{ id: string, message: string }>
  /** Returns the content for the server. The answers must have passed `check`. */
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

/** A form without fields asks whether the user agrees. */
function consent (opening: string): Form {
  const options = [{ value: 'yes', label: 'Agree' }, { value: 'no', label: 'Do not agree' }]
  return {
    questions: [{ id: CONSENT, text: opening, options, required: true }],
    check: () => [],
    content: (answers) => answers[CONSENT] === 'yes' ? { action: 'accept', content: {} } : { action: 'decline' }
  }
}

/** Returns the sentence that precedes everything that a server asks, so that it cannot pretend to be the application. */
export const whoAsks = (server: string): string => `The tool server ${JSON.stringify(server)} asks this, not the application.`

export const quoted = (message: unknown): string => `“${shownText(message, LONGEST_MESSAGE)}”`

/** A field of a form: its question, and the reader of its answer. */
interface FormField {
  name: string
  question: Question
  /** The value for the server if the user leaves the field out; undefined for none. */
  whenLeftOut?: FieldValue
  read(answer: string | string[]): Reading
}

const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 400
const LONGEST_HINT = 300
/** The most values that a hint names if there are too many for options. */
const NAMED = 5

/** A value that the user can choose, and its label. */
interface Choice {
  value: string
  label: string
}

/** Makes the question for one field. Throws FormRefused for a field that MCP does not allow. */
function formField (name: string, schema: Json, { id, isRequired }: { id: string, isRequired: boolean }): FormField {
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

interface Kind {
  /** Says what the answer should look like. */
  hint: string
  question: Partial<Question>
  read(answer: string | string[]): Reading
  /** True if a default value is of this kind. */
  isValue(value: unknown): value is FieldValue
}

function kindOf (title: string, schema: Json): Kind {
  // Both marks say that the field is a secret, independent of the user's language: MCP forbids forms to ask for secrets.
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

/** Returns the choices of a schema, in any of the forms that versions of MCP have; undefined for none. */
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

/** Asks for one of the choices, or for several if the field is an array. If there are too many for options, the user writes their names. */
function choice (choices: Choice[], { type, minItems = 0, maxItems = Infinity }: Json): Kind {
  const isMulti = type === 'array'
  const [least, most] = [Number(minItems), Number(maxItems)]
  const fits = choices.length <= QUESTION_LIMITS.options
  const known = new Set(choices.map(({ value }) => value))
  // If values are empty, equal or not to be shown, the user answers with their numbers.
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

/** RFC 3339. */
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/i
/** The formats that MCP knows, without the patterns of servers: a server's regular expression could stop the whole service. */
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
  // For a day that its month does not have, Date would return one of the next month.
  return !isNaN(time) && new Date(time).toISOString().startsWith(text)
}

/** Reads texts. Their length in characters and their format are checked. */
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

/** Reads numbers as JSON writes them. */
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

/** Names a range; '' for none. */
function between (least: unknown, most: unknown): string {
  const [from, to] = [typeof least === 'number', typeof most === 'number']
  if (from && to) return `from ${least} to ${most}`
  return from ? `of at least ${least}` : to ? `of at most ${most}` : ''
}

// eslint-disable-next-line no-control-regex
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g

/**
 * Returns a server's text as one line of at most `longest` characters. Control characters and overrides of the text direction are removed,
 * because they could show the user something else, and so are line ends, because a new line could imitate a text of the application.
 */
function shownText (value: unknown, longest: number): string {
  if (typeof value !== 'string') return ''
  // Cut first: a text may be of any length.
  const text = value.slice(0, longest * 4).replace(UNSEEN, ' ').replace(/ {2,}/g, ' ').trim()
  return text.length <= longest && value.length <= longest * 4 ? text : `${text.slice(0, longest - 1).trimEnd()}…`
}
