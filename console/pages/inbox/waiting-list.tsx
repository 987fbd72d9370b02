import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import type { Approval } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'
import { useAnnounce } from '../../parts/announcer.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { openApprovals } from '../../parts/frame.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useLearned } from '../../parts/waiting/lessons.tsx'
import { ManyBar } from '../../parts/waiting/many-bar.tsx'
import { useRefusals } from '../../parts/waiting/refused.tsx'
import { WaitingItem } from '../../parts/waiting/waiting-item.tsx'

/** The number of items that are shown at first: usually enough for the calls of one step. */
const SHOWN = 60

/** All items that wait for the user's decision, oldest first. Tool servers come last, because work continues without their tools. */
export function WaitingList () {
  const query = useQuery(openApprovals)
  return (
    <section className='section' aria-labelledby='waiting'>
      <h2 id='waiting' tabIndex={-1}>{say('inbox.waiting')}</h2>
      <Loaded query={query}>
        {({ approvals }) => <><ManyBar /><Items approvals={approvals} /></>}
      </Loaded>
    </section>
  )
}

function Items ({ approvals }: { approvals: Approval[] }) {
  const [shown, setShown] = useState(SHOWN)
  useNews(approvals.length)
  const { note, onRefused } = useRefusals(approvals)
  const { learned, onLearned } = useLearned()
  if (approvals.length === 0) return <>{note}{learned}<Empty text={say('inbox.nothingWaits')} /></>
  return (
    <>
      {note}
      {learned}
      <p className='quiet for-keys'>{say('inbox.keys')}</p>
      <div className='waiting-list'>
        {lastOfServers(approvals).slice(0, shown).map((approval) => (
          <WaitingItem key={approval.approvalId} approval={approval} onRefused={onRefused} onLearned={onLearned} />
        ))}
      </div>
      {approvals.length > shown && (
        <Button onClick={() => setShown(shown + SHOWN)}>{say('inbox.showMore', { count: approvals.length - shown })}</Button>
      )}
    </>
  )
}

const lastOfServers = (approvals: Approval[]) =>
  approvals.toSorted((one, other) => Number(one.kind === 'server') - Number(other.kind === 'server'))

/** Announces to screen readers that more items wait than before. */
function useNews (count: number) {
  const announce = useAnnounce()
  const known = useRef(count)
  useEffect(() => {
    if (count > known.current) announce(say('app.waiting', { count }))
    known.current = count
  }, [count, announce])
}
