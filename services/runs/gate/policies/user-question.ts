import type { CallPolicy } from '../call-policy.ts'

const NO_QUESTIONS = 'The user cannot be asked in this run: decide yourself, and say what you assumed.'

/** Makes a call that the user answers wait for the answer, and refuses it if nobody answers in this run. */
export const userQuestion: CallPolicy = {
  name: 'userQuestion',
  async decide ({ call: { toolCallId, toolName, input } }, { tools, policy, rehearsal }, concerns) {
    if (tools.find(toolName)?.execute.by !== 'user') return concerns
    rehearsal?.note({ toolCallId, toolName, input, identity: tools.identity(toolName), scopes: [], outcome: 'question', asks: true })
    return policy.answersQuestions ? { is: 'wait', asks: true } : { is: 'deny', reason: NO_QUESTIONS }
  }
}
