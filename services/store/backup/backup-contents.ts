import { isLocal } from '../keys.ts'
import type { StoreContents } from '../store-types.ts'
import { isRecord } from '../record-names.ts'
import { readSchema, type SchemaVersion } from '../schema-version.ts'
import { VERSION } from '../../lib/version.ts'
import { BackupDamaged } from './backup-errors.ts'

// A backup is a sequence of JSON lines: head, configuration, [key, value] of each record, number of records.

export interface Head {
  backup: 1
  schema: SchemaVersion
  version: string
  createdAt: number
  digestKey: string
}

/** Yields the lines of a backup. */
export async function * linesOf ({ schema, digestKey, records }: StoreContents, config: object, createdAt: number): AsyncGenerator<string> {
  yield JSON.stringify({ backup: 1, schema, version: VERSION, createdAt, digestKey: digestKey.toString('base64') } satisfies Head)
  yield JSON.stringify({ config })
  let end = 0
  for await (const record of records) {
    if (isLocal(record[0])) continue
    end++
    yield JSON.stringify(record)
  }
  yield JSON.stringify({ end })
}

/** Reads the lines of a backup: head and configuration first, then the records. Throws BackupDamaged (400). */
export async function readLines (
  lines: AsyncGenerator<string>
): Promise<{ head: Head, config: object, records: AsyncGenerator<[key: string, value: unknown]> }> {
  const next = async (): Promise<any> => {
    const { done, value } = await lines.next()
    return done ? undefined : parse(value)
  }
  const written: Head | undefined = await next()
  const schema = readSchema(written?.schema)
  if (written?.backup !== 1 || schema === undefined || typeof written.digestKey !== 'string') {
    throw new BackupDamaged('its first line is not the head of a backup')
  }
  const config = (await next())?.config
  if (typeof config !== 'object' || config === null || Array.isArray(config)) throw new BackupDamaged('its configuration is missing')
  return { head: { ...written, schema }, config, records: records() }

  async function * records (): AsyncGenerator<[string, unknown]> {
    for (let count = 0; ; count++) {
      const entry = await next()
      if (entry?.end === count && (await lines.next()).done) return
      const isValid = Array.isArray(entry) && entry.length === 2 && typeof entry[0] === 'string' && isRecord(entry[0])
      if (!isValid) throw new BackupDamaged(`record ${count + 1} cannot be read`)
      if (!isLocal(entry[0])) yield entry as [string, unknown]
    }
  }
}

function parse (line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw new BackupDamaged('one of its lines cannot be read')
  }
}
