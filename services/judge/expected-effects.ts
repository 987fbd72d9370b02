import type { Claim, Evaluation } from '../../schemas/evaluation.ts'
import type { Expects } from '../../schemas/tasks.ts'
import { canHaveChanged, type CallFact, type FindTool } from './call-facts.ts'

/** What the plan of a run expects, and the tools that its calls are of. */
export interface Expected {
  expects?: Expects
  find: FindTool
}

const MISSING: Record<Exclude<Expects, 'none'>, string> = {
  files: 'The plan expects that files are written, moved or deleted, and no call of this run can have done so.',
  message: 'The plan expects a message to somebody, and no call of this run can have sent one.',
  command: 'The plan expects that a command is run, and none ran to its end.'
}

/**
 * Returns why a report cannot be taken as verified whatever its judge thinks of it; undefined for no reason. A report that was read as
 * saying that there was nothing to do, or that it failed, agrees with calls that had no effect.
 */
export function doubtOf ({ outcome, claims, calls, expected: { expects, find } }: {
  outcome: Evaluation['outcome']
  claims: readonly Claim[]
  calls: readonly CallFact[]
  expected: Expected
}): string | undefined {
  // A look by a command is all that many runs with nothing to do consist of; outside a box nothing tells it from an effect.
  const isLook = ({ isCommand, status, changes }: CallFact) =>
    outcome === 'nothing_to_do' && isCommand === true && status === 'completed' && changes.length === 0
  const hadEffect = calls.some((call) => canHaveChanged(call, find) && !isLook(call))
  const owesEffect = outcome === undefined || outcome === 'done' || outcome === 'partly' ||
    (outcome === 'nothing_to_do' && !hasLooked(calls))
  const isExpected = expects !== undefined && expects !== 'none'
  if (owesEffect && isExpected && !calls.some((call) => canHaveHad(expects, call, find))) return MISSING[expects]
  if (claims.length > 0) return undefined
  if (hadEffect && outcome !== 'failed' && outcome !== 'asks') {
    return 'Calls of this run can have changed something, and no claim of the report about it was checked.'
  }
  return owesEffect && isExpected ? 'The plan expects an effect, and no claim of the report about it was checked.' : undefined
}

/** Whether a run can know that there was nothing to do: it looked, and tried no effect in vain. */
const hasLooked = (calls: readonly CallFact[]) =>
  calls.some(({ status }) => status === 'completed') &&
  !calls.some(({ proves, status }) => proves !== undefined && (status === 'error' || status === 'denied'))

/** Whether a call can have had the effect. */
function canHaveHad (expects: Exclude<Expects, 'none'>, call: CallFact, find: FindTool): boolean {
  const { status, proves, isCommand } = call
  switch (expects) {
    case 'files':
      return proves !== 'message' && proves !== 'command' && canHaveChanged(call, find)
    case 'message':
      return (proves === 'message' || proves === 'any') && (status === 'completed' || status === 'unknown')
    case 'command':
      return (isCommand === true || proves === 'command' || proves === 'any') && status === 'completed'
  }
}
