import { QuestionsSchema, type Question } from '../../../schemas/questions.ts'
import { ASK_USER } from '../../contracts/model-texts.ts'
import type { Tool } from '../../contracts/tool.ts'

/** Creates the tool that asks the user questions. */
export function createAskUser (): Tool<{ questions: Question[] }> {
  return {
    model: {
      name: ASK_USER,
      description: 'Ask the user what only they can decide or know, when you cannot go on well without it. Ask everything in one call. ' +
        'Offer options where you know them. The work waits until the user has answered; they may also decline.',
      schema: QuestionsSchema,
      use: 'always',
      findMistake: ({ questions }) => questionMistake(questions)
    },
    says: { en: { label: 'Ask you', does: 'ask you' }, otherNames: ['askuserquestion'] },
    policy: { effect: 'read', permission: 'allow' },
    effects: { source: 'user' },
    execute: { by: 'user' }
  }
}

/**
 * Matches control characters, except tabs and line ends, and overrides of the text direction. Both can make a text look different from what
 * it is.
 */
// eslint-disable-next-line no-control-regex
const DECEPTIVE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202d\u202e]/

/**
 * Returns a mistake that a schema cannot express; undefined for none. Ids and option values must differ, and texts for the user must not
 * contain deceptive characters.
 */
function questionMistake (questions: readonly Question[]): string | undefined {
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
