import { createHash } from 'node:crypto'
import { lstat, open, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The most bytes of a file that is searched for in git, because the blobs of git begin with the length of their content. */
const LARGEST = 1024 ** 2
const MOST_PACKS = 200
/** Byte offsets in the index of a pack: of the counts by first byte, and of the sorted object names (gitformat-pack(5), version 2). */
const COUNTS_AT = 8
const NAMES_AT = COUNTS_AT + 256 * 4
const INDEX_BEGIN = 'ff744f6300000002'

/** Whether a file of git that holds an object, or is the index of a pack, counts as evidence. */
type MayVouch = (path: string) => Promise<boolean>

/**
 * Returns whether git had the content of a file, in the repository around it, before a time (milliseconds since the Unix epoch): then git
 * might have checked it out. The time is that of the last change of git's own files (ctime), which nobody can set.
 */
export async function wasInGit (path: string, before: number, mayVouch: MayVouch = async () => true): Promise<boolean> {
  try {
    if ((await lstat(path)).size > LARGEST) return false
    const content = await readFile(path)
    const name = createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
    const objects = await objectsAround(dirname(path))
    if (objects === undefined) return false
    const isKnown = async (file: string) => await isOlder(file, before) && await mayVouch(file)
    return await isKnown(join(objects, name.slice(0, 2), name.slice(2))) || await isInPack(join(objects, 'pack'), name, isKnown)
  } catch {
    return false
  }
}

const isOlder = (path: string, before: number): Promise<boolean> =>
  lstat(path).then(({ ctimeMs }) => ctimeMs < before, () => false)

/** Returns the path of the folder with git's objects, for a folder in a repository; undefined outside of repositories. */
async function objectsAround (folder: string): Promise<string | undefined> {
  const dotGit = join(folder, '.git')
  const stat = await lstat(dotGit).catch(() => undefined)
  if (stat?.isDirectory()) return join(dotGit, 'objects')
  if (stat?.isFile()) {
    const [, named] = /^gitdir: (.+)$/m.exec(await readFile(dotGit, 'utf8')) ?? []
    if (named === undefined) return undefined
    const own = resolve(folder, named)
    const common = await readFile(join(own, 'commondir'), 'utf8').catch(() => '.')
    return join(own, common.trim(), 'objects')
  }
  return dirname(folder) === folder ? undefined : objectsAround(dirname(folder))
}

async function isInPack (folder: string, name: string, isKnown: MayVouch): Promise<boolean> {
  const files = await readdir(folder).catch(() => [])
  for (const file of files.filter((each) => each.endsWith('.idx')).slice(0, MOST_PACKS)) {
    if (await isInIndex(join(folder, file), Buffer.from(name, 'hex')) && await isKnown(join(folder, file))) return true
  }
  return false
}

/** Searches the sorted list of an index for a name. */
async function isInIndex (path: string, name: Buffer): Promise<boolean> {
  const file = await open(path)
  const read = async (bytes: number, at: number) => (await file.read(Buffer.alloc(bytes), 0, bytes, at)).buffer
  const countAt = async (n: number) => n < 0 ? 0 : (await read(4, COUNTS_AT + n * 4)).readUInt32BE()
  try {
    if ((await read(8, 0)).toString('hex') !== INDEX_BEGIN) return false
    let [low, high] = [await countAt(name[0] - 1), await countAt(name[0])]
    while (low < high) {
      const middle = (low + high) >>> 1
      const order = (await read(name.length, NAMES_AT + middle * name.length)).compare(name)
      if (order === 0) return true
      if (order < 0) low = middle + 1
      else high = middle
    }
    return false
  } finally {
    await file.close()
  }
}
