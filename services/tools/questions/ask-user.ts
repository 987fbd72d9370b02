import { QuestionsSchema, type Question } from '../../../schemas/questions.ts'
import type { Tool } from '../../contracts/tool.ts'
import { ToolFailed } from '../tool-errors.ts'
import { questionMistake } from './question-mistake.ts'

/** Asks the user questions. The step asks them and waits for the answers, so the tool itself never runs. */
export function createAskUser (): Tool<{ questions: Question[] }> {
  return {
    name: 'askUser',
    description: 'Ask the user what only they can decide or know, when you cannot go on well without it. Ask everything in one call. ' +
      'Offer options where you know them. The work waits until the user has answered; they may also decline.',
    inputSchema: QuestionsSchema,
    effect: 'read',
    permission: 'allow',
    answeredBy: { by: 'user' },
    findMistake: ({ questions }) => questionMistake(questions),
    async execute () {
      throw new ToolFailed('The user answers questions; the tool is not run.')
    }
  }
}
