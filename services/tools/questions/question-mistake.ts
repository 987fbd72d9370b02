import type { Question } from '../../../schemas/questions.ts'

/** Control characters, apart from tab and line ends, and overrides of the direction of text: both can show users something else. */
// eslint-disable-next-line no-control-regex
const DECEPTIVE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202d\u202e]/

/**
 * Returns what a schema cannot say of questions: their ids and the values of their options must differ, and nothing that users read may
 * hold deceptive characters. Undefined for no mistake.
 */
export function questionMistake (questions: readonly Question[]): string | undefined {
  const deceptive = questions.find(({ text, options = [] }) =>
    [text, ...options.flatMap(({ value, label }) => [value, label])].some((each) => DECEPTIVE.test(each))
  )
  if (deceptive !== undefined) {
    return `the question ${JSON.stringify(deceptive.id)} has control characters or overrides of the direction of text; leave them out`
  }
  const repeatedId = firstRepeated(questions.map(({ id }) => id))
  if (repeatedId !== undefined) return `two questions have the id ${JSON.stringify(repeatedId)}`
  for (const { id, options = [] } of questions) {
    const repeated = firstRepeated(options.map(({ value }) => value))
    if (repeated !== undefined) return `two options of the question ${JSON.stringify(id)} have the value ${JSON.stringify(repeated)}`
  }
  return undefined
}

const firstRepeated = (values: string[]) => values.find((value, at) => values.indexOf(value) !== at)
