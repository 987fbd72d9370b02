import { systemClock, type Clock } from '../services/clock/clock.ts'
import { openStore } from '../services/store/store.ts'

/** An encrypted store on a directory of the test's own. */
export async function testStore (t: { testdir (content?: any): string, teardown (handler: () => unknown): unknown }, clock: Clock = systemClock) {
  const store = await openStore({ dir: t.testdir({}), clock })
  t.teardown(() => store.close())
  return store
}
