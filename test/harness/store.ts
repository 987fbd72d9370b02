import type { App } from '../../app.ts'
import { systemClock, type Clock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { atEnd, type Ending } from './at-end.ts'

/** Opens an encrypted store in a directory of the test. */
export async function testStore (t: Ending & { testdir(content?: any): string }, clock: Clock = systemClock) {
  const store = await openStore({ dir: t.testdir({}), clock })
  atEnd(t, () => store.close())
  return store
}

/** Makes the next read of a record wait. Resolves when the read waits, to the function that lets it continue. */
export async function heldRead (app: App, key: string, begin: () => void): Promise<() => void> {
  const { get } = app.store
  const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  app.store.get = async (read) => {
    if (read === key) {
      app.store.get = get
      begun.resolve()
      await released.promise
    }
    return get(read)
  }
  begin()
  await begun.promise
  return released.resolve
}
