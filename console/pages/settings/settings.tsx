import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Settings ({ section }: { section?: string }) {
  return <Page title={say('settings.title')}><p>{section}</p></Page>
}
