import { createHmac, hash } from 'node:crypto'
import { readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { namesIn } from './files.ts'
import type { Keys } from './keys.ts'
import { endsWhole } from './log-format.ts'
import { liveTables } from './manifest.ts'
import { isTableWhole } from './tables.ts'

// LevelDB drops what it cannot read of its log, finds no key behind a broken index, and says nothing of either. So a
// database that is closed gets a list of its files with their digests, and every opening counts up a session in it and
// beside it: what was changed, cut or taken away while nobody had it open is found before it is used.

/** The list of a closed database; while it is open, it has the other name and only its session counts. */
const CLOSED = 'INVENTORY'
const OPEN = 'INVENTORY.open'
const DATABASE_FILE = /^(?:CURRENT|MANIFEST-\d+|\d+\.(?:ldb|sst|log))$/

interface Inventory { session: number, files: Record<string, string> }

/** What is known of a database that is about to be opened. */
export interface Stock {
  /** The session that was counted last; undefined when there is no list that can be read. */
  session?: number
  /** Files that are not as the database was closed with, or there no more; of one not closed, its broken tables. */
  changed: string[]
  /** It was not closed, and its log ends within a record: as after a power cut, or after somebody cut it. */
  isCut: boolean
  /** Digests of the files that are as they were left, by name and identity: those need not be made again. */
  known: Map<string, string>
  /** Whether the list was made with the key of the data. */
  isAuthentic (keys: Keys): boolean
}

/** Compares the files of a database with the list that was made when it was closed. */
export async function takeStock (location: string): Promise<Stock> {
  const [closed, open] = await Promise.all([read(location, CLOSED), read(location, OPEN)])
  const { inventory, mac } = parse(closed ?? open)
  const isAuthentic = (keys: Keys) => inventory !== undefined && mac === macOf(keys, inventory)
  if (closed === undefined || !inventory) {
    return { session: inventory?.session, changed: await brokenTables(location), isCut: await isCut(location), known: new Map(), isAuthentic }
  }
  const { files, known } = await digests(location, new Map())
  const changed = Object.keys({ ...files, ...inventory.files }).filter((name) => files[name] !== inventory.files[name])
  return { session: inventory.session, changed, isCut: false, known, isAuthentic }
}

/** Says that the database is about to be opened. LevelDB syncs the directory before it changes anything in it. */
export async function breakOpen (location: string, { session }: Stock): Promise<void> {
  if (session === undefined) return await dropInventory(location)
  await rename(join(location, CLOSED), join(location, OPEN)).catch(unlessMissing)
}

/** Says which session has the database open; on disk when it resolves. */
export const noteSession = (location: string, keys: Keys, session: number): Promise<void> => write(location, OPEN, keys, { session, files: {} })

/** Lists the files of a database that was closed; on disk when it resolves. */
export async function closeInventory (location: string, keys: Keys, session: number, known: Stock['known']): Promise<void> {
  const { files } = await digests(location, known)
  await write(location, CLOSED, keys, { session, files })
  await rm(join(location, OPEN), { force: true })
}

/** Takes the list away from a database whose files are made anew. */
export async function dropInventory (location: string): Promise<void> {
  for (const name of [CLOSED, OPEN]) await rm(join(location, name), { force: true, recursive: true })
}

/** Whether LevelDB left out parts of its log when it opened the database: it says so only in a log of its own. */
export async function hasDropped (location: string): Promise<boolean> {
  return / dropping \d+ bytes/.test(await read(location, 'LOG') ?? '')
}

async function digests (location: string, known: Stock['known']) {
  const files: Inventory['files'] = {}
  const now: Stock['known'] = new Map()
  for (const name of (await namesIn(location)).filter((name) => DATABASE_FILE.test(name)).sort()) {
    const path = join(location, name)
    const stats = await stat(path)
    const identity = `${name} ${stats.ino} ${stats.size} ${stats.mtimeMs}`
    files[name] = known.get(identity) ?? (stats.isFile() ? hash('sha256', await readFile(path)) : 'no file')
    now.set(identity, files[name])
  }
  return { files, known: now }
}

async function write (location: string, name: string, keys: Keys, inventory: Inventory): Promise<void> {
  const { default: writeFileAtomic } = await import('write-file-atomic')
  await writeFileAtomic(join(location, name), JSON.stringify({ ...inventory, mac: macOf(keys, inventory) }), { mode: 0o600 })
}

async function read (location: string, name: string): Promise<string | undefined> {
  return await readFile(join(location, name), 'utf8').catch((error) => error.code === 'EISDIR' ? '' : unlessMissing(error))
}

function parse (text = ''): { inventory?: Inventory, mac?: string } {
  try {
    const { session, files, mac } = JSON.parse(text)
    return Number.isSafeInteger(session) && typeof files === 'object' && files !== null ? { inventory: { session, files }, mac } : {}
  } catch {
    return {}
  }
}

const macOf = (keys: Keys, { session, files }: Inventory): string => createHmac('sha256', keys.inventory).update(JSON.stringify([session, files])).digest('hex')

/** The tables of the database with bytes missing or changed. One that is not there LevelDB misses itself. */
async function brokenTables (location: string): Promise<string[]> {
  const manifest = (await read(location, 'CURRENT') ?? '').trim()
  if (!/^MANIFEST-\d+$/.test(manifest)) return []
  const live = liveTables(await readFile(join(location, manifest)).catch(() => Buffer.of()))
  const broken: string[] = []
  for (const name of (await namesIn(location)).filter((name) => /^\d+\.(?:ldb|sst)$/.test(name) && live.has(parseInt(name)))) {
    if (!isTableWhole(await readFile(join(location, name)).catch(() => Buffer.of()))) broken.push(name)
  }
  return broken
}

async function isCut (location: string): Promise<boolean> {
  for (const name of (await namesIn(location)).filter((name) => /^\d+\.log$/.test(name))) {
    if (!endsWhole(await readFile(join(location, name)).catch(() => Buffer.of(0)))) return true
  }
  return false
}

function unlessMissing (error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
