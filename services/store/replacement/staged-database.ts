import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { chunks, openLevel, type RawOp } from '../database.ts'
import { privateDirectory, syncFiles } from '../database-files.ts'
import type { Keys } from '../encryption-keys.ts'
import { metaOp, type Meta } from '../meta-record.ts'
import { DIGEST, describesDatabase, SESSION } from '../record-names.ts'
import { seal, toJson, unseal } from '../seal.ts'
import { emptyTables } from '../recovery/file-manifest.ts'
import { createTableList } from '../recovery/table-list.ts'
import { NEXT } from './replace.ts'

export type StagedDatabase = Awaited<ReturnType<typeof createStagedDatabase>>

/**
 * Creates a staged database that is to replace `{dir}/data`; see `commitReplacement`. `keys` encrypt its records and include
 * its digest key.
 */
export async function createStagedDatabase ({ dir, keys, meta }: { dir: string, keys: Keys, meta: Meta }) {
  const location = join(dir, NEXT)
  await rm(location, { recursive: true, force: true })
  privateDirectory(location)
  let database = await openLevel(location, { createIfMissing: true })
  let count = 0
  /** Deletes the staged database. */
  const discard = async () => {
    await database.close()
    await rm(location, { recursive: true, force: true })
  }
  try {
    await database.batch([
      metaOp(meta),
      { type: 'put', key: SESSION, value: Buffer.from('1') },
      { type: 'put', key: DIGEST, value: seal(keys, DIGEST, toJson(DIGEST, { key: keys.digest.export().toString('base64') })) }
    ], { sync: true })
  } catch (error) {
    await discard()
    throw error
  }

  return {
    /** Adds records. A key must not be added twice. */
    async put (records: Array<[key: string, value: unknown]>): Promise<void> {
      count += records.length
      await database.batch(records.map(([key, value]): RawOp => ({ type: 'put', key, value: seal(keys, key, toJson(key, value)) })), {
        sync: false
      })
    },

    /** Syncs the database, reads it back and writes its manifest. Throws when the record count differs. */
    async finish (): Promise<void> {
      await database.batch([metaOp(meta)], { sync: true })
      await database.close()
      await syncFiles(location)
      database = await openLevel(location, { createIfMissing: false })
      let found = 0
      for await (const chunk of chunks(database, {})) {
        for (const [key, envelope] of chunk) {
          if (describesDatabase(key)) continue
          unseal(keys, key, envelope)
          found++
        }
      }
      await database.close()
      if (found !== count) throw new Error(`${found} records were read back of ${count}`)
      await createTableList({ location, keys, session: 1, manifest: emptyTables() }).seal()
      await syncFiles(location)
    },

    discard
  }
}
