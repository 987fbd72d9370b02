import { say } from '../../lib/say.ts'
import { Page } from '../../parts/page.tsx'

export default function Tasks () {
  return <Page title={say('tasks.title')}><p /></Page>
}
