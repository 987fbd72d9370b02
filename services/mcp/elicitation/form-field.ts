import { QUESTION_LIMITS, type Question } from '../../../schemas/questions.ts'
import { FormRefused } from './form-refused.ts'
import { isObject, type FieldValue, type Json, type Reading } from './form-types.ts'
import { readNumber, readText } from './read-answer.ts'
import { shownText } from './shown-text.ts'

/** A field of a form: how it is asked, and how its answer is read. */
export interface FormField {
  name: string
  question: Question
  /** The value for the server where the user leaves the field out; undefined for none. */
  whenLeftOut?: FieldValue
  read(answer: string | string[]): Reading
}

const LONGEST_TITLE = 200
const LONGEST_DESCRIPTION = 400
const LONGEST_HINT = 300
/** Values that a hint names, where there are too many for options. */
const NAMED = 5

/** A value that the server lets the user choose, and how it is shown. */
interface Choice {
  value: string
  label: string
}

/** Makes the question of one field. Throws FormRefused for what MCP does not allow in a form. */
export function formField (name: string, schema: Json, { id, isRequired }: { id: string, isRequired: boolean }): FormField {
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
  /** Says what the answer is to be like. */
  hint: string
  question: Partial<Question>
  read(answer: string | string[]): Reading
  /** Whether a default is a value of this kind. */
  isValue(value: unknown): value is FieldValue
}

function kindOf (title: string, schema: Json): Kind {
  // Both marks say that the field is a secret, in a language of no user: MCP forbids forms to ask for secrets.
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

/** The choices of a schema, in each of the forms that versions of MCP have; undefined for none. */
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

/** Asks for one of the choices, or for several of an array. Too many for options are answered by their name. */
function choice (choices: Choice[], { type, minItems = 0, maxItems = Infinity }: Json): Kind {
  const isMulti = type === 'array'
  const [least, most] = [Number(minItems), Number(maxItems)]
  const fits = choices.length <= QUESTION_LIMITS.options
  const known = new Set(choices.map(({ value }) => value))
  // Values that are empty, equal or not to be shown are answered by their number.
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
