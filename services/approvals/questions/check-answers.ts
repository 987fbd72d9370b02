import { Check } from '@sinclair/typebox/value'
import type { Decision } from '../../contracts/approval-record.ts'
import { type Answers, AnswersSchema, type Question } from '../../../schemas/questions.ts'
import { defineError } from '../../lib/service-error.ts'

/** The most characters of a reason that are kept. */
export const REASON_KEPT = 4_000

export const AnswersRefused = defineError('ERR_INVALID_ANSWERS', '%s')

/** Whether a value of a client has the form of answers. */
export const isAnswers = (value: unknown): value is Answers => Check(AnswersSchema, value)

/** Throws AnswersRefused (400) if an answer does not fit its question, or belongs to no question. The message names each such answer. */
export function checkAnswers (questions: readonly Question[], answers: Answers): void {
  const known = new Set(questions.map(({ id }) => id))
  const unknown = Object.keys(answers).filter((id) => !known.has(id)).map((id) => ({
    id,
    message: `There is no question ${JSON.stringify(id)}; the questions are ${[...known].map((each) => JSON.stringify(each)).join(', ')}.`
  }))
  const wrong = questions.flatMap((question) => {
    const { id } = question
    const message = whatIsWrong(question, Object.hasOwn(answers, id) ? answers[id] : undefined)
    return message === undefined ? [] : [{ id, message }]
  })
  refuseWrong([...unknown, ...wrong])
}

/** Throws AnswersRefused (400) if there are wrong answers; its `details` list them by path. */
export function refuseWrong (wrong: ReadonlyArray<{ id: string, message: string }>): void {
  if (wrong.length === 0) return
  const refused = new AnswersRefused(wrong.map(({ message }) => message).join(' '))
  refused.details = wrong.map(({ id, message }) => ({ path: `answers.${id}`, message }))
  throw refused
}

function whatIsWrong (question: Question, answer: string | string[] | undefined): string | undefined {
  const { id, text, options, multi = false, free = false, required = false } = question
  const name = `The question ${JSON.stringify(id)} (${text})`
  if (answer === undefined) return required ? `${name} needs an answer.` : undefined
  const given = typeof answer === 'string' ? [answer] : answer
  if (typeof answer !== 'string' && !multi) return `${name} takes one answer, as a text.`
  if (required && given.length === 0) return `${name} needs an answer.`
  const twice = given.find((value, at) => given.indexOf(value) !== at)
  if (twice !== undefined) return `${name} has the answer ${JSON.stringify(twice)} twice.`
  const odd = options === undefined || free ? undefined : given.find((value) => !options.some((option) => option.value === value))
  return odd === undefined
    ? undefined
    : `${name} has no option ${JSON.stringify(odd)}; its options are ${options!.map(({ value }) => JSON.stringify(value)).join(', ')}.`
}

/**
 * Returns the decision on questions that a client sends as the result of the askUser call: the answers, in the form that the output of the
 * call has in the end, or an error, which declines the questions. A long reason is cut. Throws AnswersRefused (400) for any other output.
 */
export function answersInOutput (approvalId: string, result: { output: Record<string, unknown> } | { errorText: string }): Decision {
  if ('errorText' in result) return { approvalId, approved: false, reason: result.errorText.slice(0, REASON_KEPT) }
  const { answers, declined, reason } = result.output
  if (declined === true) return { approvalId, approved: false, ...(typeof reason === 'string' && { reason: reason.slice(0, REASON_KEPT) }) }
  if (isAnswers(answers)) return { approvalId, approved: true, answers }
  throw new AnswersRefused('The output of askUser must be {"answers": {"<id>": "<answer>"}} or {"declined": true}.')
}
