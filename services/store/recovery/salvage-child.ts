// Copies what can be read of a damaged database into a new one: node salvage.ts <damaged, repaired in place> <new>
// It is a process of its own, since LevelDB ends its process over some kinds of damage. It has no key.
import { ClassicLevel } from 'classic-level'
import { chunks, openLevel, type RawOp } from '../database.ts'

process.on('disconnect', () => process.exit(1))
const [from, to] = process.argv.slice(2)
await ClassicLevel.repair(from)
const damaged = await openLevel(from, { createIfMissing: false })
const fresh = await openLevel(to, { createIfMissing: true })
// A table that was repaired may hold keys out of order, over which later writes would fall: so all is written anew.
for await (const chunk of chunks(damaged, {})) {
  await fresh.batch(chunk.map(([key, value]): RawOp => ({ type: 'put', key, value })), { sync: true })
}
await damaged.close()
await fresh.close()
process.exit()
