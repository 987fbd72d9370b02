// Writes to the store of a directory until it is killed, and prints a line for every write that was acknowledged:
// `batch <round>/<writer>/<seq>` for a transaction of three records, `count <n>` for an update of a single record.
import { writeSync } from 'node:fs'
import { systemClock } from '../../services/lib/clock.ts'
import { openStore } from '../../services/store/open.ts'
import { noise } from './backup.ts'

const WRITERS = 8

export const PARTS = ['a', 'b', 'c']
export const partsOf = (batch: string) => PARTS.map((part) => `batch/${batch}/${part}`)
export const emptyCounter = () => ({ count: 0 })

if (import.meta.main) {
  const [dir, round] = process.argv.slice(2)
  const store = await openStore({ dir, clock: systemClock })
  const counter = store.record('counter', emptyCounter)

  const write = async (writer: number) => {
    for (let seq = 0; ; seq++) {
      const batch = `${round}/${writer}/${seq}`
      const value = { batch, pad: noise((seq * 997) % 8_000) }
      await store.transact(partsOf(batch).map((key) => ({ type: 'put', key, value })))
      writeSync(1, `batch ${batch}\n`)
    }
  }
  const count = async () => {
    for (;;) {
      const { count } = await counter.update(({ count }) => ({ count: count + 1 }))
      writeSync(1, `count ${count}\n`)
    }
  }
  await Promise.all([count(), ...Array.from({ length: WRITERS }, (_, writer) => write(writer))])
}
