import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import type { Op, StoreOptions } from '../../../services/store/store-types.ts'
import { openStore } from '../../../services/store/open.ts'
import { collect } from './helper.ts'

const SESSIONS = 3
const RECORDS = 12

/** What lies in a store made by `makeStore`. */
const WANTED = new Map(
  Array.from({ length: SESSIONS * RECORDS }, (_, n) => [`k/${String(n).padStart(3, '0')}`, { n, text: 'acknowledged' }])
)

/**
 * A small store in `dir`, of tables and a log. `closed` is one that was closed; `killed` is what a killed process
 * leaves behind.
 */
export async function makeStore (dir: string): Promise<{ closed: string, killed: string }> {
  const [closed, killed] = [join(dir, 'closed'), join(dir, 'killed')]
  const ops = [...WANTED].map(([key, value]): Op => ({ type: 'put', key, value }))
  for (let session = 0; session < SESSIONS; session++) {
    const store = await openStore({ dir: closed, clock: systemClock })
    for (const op of ops.slice(session * RECORDS, (session + 1) * RECORDS)) await store.transact([op])
    if (session === SESSIONS - 1) cpSync(closed, killed, { recursive: true, filter: (path) => !path.endsWith('service.lock') })
    await store.close()
  }
  return { closed, killed }
}

/** What is done to a file; `other` is the same file of another store, if that has one. */
export type Harm = (path: string, other?: string) => void

/** A byte changed. */
export const flip = (at: (length: number) => number): Harm => (path) => {
  const bytes = readFileSync(path)
  bytes[at(bytes.length)] ^= 0x41
  writeFileSync(path, bytes)
}

const cut = (to: (length: number) => number): Harm => (path) => {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, to(bytes.length)))
}

export const HARMS: Record<string, Harm> = {
  'its first byte changed': flip(() => 0),
  'a byte in its middle changed': flip((length) => length >> 1),
  'its last byte changed': flip((length) => length - 1),
  'cut to nothing': cut(() => 0),
  'cut in half': cut((length) => length >> 1),
  'without its last byte': cut((length) => length - 1),
  removed: (path) => rmSync(path),
  'a folder in its place': (path) => {
    rmSync(path)
    mkdirSync(path)
  },
  'that of another store': (path, other) => {
    if (other) copyFileSync(other, path)
  }
}

/** The files of a store, by their paths in it. */
export const filesOf = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(dir.length + 1)).sort()

/** The same done so that inode, size and times stay: as a disk harms a file, nobody writes to it. */
export const unseen = (harm: Harm): Harm => (path, other) => {
  execFileSync('touch', ['-r', path, `${path}.times`])
  harm(path, other)
  execFileSync('touch', ['-r', `${path}.times`, path])
  rmSync(`${path}.times`)
}

/**
 * Opens a harmed store and says how that ended: `whole`, with every record; `told`, with less and a status that says
 * so; `refused`, with an exit code and a sentence. Anything else is `silent`, and wrong.
 */
export async function verdict (
  dir: string,
  options: Partial<StoreOptions> = {}
): Promise<{ verdict: 'whole' | 'told' | 'refused' | 'silent', detail: string }> {
  let store
  try {
    store = await openStore({ dir, clock: systemClock, ...options })
  } catch (error) {
    const { exitCode, code, message } = error as Error & { exitCode?: number, code?: string }
    const isClear = exitCode !== undefined || ['EISDIR', 'ENOTDIR', 'EACCES'].includes(code!)
    return { verdict: isClear ? 'refused' : 'silent', detail: message }
  }
  try {
    let error: Error | undefined
    const found = new Map(
      await collect(store.list('k/')).catch((caught) => {
        error = caught
        return []
      })
    )
    await store.checkTables()
    const { state, repaired, damaged } = store.status()
    const isWhole = !error && JSON.stringify([...found]) === JSON.stringify([...WANTED])
    const detail = `${error?.message ?? `${found.size} of ${WANTED.size} records`}, ${JSON.stringify(store.status())}`
    return { verdict: isWhole ? 'whole' : repaired || damaged || state === 'latched' ? 'told' : 'silent', detail }
  } finally {
    await store.close()
  }
}

/**
 * Harms each file of a copy of a store in each of the ways, and opens it. Returns what was wrong with that: the harms
 * after which records were missing and nobody said so, or the start was refused without an exit code.
 */
export async function harmEach (t: Test, from: string, { files = filesOf(from), harms = HARMS, otherStore, isOpened = false }: {
  files?: string[],
  harms?: Record<string, Harm>,
  otherStore?: string,
  /** Each copy is opened and closed before: its files are those of its list, inodes and all. */
  isOpened?: boolean
}) {
  const dir = join(t.testdirName, 'harmed')
  const wrong: string[] = []
  const verdicts: Record<string, number> = {}
  for (const file of files) {
    for (const [what, harm] of Object.entries(harms)) {
      rmSync(dir, { recursive: true, force: true })
      cpSync(from, dir, { recursive: true })
      if (isOpened) await (await openStore({ dir, clock: systemClock })).close()
      const other = otherStore && join(otherStore, file)
      harm(join(dir, file), other && existsSync(other) ? other : undefined)
      const { verdict: found, detail } = await verdict(dir)
      verdicts[found] = (verdicts[found] ?? 0) + 1
      if (found === 'silent') wrong.push(`${file}, ${what}: ${detail}`)
    }
  }
  return { wrong, verdicts }
}
