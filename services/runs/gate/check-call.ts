import type { Concern } from '../../approvals/index.ts'
import type { CallPolicy, CheckedCall, Decision, StepSoFar } from './call-policy.ts'
import { addresses } from './policies/addresses.ts'
import { decidedBefore } from './policies/decided-before.ts'
import { deniedBefore } from './policies/denied-before.ts'
import { grants } from './policies/covered-by-grant.ts'
import { rehearsal } from './policies/rehearsal.ts'
import { toolPermission } from './policies/tool-permission.ts'
import { toolQuestion } from './policies/tool-question.ts'
import { unattended } from './policies/unattended.ts'
import { userQuestion } from './policies/user-question.ts'
import { workingCopy } from './policies/working-copy.ts'
import { writtenAsText } from './policies/written-as-text.ts'

/** The policies that decide whether a call is allowed to run or asks for an approval, in the order in which they are asked. */
export const POLICIES: readonly CallPolicy[] = [
  decidedBefore,
  userQuestion,
  toolPermission,
  writtenAsText,
  workingCopy,
  addresses,
  toolQuestion,
  rehearsal,
  deniedBefore,
  grants,
  unattended
]

/** The policies for a call that was allowed to run, but turned out to need an approval. */
export const WHERE_ASKED: readonly CallPolicy[] = [deniedBefore, unattended]

/** The result for a call: a decision, or that a person must be asked, with all concerns: the reasons to ask. */
export type Verdict = Decision | { is: 'ask', concerns: Concern[] }

/** Asks the policies about a call, in order. If no policy decides, the call runs if there is no concern, else a person must be asked. */
export async function checkCall (
  checked: CheckedCall,
  step: StepSoFar,
  { policies = POLICIES, concerns = [] }: { policies?: readonly CallPolicy[], concerns?: Concern[] } = {}
): Promise<Verdict> {
  for (const policy of policies) {
    const found = await policy.decide(checked, step, concerns)
    if (!Array.isArray(found)) return found
    concerns = found
  }
  return concerns.length === 0 ? { is: 'run' } : { is: 'ask', concerns }
}
