// Fills the small disk at the directory given, makes room again, and prints what it saw as one line of JSON.
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../../services/lib/clock.ts'
import { openStore } from '../../../services/store/open.ts'
import { noise } from '../../faults/backup.ts'
import { collect, until } from './helper.ts'

const dir = process.argv[2]
const ballast = join(dir, 'ballast')
writeFileSync(ballast, Buffer.alloc(4 * 1024 * 1024))
const store = await openStore({ dir, clock: systemClock })
const acknowledged: string[] = []
const keys = async (from: typeof store) => (await collect(from.list('k/'))).map(([key]) => key)

const write = async (key: string) => {
  await store.transact([{ type: 'put', key, value: noise(10_000) }])
  acknowledged.push(key)
}
const fill = async () => {
  for (let i = 0; i < 10_000; i++) await write(`k/${String(i).padStart(5, '0')}`)
}
const codeOf = (attempt: Promise<void>) => attempt.then(() => 'written', ({ code, message }) => `${code} ${message}`)

const failure = await codeOf(fill())
const latched = store.status()
const late = await codeOf(write('k/late'))
rmSync(ballast)
await until(() => store.status().state === 'ok', 'the store recovered')
await write('k/room')
const found = await keys(store)
await store.close()
const again = await openStore({ dir, clock: systemClock })
const kept = await keys(again)
await again.close()
console.log(JSON.stringify({ failure, latched, late, acknowledged, found, kept }))
