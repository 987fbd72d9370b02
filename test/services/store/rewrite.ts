import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openLevel, type RawOp } from '../../../services/store/database.ts'

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
