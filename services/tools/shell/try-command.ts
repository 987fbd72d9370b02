import type { Stats } from 'node:fs'
import { lstat, readdir, readFile, readlink } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { Tool, TriedChange, TriedOut } from '../../contracts/tool.ts'
import { createOverlay, OBEYED, type Overlay, type Sandbox } from '../../sandbox/index.ts'
import { unifiedDiff } from '../files/diff.ts'
import { withFolder } from '../../workspace/index.ts'
import type { PathPolicy } from '../path-policy.ts'
import { locateFolder } from '../work-folder.ts'
import { cleaned, commandEnd, FLOOD_BYTES } from './command-output.ts'

/** A command that is tried out may take so long, milliseconds. */
const TRY_MS = 30_000
/** Changes that are shown, and differences among them. */
const MOST_CHANGES = 500
const MOST_DIFFS = 50
/** Longer files are not compared; bytes. */
const COMPARED_BYTES = 256 * 1024

interface Input {
  command: string
  cwd?: string
  network?: string[]
  outside?: boolean
}

/**
 * Creates the function that runs a command over an overlay of its working folder, in the box without network, and returns what it did
 * there. Nothing of it stays.
 */
export function createTryCommand ({ paths, clock, sandbox }: { paths: PathPolicy, clock: Clock, sandbox: Sandbox }): Tool<Input>['tryOut'] {
  return async ({ command, cwd = '.', network, outside }, { cwd: base, narrowed, signal }): Promise<TriedOut> => {
    if (outside) return { refused: 'A command that runs outside the box cannot be tried out.' }
    const place = await paths.resolve(cwd, base).then(locateFolder, () => undefined)
    if (place === undefined) return { refused: `The command cannot be tried out: ${JSON.stringify(cwd)} is gone, or no place for it.` }
    const boundary = await sandbox.boundary({}, { folder: place, base, narrowed })
    if (boundary.is === 'outside' || boundary.is === 'refused') return { refused: `The command cannot be tried out. ${boundary.why}` }
    if (!await sandbox.canTry()) {
      return { refused: 'Commands cannot be tried out on this computer: its box cannot lay one folder over another.' }
    }
    const overlay = await createOverlay()
    if (overlay === undefined) return { refused: 'Commands cannot be tried out: the name of the folder for temporary files is not usable.' }
    const { path: lower } = boundary.folder
    try {
      const { child, finish } = await withFolder(lower, (folder) => sandbox.start(command, { folder, cwd: place.path, overlay }))
      const { exit, streams, timedOut, isFlood } = await commandEnd(child, { clock, ms: TRY_MS, signal })
      await finish()
      signal.throwIfAborted()
      const { stdout, stderr } = cleaned({ stdout: streams[0].text(), stderr: streams[1].text() }) as { stdout: string, stderr: string }
      const { changes, isCut } = await changesOver(overlay, lower)
      const notes = [
        network !== undefined && 'It was tried without a network.',
        timedOut && `It was ended after ${TRY_MS / 1000} s.`,
        isFlood && `It was killed for writing more than ${FLOOD_BYTES} bytes.`,
        isCut && `More than ${MOST_CHANGES} changes are not shown.`,
        /cross-device/i.test(stderr) && 'A folder could not be renamed because the command was only tried out.',
        ...changes.filter(({ path, kind }) => kind === 'created' && OBEYED.includes(relative(lower, path))).map(({ path }) =>
          `${path} would be renamed afterwards, because programs outside the box obey it.`
        )
      ].filter((note) => note !== false)
      return { changes, ran: { exitCode: exit.code, stdout, stderr, ...(timedOut && { timedOut }), note: notes.join(' ') } }
    } finally {
      await overlay.remove()
    }
  }
}

/** What the upper folder of an overlay changes of the lower one. */
async function changesOver (overlay: Overlay, lower: string): Promise<{ changes: TriedChange[], isCut: boolean }> {
  const listed = await readFile(overlay.list, 'utf8').catch(() => undefined)
  const there = listed === undefined ? undefined : new Set(listed.split('\0').map((path) => path.slice(2)))
  const changes: TriedChange[] = []
  let diffs = 0
  let isCut = false
  const add = (change: TriedChange) => {
    if (changes.length < MOST_CHANGES) changes.push(change)
    else isCut = true
  }
  const below = (path: string) => join(lower, path)

  async function inside (path: string): Promise<void> {
    const prefix = path === '' ? '' : `${path}/`
    const [upper, old] = await Promise.all([namesIn(join(overlay.upper, path)), namesIn(below(path))])
    const written = new Set(upper)
    for (const name of old) {
      const inner = prefix + name
      const isGone = there === undefined ? written.has(name) && await isWhiteout(join(overlay.upper, inner)) : !there.has(inner)
      if (isGone) await remove(inner, await statOf(below(inner)))
    }
    for (const name of upper) {
      if (isCut) return
      const inner = prefix + name
      const now = await statOf(join(overlay.upper, inner))
      if (now === undefined || (now.isCharacterDevice() && now.rdev === 0)) continue
      await compare(inner, now, await statOf(below(inner)))
    }
  }

  async function remove (path: string, before: Stats | undefined): Promise<void> {
    const old = before && await textOf(below(path), before)
    const diff = old !== undefined && diffs++ < MOST_DIFFS ? { diff: await unifiedDiff(path, old, '') } : {}
    add({ path: below(path), kind: 'deleted', ...before?.isDirectory() && { withContents: true }, ...diff })
  }

  async function compare (path: string, now: Stats, before: Stats | undefined): Promise<void> {
    if (now.isDirectory()) {
      if (before?.isDirectory()) {
        if ((now.mode & 0o777) !== (before.mode & 0o777)) add({ path: below(path), kind: 'changed', mode: modeText(now) })
        return inside(path)
      }
      const isFilled = (await namesIn(join(overlay.upper, path))).length > 0
      const kind = before === undefined ? 'created' : 'changed'
      return add({ path: below(path), kind, ...isFilled && { withContents: true, ...await newTexts(path) } })
    }
    const text = await textOf(join(overlay.upper, path), now)
    const old = before === undefined ? null : await textOf(below(path), before)
    const mode = before !== undefined && (now.mode & 0o777) !== (before.mode & 0o777) ? { mode: modeText(now) } : {}
    // A file whose permissions, times or links alone were touched is copied up as well.
    if (before?.isFile() && now.isFile() && text !== undefined && text === old && mode.mode === undefined) return
    const diff = text !== undefined && diffs++ < MOST_DIFFS ? { diff: await unifiedDiff(path, old, text) } : {}
    add({ path: below(path), kind: before === undefined ? 'created' : 'changed', ...mode, ...diff.diff === '' ? {} : diff })
  }

  async function newTexts (path: string): Promise<{ diff?: string }> {
    const texts = await diffsInside(overlay.upper, path, MOST_DIFFS - diffs)
    diffs += texts.length
    return texts.length === 0 ? {} : { diff: texts.join('\n') }
  }

  await inside('')
  return { changes, isCut }
}

/** Returns the texts of at most so many files in a new folder, as differences from nothing. */
async function diffsInside (upper: string, path: string, most: number): Promise<string[]> {
  const texts: string[] = []
  for (const name of (await namesIn(join(upper, path))).sort()) {
    if (texts.length >= most) break
    const inner = `${path}/${name}`
    const stat = await statOf(join(upper, inner))
    const text = stat && await textOf(join(upper, inner), stat)
    if (stat?.isDirectory()) texts.push(...await diffsInside(upper, inner, most - texts.length))
    else if (text !== undefined) texts.push(await unifiedDiff(inner, null, text))
  }
  return texts
}

const modeText = ({ mode }: Stats): string => (mode & 0o777).toString(8)
const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
const statOf = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined)
const isWhiteout = async (path: string): Promise<boolean> => {
  const stat = await statOf(path)
  return stat !== undefined && stat.isCharacterDevice() && stat.rdev === 0
}

/** The text of a file, or where a link leads; undefined for what is no text or too long. */
async function textOf (path: string, stat: Stats): Promise<string | undefined> {
  if (stat.isSymbolicLink()) return readlink(path).catch(() => undefined)
  if (!stat.isFile() || stat.size > COMPARED_BYTES) return undefined
  const bytes = await readFile(path).catch(() => undefined)
  return bytes === undefined || bytes.includes(0) ? undefined : bytes.toString('utf8')
}
