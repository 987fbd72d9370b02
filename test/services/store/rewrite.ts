import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { entries, openLevel, type RawOp } from '../../../services/store/database.ts'

/** Writes to the closed database, and takes away the list of its files that would tell. */
export async function rewrite (dir: string, change: (get: (key: string) => Promise<Buffer>) => Promise<RawOp[]>) {
  const level = await openLevel(join(dir, 'data'), { createIfMissing: false })
  await level.batch(await change(async (key) => (await level.get(key))!), { sync: true })
  await level.close()
  for (const name of readdirSync(join(dir, 'data'))) if (name.startsWith('INVENTORY')) rmSync(join(dir, 'data', name))
}

/** Alters a bit of those records, as a disk may. */
export const damage = (dir: string, keys: string[]) =>
  rewrite(dir, (get) =>
    Promise.all(keys.map(async (key): Promise<RawOp> => {
      const value = Buffer.from(await get(key))
      value[value.length - 20] ^= 1
      return { type: 'put', key, value }
    })))

/** Names the schema as builds from before base schema 1 did. Returns all that the database holds, to compare. */
export async function ofEarlierBuild (dir: string, schema: number): Promise<Array<[key: string, value: Buffer]>> {
  const found: Array<[key: string, value: Buffer]> = []
  const level = await openLevel(join(dir, 'data'), { createIfMissing: false })
  const meta = JSON.parse(String(await level.get('!meta')))
  await level.batch([{ type: 'put', key: '!meta', value: Buffer.from(JSON.stringify({ ...meta, schema })) }], { sync: true })
  for await (const entry of entries(level, {})) found.push(entry)
  await level.close()
  return found
}
