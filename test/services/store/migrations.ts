// Migrations for the tests; run with a directory and a number it is killed when it has yielded that many batches.
import { systemClock } from '../../../services/lib/clock.ts'
import type { Migration } from '../../../services/store/store-types.ts'
import { openStore } from '../../../services/store/open.ts'

export const KEYS = Array.from({ length: 5 }, (_, i) => `task/${i}`)

/** Adds a field, all in one batch. */
export const addCount: Migration = {
  to: 2,
  async * migrate (data) {
    for await (const [key, value] of data.list<object>('task/')) yield [{ type: 'put', key, value: { ...value, count: 1 } }]
  }
}

/** Moves every record, each in a batch of its own. */
export const rename: Migration = {
  to: 2,
  async * migrate (data) {
    for await (const [key, value] of data.list('task/')) {
      yield [{ type: 'del', key }, { type: 'put', key: key.replace('task/', 'job/'), value }]
    }
  }
}

if (import.meta.main) {
  const [dir, killAt] = process.argv.slice(2)
  let yielded = 0
  const dying: Migration = {
    to: 2,
    async * migrate (data) {
      for await (const batch of rename.migrate(data)) {
        if (yielded++ === Number(killAt)) {
          process.stdout.write(`killed at batch ${killAt}\n`, () => process.kill(process.pid, 'SIGKILL'))
          await new Promise(() => {})
        }
        yield batch
      }
    }
  }
  setInterval(() => {}, 60_000)
  await openStore({ dir, clock: systemClock, migrations: [dying] })
}
