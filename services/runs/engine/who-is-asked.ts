import type { Tool } from '../../contracts/tool.ts'
import { NOBODY_APPROVES } from '../../contracts/model-texts.ts'
import type { CallPorts } from './call-ports.ts'

const NO_QUESTIONS = 'The user cannot be asked in this run: decide yourself, and say what you assumed.'

/** Returns what the calls of a run meet that need a person: nothing, if the person is there; without `mayAsk`, no questions are asked. */
export function whoIsAsked (
  interactive: boolean | undefined,
  mayAsk = interactive === true
): Pick<CallPorts, 'deniesUngranted' | 'deniesQuestions'> {
  return { ...(interactive === false && { deniesUngranted: NOBODY_APPROVES }), ...(!mayAsk && { deniesQuestions: NO_QUESTIONS }) }
}

/** Returns the tools without those that ask the user, unless the run may ask. */
export const offeredTools = (tools: Tool[], mayAsk: boolean): Tool[] =>
  mayAsk ? tools : tools.filter(({ answeredBy }) => answeredBy?.by !== 'user')
