import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Run ({ id }: { id: string }) {
  return <Page title={say('run.title')}><p>{id}</p></Page>
}
