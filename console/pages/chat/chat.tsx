import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Chat ({ id }: { id?: string }) {
  return <Page title={say('chat.title')}><p>{id}</p></Page>
}
