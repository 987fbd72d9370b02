import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { newId } from '../../services/lib/ids.ts'
import { systemClock } from '../../services/lib/clock.ts'
import { createPathPolicy } from '../../services/tools/path-policy.ts'
import { cloneFolder, compareClone } from '../../services/workspace/clone-folder.ts'
import { refreshClone } from '../../services/workspace/index.ts'
import type { openUndo } from '../services/undo/helper.ts'

type Undo = Awaited<ReturnType<typeof openUndo>>
type Random = () => number

/** Returns numbers from 0 to 1 that a seed decides (mulberry32). */
function createRandom (seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Names in both normal forms, with control characters, and some that differ in case alone. */
const NAMES = [
  'a', 'A', 'b.txt', '.c', 'caf\u00e9', 'cafe\u0301', 'end\r', 'ta\tb', 'li\nne', 'sp ace', "it's", '\u65e5\u672c', '-rf', 'HEAD'
]
const MODES = [0o644, 0o600, 0o755, 0o400]

const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)]
const contentOf = (random: Random) => random() < 0.25 ? '' : String(random()).repeat(pick(random, [1, 3, 500]))

/** All paths below a folder; links are not followed. */
const pathsIn = (folder: string): string[] =>
  readdirSync(folder).map((name) => join(folder, name)).flatMap((path) => [path, ...kindOf(path) === 'folder' ? pathsIn(path) : []])
const kindOf = (path: string) => {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat === undefined ? 'nothing' : stat.isSymbolicLink() ? 'link' : stat.isDirectory() ? 'folder' : 'file'
}

/** A place in the tree: below one of its folders, under any name. */
const anyPlace = (random: Random, root: string): string =>
  join(pick(random, [root, ...pathsIn(root).filter((path) => kindOf(path) === 'folder')]), pick(random, NAMES))

function put (random: Random, root: string, place: string): void {
  const files = pathsIn(root).filter((path) => kindOf(path) === 'file')
  const what = random()
  if (what < 0.5) writeFileSync(place, contentOf(random), { mode: pick(random, MODES) })
  else if (what < 0.75) mkdirSync(place, { mode: pick(random, [0o755, 0o700, 0o555]) })
  else if (what < 0.9 || files.length === 0) symlinkSync(pick(random, ['a', '..', 'nowhere', 'b.txt', '.']), place)
  else linkSync(pick(random, files), place)
}

function lay (random: Random, root: string): void {
  for (let n = Math.floor(random() * 16); n >= 0; n--) {
    const place = anyPlace(random, root)
    if (kindOf(place) === 'nothing') put(random, root, place)
  }
}

/** One change of anything: contents, kinds, names, permissions. */
function change (random: Random, root: string): void {
  const paths = pathsIn(root)
  const place = paths.length === 0 || random() < 0.3 ? anyPlace(random, root) : pick(random, paths)
  const kind = kindOf(place)
  const what = random()
  if (kind === 'nothing') put(random, root, place)
  else if (what < 0.25) rmSync(place, { recursive: true })
  else if (what < 0.4) {
    const target = anyPlace(random, root)
    if (kindOf(target) === 'nothing' && !target.startsWith(`${place}/`)) renameSync(place, target)
  } else if (what < 0.6) {
    rmSync(place, { recursive: true })
    put(random, root, place)
  } else if (what < 0.7 && kind !== 'link') chmodSync(place, kind === 'folder' ? 0o711 : 0o640)
  else if (kind === 'file') {
    pick(random, [() => appendFileSync(place, 'more'), () => truncateSync(place), () => writeFileSync(place, contentOf(random))])()
  }
}

/** What is at each path: kind, permissions, and content or target. */
function stateOf (root: string): Record<string, string> {
  return Object.fromEntries(pathsIn(root).map((path) => {
    const kind = kindOf(path)
    const what = kind === 'link' ? readlinkSync(path) : kind === 'file' ? readFileSync(path, 'utf8') : ''
    return [path.slice(root.length + 1), `${kind} ${kind === 'link' ? '' : (lstatSync(path).mode & 0o777).toString(8)} ${what}`]
  }))
}

const isAtOrBelow = (path: string, other: string) => path === other || path.startsWith(`${other}/`)

/** A command that changes a random tree, with others who change some of it afterwards, and an undo. */
export async function survivesTree (t: Test, { undo, store, work }: Undo, seed: number): Promise<void> {
  const random = createRandom(seed)
  const root = join(work, `tree-${seed}`)
  mkdirSync(root)
  lay(random, root)
  const before = stateOf(root)
  const runId = newId()
  const { signal } = new AbortController()
  const call = { runId, owner: 'owner', toolCallId: newId(), toolName: 'runCommand', cwd: root, places: undefined, signal }
  const kept = await undo.keep({ ...call, command: { folder: root } })
  await store.transact(kept.ops)
  for (let n = Math.floor(random() * 8); n >= 0; n--) change(random, root)
  await store.transact((await kept.finish()).ops)

  const left = stateOf(root)
  // Nothing is known of a command that changed nothing.
  if (isDeepStrictEqual(left, before)) return
  if (random() < 0.4) for (let n = Math.floor(random() * 3); n >= 0; n--) change(random, root)
  const found = stateOf(root)
  const ofOthers = [...new Set([...Object.keys(left), ...Object.keys(found)])].filter((path) => left[path] !== found[path])
  const { skipped } = await undo.takeBack(runId, {})
  const after = stateOf(root)

  const name = `seed ${seed}`
  const named = skipped.map(({ path }) => path.slice(root.length + 1))
  t.same(skipped.filter(({ reason }) => reason === 'failed'), [], name)
  if (ofOthers.length === 0) {
    t.same(named, [], `${name}: nothing stays`)
    t.same(after, before, `${name}: byte for byte`)
  }
  // What others removed may have been what the run had put there. Permissions alone make no other file, and hard links share them.
  const what = (state: string | undefined) => state?.replace(/^(\w+) \d+/, '$1')
  const isTouched = (path: string) =>
    found[path] !== undefined && what(left[path]) !== what(found[path]) && what(after[path]) !== what(found[path])
  t.same(ofOthers.filter(isTouched), [], `${name}: what others changed is untouched`)
  const differs = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path])
  const isExplained = (path: string) => [...named, ...ofOthers].some((other) => isAtOrBelow(path, other) || isAtOrBelow(other, path))
  t.same(differs.filter((path) => !isExplained(path)), [], `${name}: the answer names what stays`)
}

/** Clones a folder; returns what compares both. */
export async function cloneOf (folder: string, clone: string) {
  const cloned = { folder, clone, base: `${clone}.json` }
  if ('beyond' in await cloneFolder({ ...cloned, limits: { paths: 20_000, bytes: 1024 ** 3 } })) throw new Error('too large')
  return async (changed: 'folder' | 'clone') => (await compareClone({ ...cloned, changed, mostPaths: 20_000 }))!
}

/** A clone of a random tree, changes of the tree and often of the clone, and a refresh of the clone. */
export async function survivesClone (t: Test, work: string, seed: number): Promise<void> {
  const random = createRandom(seed)
  const [root, clone, drafts] = ['tree', 'clone', 'drafts'].map((name) => join(work, `${name}-${seed}`))
  for (const folder of [root, drafts]) mkdirSync(folder)
  lay(random, root)
  const compare = await cloneOf(root, clone)
  // The folders of a clone stay open to their owner.
  const stateInClone = () =>
    Object.fromEntries(Object.entries(stateOf(root)).map(([path, what]) => [path, what.replace(/^folder [0-7]/, 'folder 7')]))
  const name = `seed ${seed}`
  t.same(stateOf(clone), stateInClone(), name)
  for (let n = Math.floor(random() * 8); n >= 0; n--) change(random, root)
  if (random() < 0.6) for (let n = Math.floor(random() * 3); n >= 0; n--) change(random, clone)
  const own = stateOf(clone)
  // What was touched, or got another link, counts as changed.
  const touched = (await compare('clone')).map(({ path }) => path)
  const differences = await compare('folder')
  const paths = createPathPolicy({ workspace: work, roots: [], forbidden: '/nonexistent' })
  await refreshClone(differences, { from: root, to: clone, drafts, paths, clock: systemClock })
  const [after, wanted] = [stateOf(clone), stateInClone()]
  const isNear = (path: string) => touched.some((other) => isAtOrBelow(path, other) || isAtOrBelow(other, path))
  const differs = [...new Set([...Object.keys(after), ...Object.keys(wanted)])].filter((path) => after[path] !== wanted[path])
  t.same(differs.filter((path) => !isNear(path)), [], `${name}: what the clone did not change is as in the folder`)
  const lost = touched.filter((path) => own[path] !== undefined && ![own[path], wanted[path]].includes(after[path]))
  t.same(lost, [], `${name}: the rest stays`)
  t.same(readdirSync(drafts), [])
}

/** A clone that a run changed, taken over into its tree, which others changed some of, and taken back. */
export async function survivesTakeOver (t: Test, { undo, work }: Undo, seed: number): Promise<void> {
  const random = createRandom(seed)
  const root = join(work, `real-${seed}`)
  const clone = join(work, `copy-${seed}`)
  mkdirSync(root)
  lay(random, root)
  const compare = await cloneOf(root, clone)
  for (let n = Math.floor(random() * 8); n >= 0; n--) change(random, clone)
  if (random() < 0.5) for (let n = Math.floor(random() * 3); n >= 0; n--) change(random, root)
  const [before, ofRun] = [stateOf(root), stateOf(clone)]
  const touched = (await compare('folder')).map(({ path }) => path)
  const differences = await compare('clone')

  const { applyId, skipped } = await undo.takeOver(differences, {}, { of: newId(), folder: clone, real: root, owner: 'owner' })
  const after = stateOf(root)
  const name = `seed ${seed}`
  const named = skipped.map(({ path }) => path.slice(root.length + 1))
  t.same(skipped.filter(({ reason }) => reason === 'failed'), [], name)
  const lost = touched.filter((path) => before[path] !== undefined && ![before[path], ofRun[path]].includes(after[path]))
  t.same(lost, [], `${name}: what others changed is untouched`)
  const isNear = (path: string) => [...named, ...touched].some((other) => isAtOrBelow(path, other) || isAtOrBelow(other, path))
  const left = differences.map(({ path }) => path).filter((path) => after[path] !== ofRun[path])
  t.same(left.filter((path) => !isNear(path)), [], `${name}: the rest is as in the copy`)
  const others = Object.keys({ ...before, ...after }).filter((path) => before[path] !== after[path])
  const changed = new Set(differences.map(({ path }) => path))
  t.same(others.filter((path) => !changed.has(path)), [], `${name}: nothing else is changed`)
  if (applyId === undefined) return
  t.same((await undo.takeBack(applyId, {})).skipped, [], name)
  t.same(stateOf(root), before, `${name}: taken back`)
}
