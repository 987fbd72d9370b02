import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Memory () {
  return <Page title={say('memory.title')}><p /></Page>
}
