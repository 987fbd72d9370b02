import { systemClock, type Clock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { atEnd, type Ending } from './at-end.ts'

/** An encrypted store on a directory of the test's own. */
export async function testStore (t: Ending & { testdir(content?: any): string }, clock: Clock = systemClock) {
  const store = await openStore({ dir: t.testdir({}), clock })
  atEnd(t, () => store.close())
  return store
}
