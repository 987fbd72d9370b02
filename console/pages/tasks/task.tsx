import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Task ({ id }: { id: string }) {
  return <Page title={say('tasks.title')}><p>{id}</p></Page>
}
