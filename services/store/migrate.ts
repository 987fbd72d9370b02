import type { Log } from '../lib/log.ts'
import type { Clock } from '../lib/clock.ts'
import { endOf, entries, type Database, type RawOp } from './database.ts'
import { copyDatabase, keepNewest, stamp } from './database-files.ts'
import type { Keys } from './encryption-keys.ts'
import { metaOp, type Meta } from './meta-record.ts'
import { newestOf } from './migrations.ts'
import { MIGRATING, PLAIN } from './record-names.ts'
import { toRaw } from './raw-op.ts'
import { unseal } from './seal.ts'
import { isDamage } from './store-errors.ts'
import type { Migration, OldData } from './store-types.ts'

/** How many copies from before migrations are kept. */
const COPIES = 2

/**
 * Copies the database, then migrates the data to the newest schema step by step. Can be run again after a crash. Returns the database,
 * which was closed for the copy and opened again. Closes it if a step fails.
 */
export async function migrate ({ database, dir, location, keys, meta, steps, clock, log, reopen }: {
  database: Database,
  dir: string,
  location: string,
  keys: Keys,
  meta: Meta,
  steps: readonly Migration[],
  clock: Clock,
  log: Log | undefined,
  reopen: () => Promise<Database>
}): Promise<Database> {
  const copied = await keepCopy(database, location, `${location}.v${meta.schema.version}-${stamp(clock.now())}`, reopen)
  try {
    log?.info({ from: meta.schema, to: newestOf(steps) }, 'migrating the store')
    const due = steps.filter(({ to }) => to > meta.schema.version).toSorted((a, b) => a.to - b.to)
    for (const step of due) {
      let pending: RawOp[] = []
      for await (const ops of step.migrate(oldData(copied, keys))) {
        if (pending.length > 0) await copied.batch(pending, { sync: true })
        pending = ops.map((op) => toRaw(keys, op))
      }
      const cleanup: RawOp[] = step === due.at(-1) ? [{ type: 'del', key: MIGRATING }] : []
      await copied.batch([...pending, metaOp({ ...meta, schema: { ...meta.schema, version: step.to } }), ...cleanup], { sync: true })
    }
    await keepNewest(dir, 'data.v', COPIES)
    return copied
  } catch (error) {
    await copied.close()
    throw error
  }
}

/** Keeps a copy of the database from before the migration. Skips this when an earlier, interrupted migration already made the copy. */
async function keepCopy (database: Database, location: string, copy: string, reopen: () => Promise<Database>): Promise<Database> {
  if (await database.get(MIGRATING) !== undefined) return database
  await database.close()
  await copyDatabase(location, copy)
  const again = await reopen()
  try {
    await again.batch([{ type: 'put', key: MIGRATING, value: Buffer.from(copy) }], { sync: true })
    return again
  } catch (error) {
    await again.close()
    throw error
  }
}

function oldData (database: Database, keys: Keys): OldData {
  /** A damaged record stays as it is; it must not keep the store from opening. */
  const open = <T>(key: string, envelope: Buffer): T | undefined => {
    try {
      return unseal<T>(keys, key, envelope)
    } catch (error) {
      if (!isDamage(error)) throw error
      return undefined
    }
  }
  return {
    async get<T> (key: string) {
      const envelope = await database.get(key)
      return envelope && open<T>(key, envelope)
    },
    async * list<T> (prefix: string) {
      for await (const [key, envelope] of entries(database, { gte: prefix, lt: endOf(prefix) })) {
        const value = PLAIN.has(key) ? undefined : open<T>(key, envelope)
        if (value !== undefined) yield [key, value] as [string, T]
      }
    }
  }
}
