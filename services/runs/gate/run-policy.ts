import { NOBODY_APPROVES, NOT_GRANTED } from '../../contracts/model-texts.ts'
import { needsAny } from '../../contracts/tool.ts'
import type { ToolHost } from '../../tools/index.ts'

/** Which calls of a run need an approval, and whether somebody can answer. */
export interface RunPolicy {
  /**
   * Whether calls can need an approval because of their tool's permission, their addresses, or a question of their tool. In tasks whose
   * approval is `never`, only calls that a model wrote as text need one.
   */
  asks: boolean
  /** The reason with which a call that needs an approval is refused, if nobody can be asked. */
  refusal?: string
  /**
   * Whether the user answers the agent's questions; `answersInCalls`: whether the user answers questions in the middle of calls, and about
   * a budget.
   */
  answersQuestions: boolean
  answersInCalls: boolean
}

/** Returns the policy of a run. `onlyGranted`: a call that needs an approval is refused unless a grant covers it, as in rehearsals. */
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

/**
 * Whether a call can need an approval although its tool is allowed. False if the user has allowed the tool explicitly, except for tools
 * that read skills.
 */
export const asksThoughAllowed = (policy: RunPolicy, tools: Pick<ToolHost, 'find' | 'isAllowedByUser'>, toolName: string): boolean =>
  policy.asks && (needsAny(tools.find(toolName), 'skills') || !tools.isAllowedByUser(toolName))
