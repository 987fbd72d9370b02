import { type FileHandle, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Clock } from '../../lib/clock.ts'
import type { CommandOfCall, TriedChange, TriedOut } from '../../contracts/tool.ts'
import { isOpened } from '../../lib/obeyed-names.ts'
import { createOverlay, type Overlay, type Sandbox } from '../../sandbox/index.ts'
import { unifiedDiff } from '../files/diff.ts'
import { describeChange, isSame, isUnchanged, lookAt, type Place, readText, readWhole, withFolder } from '../../workspace/index.ts'
import type { PathPolicy } from '../path-policy.ts'
import { locateFolder } from '../work-folder.ts'
import { cleaned, commandEnd, FLOOD_BYTES } from './command-output.ts'

/** The time limit of a command that is tried out, in milliseconds. */
const TRY_MS = 30_000
/** The most changes that are shown, and the most diffs among them. */
const MOST_CHANGES = 500
const MOST_DIFFS = 50
/** The largest file, in bytes, whose content is compared. A larger one counts as changed if the command opened it for writing. */
const READ_BYTES = 16 * 1024 ** 2

interface Input {
  command: string
  cwd?: string
  network?: string[]
  outside?: boolean
}

/**
 * Creates a function that runs a command over an overlay of its working folder, in a box (a sandbox) and without network. It returns the
 * changes that the command made in the overlay, and then removes them.
 */
export function createTryCommand ({ paths, clock, sandbox }: { paths: PathPolicy, clock: Clock, sandbox: Sandbox }) {
  return async (
    { command, cwd = '.', network, outside }: Input,
    { cwd: base, narrowed, signal }: Parameters<CommandOfCall['tryOut']>[0]
  ): Promise<TriedOut> => {
    if (outside) return { refused: 'A command that runs outside the box cannot be tried out.' }
    const place = await paths.resolve(cwd, base).then(locateFolder, () => undefined)
    if (place === undefined) {
      return { refused: `The command cannot be tried out: ${JSON.stringify(cwd)} does not exist, or is no folder that commands may use.` }
    }
    const boundary = await sandbox.boundary({}, { folder: place, base, narrowed })
    if (boundary.is === 'outside' || boundary.is === 'refused') return { refused: `The command cannot be tried out. ${boundary.why}` }
    if (!await sandbox.canTry()) {
      return { refused: 'Commands cannot be tried out on this computer: its box cannot mount an overlay of a folder.' }
    }
    const overlay = await createOverlay()
    if (overlay === undefined) return { refused: 'Commands cannot be tried out: the name of the folder for temporary files is not usable.' }
    const { path: lower } = boundary.folder
    try {
      const { child, finish } = await withFolder(lower, (folder) => sandbox.start(command, { folder, cwd: place.path, overlay }))
      const { exit, streams, timedOut, isFlood } = await commandEnd(child, { clock, ms: TRY_MS, signal })
      const { notes: more } = await finish()
      signal.throwIfAborted()
      const { stdout, stderr } = cleaned({ stdout: streams[0].text(), stderr: streams[1].text() }) as { stdout: string, stderr: string }
      const { changes, isCut } = await changesOver(overlay, lower, paths)
      const notes = [
        network !== undefined && 'It was tried without a network.',
        ...more,
        timedOut && `It was ended after ${TRY_MS / 1000} s.`,
        isFlood && `It was killed for writing more than ${FLOOD_BYTES} bytes.`,
        isCut && `More than ${MOST_CHANGES} changes are not shown.`,
        /cross-device/i.test(stderr) && 'A folder could not be renamed because the command was only tried out.',
        ...changes.filter(({ path, kind }) => kind === 'created' && isOpened(basename(dirname(path)), basename(path))).map(({ path }) =>
          `${path} would be renamed afterwards, because programs outside the box obey it.`
        )
      ].filter((note) => note !== false)
      return { changes, ran: { exitCode: exit.code, stdout, stderr, ...(timedOut && { timedOut }), note: notes.join(' ') } }
    } finally {
      await overlay.remove()
    }
  }
}

/**
 * Returns the changes to the lower folder of an overlay that its upper folder contains. `isCut` is true if there are more than
 * MOST_CHANGES.
 */
async function changesOver (overlay: Overlay, lower: string, paths: PathPolicy): Promise<{ changes: TriedChange[], isCut: boolean }> {
  const listed = await readFile(overlay.list, 'utf8').catch(() => undefined)
  const there = listed === undefined ? undefined : new Set(listed.split('\0').map((path) => path.slice(2)))
  const below = (path: string) => join(lower, path)
  const over = (path: string) => join(overlay.upper, path)
  const found: Array<{ path: string, before: Place, after: Place }> = []

  async function inside (path: string): Promise<void> {
    const prefix = path === '' ? '' : `${path}/`
    const upper = await namesIn(over(path))
    for (const name of new Set([...await namesIn(below(path)), ...upper])) {
      if (found.length > MOST_CHANGES) return
      const inner = prefix + name
      const now = await placeAt(over(inner), paths)
      const isGone = there === undefined ? now?.kind === 'other' : !there.has(inner)
      if (now === null && !isGone) continue
      const before = await placeAt(below(inner), paths)
      const after = isGone ? null : now
      if (!isUnchanged(before, after)) found.push({ path: inner, before, after })
      if (before?.kind === 'folder' && after?.kind === 'folder') await inside(inner)
    }
  }

  /** Returns the text of a file, or the target of a link; null if nothing is there, undefined if the content is not text or too long. */
  const textOf = async (path: string, place: Place) =>
    place?.kind === 'link' ? place.target : readText(place, { from: path }, { folder: '', paths })

  async function textsOf (path: string, before: Place, after: Place, most: number): Promise<string[]> {
    if (most <= 0 || isSame(before, after)) return []
    if (after?.kind === 'folder') return textsInside(path, most)
    const [old, now] = [await textOf(below(path), before), await textOf(over(path), after)]
    return now === undefined || (now === null && typeof old !== 'string') ? [] : [await unifiedDiff(path, old, now ?? '')]
  }

  /** Returns diffs, compared with nothing, of at most `most` files in a new folder. */
  async function textsInside (path: string, most: number): Promise<string[]> {
    const texts: string[] = []
    for (const name of (await namesIn(over(path))).sort()) {
      const inner = `${path}/${name}`
      texts.push(...await textsOf(inner, null, await placeAt(over(inner), paths), most - texts.length))
    }
    return texts
  }

  await inside('')
  const changes: TriedChange[] = []
  let left = MOST_DIFFS
  for (const { path, before, after } of found.slice(0, MOST_CHANGES)) {
    const isFilled = !isSame(before, after) && (await namesIn(after === null ? below(path) : over(path))).length > 0
    const texts = await textsOf(path, before, after, left)
    left -= texts.length
    changes.push({
      path: below(path),
      ...describeChange(before, after),
      ...isFilled && { withContents: true },
      ...texts.length > 0 && { diff: texts.join('\n') }
    })
  }
  return { changes, isCut: found.length > MOST_CHANGES }
}

/** Returns the state of a path, without the content of a file that is larger than READ_BYTES. */
function placeAt (path: string, paths: PathPolicy): Promise<Place> {
  const read = async (file: FileHandle, size: number) => size > READ_BYTES ? undefined : readWhole(file, { limit: READ_BYTES, size })
  return lookAt(path, undefined, { paths, read }).catch(() => null)
}

const namesIn = (folder: string): Promise<string[]> => readdir(folder).catch(() => [])
