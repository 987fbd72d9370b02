import { endOf, entries, type Database, type RawOp } from './database.ts'
import type { Keys } from './encryption-keys.ts'
import type { Op } from './store-types.ts'
import { metaOp, type Meta } from './meta-record.ts'
import { isDamage } from './store-errors.ts'
import type { Migration, OldData } from './store-types.ts'
import { MIGRATING, PLAIN } from './record-names.ts'
import { seal, toJson, unseal } from './seal.ts'

/** Migrates the data to the newest schema, one step after the other. Can be run again after a crash. */
export async function migrate (database: Database, keys: Keys, meta: Meta, steps: readonly Migration[]): Promise<void> {
  const due = steps.filter(({ to }) => to > meta.schema.version).toSorted((a, b) => a.to - b.to)
  for (const step of due) {
    let pending: RawOp[] = []
    for await (const ops of step.migrate(oldData(database, keys))) {
      if (pending.length > 0) await database.batch(pending, { sync: true })
      pending = ops.map((op) => toRaw(keys, op))
    }
    const cleanup: RawOp[] = step === due.at(-1) ? [{ type: 'del', key: MIGRATING }] : []
    await database.batch([...pending, metaOp({ ...meta, schema: { ...meta.schema, version: step.to } }), ...cleanup], { sync: true })
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

/** Converts an operation for LevelDB: encrypts the value of a put. */
export const toRaw = (keys: Keys, op: Op): RawOp =>
  op.type === 'put' ? { type: 'put', key: op.key, value: seal(keys, op.key, toJson(op.key, op.value)) } : { type: 'del', key: op.key }
