import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'
import { CallInput, Field } from './call-input.tsx'
import { Decide } from './decide.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** A call of a tool: its whole input, the real folder that it works in, and the decision. */
export function ToolRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  const { input, cwd } = approval
  return (
    <>
      <CallInput input={input}>
        {cwd !== undefined && <Field name={say('approval.folder')}><code><VisibleText text={cwd} limit={Infinity} /></code></Field>}
      </CallInput>
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}
