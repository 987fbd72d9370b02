import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { VisibleText } from '../visible-text.tsx'
import { Decide } from './decide.tsx'
import type { DecisionInProgress } from './use-decision.ts'

/** The tools of a server that say that they only read, and that the user has not accepted as they are. */
export function ServerRequest ({ approval, decision, isOpen }: { approval: Approval, decision: DecisionInProgress, isOpen: boolean }) {
  return (
    <>
      <ul className='tool-list' tabIndex={0}>
        {approval.serverTools?.map(({ name, description, state }) => (
          <li key={name}>
            <p><code><VisibleText text={name} limit={200} /></code> <span className='quiet'>{say(`approval.tool.${state}`)}</span></p>
            <p className='quiet'><VisibleText text={description} /></p>
          </li>
        ))}
      </ul>
      {isOpen && <Decide approval={approval} decision={decision} />}
    </>
  )
}
