import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Inbox () {
  return <Page title={say('inbox.title')}><p /></Page>
}
