import { NOBODY_APPROVES, NOT_GRANTED } from '../../contracts/model-texts.ts'
import { needsAny, type Tool } from '../../contracts/tool.ts'
import type { ToolHost } from '../../tools/index.ts'

/** Which calls of a run ask, and who answers. */
export interface RunPolicy {
  /**
   * Whether calls may ask: because of their tool's permission, their addresses, or a question of their tool. In tasks whose approval is
   * `never`, only calls that a model wrote as text do.
   */
  asks: boolean
  /** Why a call that would ask is refused, if nobody is asked. */
  refusal?: string
  /** Whether the user answers the agent's questions, and questions in the middle of calls or about a budget. */
  answersQuestions: boolean
  answersInCalls: boolean
}

/** Returns the policy of a run. `onlyGranted`: calls that would ask and that no grant covers are refused, as in rehearsals. */
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

/** Whether a call of the tool may ask although the tool is allowed: not if the user allowed it explicitly, except for skills. */
export const asksThoughAllowed = (policy: RunPolicy, tools: Pick<ToolHost, 'find' | 'isAllowedByUser'>, toolName: string): boolean =>
  policy.asks && (needsAny(tools.find(toolName), 'skills') || !tools.isAllowedByUser(toolName))

/** Returns the tools without those that ask the user, unless the run may ask. */
export const offeredTools = (tools: Tool[], mayAsk: boolean): Tool[] =>
  mayAsk ? tools : tools.filter(({ execute }) => execute.by !== 'user')
