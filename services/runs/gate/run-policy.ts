import { NOBODY_APPROVES, NOT_GRANTED } from '../../contracts/model-texts.ts'
import { needsAny, type Tool } from '../../contracts/tool.ts'
import type { ToolHost } from '../../tools/index.ts'

/** Which calls of a run ask, and who answers. */
export interface RunPolicy {
  /** Whether permissions of tools, addresses and tools ask. Of tasks whose approval is `never`, only what a model wrote as text does. */
  asks: boolean
  /** Why a call that asks is refused, where nobody is asked. */
  refusal?: string
  /** Whether the user answers questions of the agent, and questions in the middle of calls. */
  answersQuestions: boolean
  answersInCalls: boolean
}

/** Returns the policy of a run. `onlyGranted`: what no grant covers is refused, as in rehearsals. */
export function makeRunPolicy ({ asks = true, interactive, onlyGranted, mayAsk, mayAskInCalls = mayAsk }: {
  asks?: boolean,
  interactive: boolean | undefined,
  onlyGranted: boolean,
  mayAsk: boolean,
  mayAskInCalls?: boolean
}): RunPolicy {
  const refusal = onlyGranted ? NOT_GRANTED : interactive === false ? NOBODY_APPROVES : undefined
  return { asks, refusal, answersQuestions: mayAsk, answersInCalls: mayAskInCalls }
}

/** Whether calls of the tool ask though the tool does not: not where the user allowed it beforehand, apart from skills. */
export const asksThoughAllowed = (policy: RunPolicy, tools: Pick<ToolHost, 'find' | 'isAllowedByUser'>, toolName: string): boolean =>
  policy.asks && (needsAny(tools.find(toolName), 'skills') || !tools.isAllowedByUser(toolName))

/** Returns the tools without those that ask the user, unless the run may ask. */
export const offeredTools = (tools: Tool[], mayAsk: boolean): Tool[] =>
  mayAsk ? tools : tools.filter(({ policy: { answeredBy } }) => answeredBy?.by !== 'user')
