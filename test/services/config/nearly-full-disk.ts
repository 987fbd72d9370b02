// A configuration folder on the small disk at the directory given, which has room for a part of a save alone. Prints what was seen as JSON.
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { openConfig } from '../../../services/config/config.ts'

const dir = process.argv[2]
const file = `${dir}/config.json`
const ballast = `${dir}/ballast`
const before = JSON.stringify({ long: 'x'.repeat(256 * 1024) })
writeFileSync(file, before)
const config = await openConfig({ dir })

function leave (bytes: number) {
  try {
    for (;;) appendFileSync(ballast, Buffer.alloc(4096))
  } catch {}
  truncateSync(ballast, statSync(ballast).size - bytes)
}

const saves: unknown[] = []
for (const room of [0, 4096, 100 * 1024]) {
  leave(room)
  const outcome = await config.update((config) => ({ ...config, port: 2 })).then(() => 'saved', ({ code, message }) => ({ code, message }))
  saves.push({
    outcome,
    isAsBefore: readFileSync(file, 'utf8') === before,
    port: config.current.port,
    files: readdirSync(dir).sort()
  })
}
truncateSync(ballast, 0)
await config.update((config) => ({ ...config, port: 3 }))
console.log(JSON.stringify({ saves, after: JSON.parse(readFileSync(file, 'utf8')).port }))
