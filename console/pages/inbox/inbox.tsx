import { useQuery } from '@tanstack/react-query'
import { useRef } from 'react'
import { AllowNotices } from '../../lib/live/notices.tsx'
import { say } from '../../lib/say.ts'
import { openApprovals } from '../../parts/frame.tsx'
import { Page } from '../../parts/page.tsx'
import { ManyCalls } from '../../parts/waiting/many-calls.tsx'
import { AppCalls } from './app-calls.tsx'
import { Desk, Now } from './desk.tsx'
import { useItemKeys } from './use-item-keys.ts'
import { WaitingList } from './waiting-list.tsx'
import './inbox.css'

/** The inbox: news from the user's absence, the items that wait for the user, and the work in progress. */
export default function Inbox () {
  const { data } = useQuery(openApprovals)
  const approvals = data?.approvals ?? NONE
  return (
    <Page title={say('inbox.title')} actions={<AllowNotices />}>
      <ManyCalls approvals={approvals}><Sections waiting={approvals.length} /></ManyCalls>
    </Page>
  )
}

const NONE: never[] = []

function Sections ({ waiting }: { waiting: number }) {
  const items = useRef<HTMLDivElement>(null)
  useItemKeys(items)
  return (
    <>
      <div className='page-part' ref={items}>
        <Desk waiting={waiting} />
        <WaitingList />
      </div>
      <AppCalls />
      <Now />
    </>
  )
}
