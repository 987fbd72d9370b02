import type { Question } from '../../../schemas/questions.ts'

/** Returns what a schema cannot say of questions: their ids and the values of their options must differ. Undefined for no mistake. */
export function questionMistake (questions: readonly Question[]): string | undefined {
  const repeatedId = firstRepeated(questions.map(({ id }) => id))
  if (repeatedId !== undefined) return `two questions have the id ${JSON.stringify(repeatedId)}`
  for (const { id, options = [] } of questions) {
    const repeated = firstRepeated(options.map(({ value }) => value))
    if (repeated !== undefined) return `two options of the question ${JSON.stringify(id)} have the value ${JSON.stringify(repeated)}`
  }
  return undefined
}

const firstRepeated = (values: string[]) => values.find((value, at) => values.indexOf(value) !== at)
