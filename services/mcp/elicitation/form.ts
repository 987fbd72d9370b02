import { QUESTION_LIMITS, type Answers, type Question } from '../../../schemas/questions.ts'
import { formField, type FormField } from './form-field.ts'
import { isObject, type FieldValue, type Json } from './form-types.ts'
import { FormRefused } from './form-refused.ts'
import { shownText } from './shown-text.ts'

/** What a server asks, as questions, and how the answers become the server's. */
export interface Form {
  questions: Question[]
  /** Returns what is wrong with answers, by the question's id. */
  check(answers: Answers): Array<{ id: string, message: string }>
  /** Returns what the server gets for answers that `check` found right. */
  content(answers: Answers): { action: 'accept', content?: Record<string, FieldValue> } | { action: 'decline' }
}

const LONGEST_MESSAGE = 800
const ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/
const CONSENT = 'consent'

/** Reads the parameters of `elicitation/create` in form mode. Throws FormRefused for a form that cannot be shown, or is against MCP. */
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

/** The sentence before everything that a server asks, so that it cannot pass for the application. */
export const whoAsks = (server: string): string => `The tool server ${JSON.stringify(server)} asks this, not the application.`

export const quoted = (message: unknown): string => `“${shownText(message, LONGEST_MESSAGE)}”`
