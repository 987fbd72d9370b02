import { AllowNotices } from '../../lib/live/notices.tsx'
import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'
import { AppCalls } from './app-calls.tsx'
import { Digest } from './digest.tsx'
import { WaitingList } from './waiting-list.tsx'
import './inbox.css'

/** All that waits for the user, and what happened while the user was away. */
export default function Inbox () {
  return (
    <Page title={say('inbox.title')} actions={<AllowNotices />}>
      <WaitingList />
      <AppCalls />
      <Digest />
    </Page>
  )
}
