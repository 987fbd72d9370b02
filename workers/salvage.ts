// Runs as a separate process, because LevelDB aborts its process on some kinds of damage. The process has no key, so it copies encrypted
// records.
import { ClassicLevel } from 'classic-level'
import { chunks, openLevel, type RawOp } from '../services/store/database.ts'

process.on('disconnect', () => process.exit(1))
void salvage(process.argv[2], process.argv[3]).then(() => process.exit())

async function salvage (from: string, to: string) {
  await ClassicLevel.repair(from)
  const damaged = await openLevel(from, { createIfMissing: false })
  const fresh = await openLevel(to, { createIfMissing: true })
  // A repaired table might hold keys out of order, which breaks later writes. So all records are copied into a new database.
  for await (const chunk of chunks(damaged, {})) {
    await fresh.batch(chunk.map(([key, value]): RawOp => ({ type: 'put', key, value })), { sync: true })
  }
  await damaged.close()
  await fresh.close()
}
