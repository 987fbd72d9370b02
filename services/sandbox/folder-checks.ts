import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { FileChange } from '../contracts/tool.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import { isOpenedPath } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import type { BoxedGit } from './boxed-git.ts'
import { type Checked, checkObeyed } from './check-obeyed.ts'
import { type CommitEnds, createCommitEnds, type EndsShelf } from './commit-ends.ts'
import { lookAtObeyed } from './look-at-obeyed.ts'
import { entryAt, type ObeyedState } from './obeyed-state.ts'
import { readPackageUse } from './package-scripts.ts'
import type { WithFolder } from './put-back.ts'
import { readSmall } from './read-small.ts'

/** The most folders whose last state is remembered, so that unchanged contents are not read again. */
const MOST_REMEMBERED = 16

const MAPS = ['entries', 'gitDirectories', 'links', 'packages', 'tops'] as const
type Maps = typeof MAPS[number]
/** A state as it is stored, with arrays in place of maps. */
export type StoredState = Omit<ObeyedState, Maps> &
  { [Name in Maps]: ObeyedState[Name] extends Map<string, infer Value> ? Array<[path: string, value: Value]> : never }

/** The stored states of folders in which commands run. */
export interface StateShelf {
  put(state: StoredState): Promise<void>
  /** Adds `what` to the stored list of things that a check of the folder began to put back. */
  begin(folder: string, what: string): Promise<void>
  drop(folder: string): Promise<void>
  list(): AsyncIterable<StoredState>
}

/** The commands that run in one folder, and the state of the folder before the first of them. */
interface Running {
  before: ObeyedState
  count: number
  /** The paths that were read-only for all of these commands, each with its device and inode. */
  readOnly?: ReadonlyMap<string, string>
}

/** One command that runs in a folder. */
export interface Entered {
  /** The state of the folder when the command was added. */
  now: ObeyedState
  /** Records which paths are read-only for the command, each with its device and inode. Must be called before the command starts. */
  start(readOnly: ReadonlyMap<string, string>): void
  /**
   * Undoes changes to files that programs act on by themselves (git settings, hooks, editor settings), and removes the command. `git` is
   * undefined for a command that did not start: then nothing is undone.
   */
  leave(git?: BoxedGit): Promise<Checked>
}

/** Stores a report of what was put back. It can be called again for the same state. */
export type TellCut = (state: Pick<ObeyedState, 'folder' | 'at'>, sentences: string[]) => Promise<void>

interface Where {
  folder: string
  outside: readonly string[]
  home: string
  /** The work tree of the repository above the folder. */
  top?: string
  /** The path at which commands see the folder. */
  seenAt: string
}

interface Parts {
  withFolder: WithFolder
  shelf?: StateShelf
  endsShelf?: EndsShelf
  /** Returns the folders outside the working folder to which links are allowed to lead. */
  linkable: () => string[]
}

/** The state that the functions below share, about the folders in which commands run. */
interface Known extends Parts {
  running: Map<string, Running>
  remembered: Map<string, ObeyedState>
  made: Set<string>
  ends: CommitEnds
}

/**
 * Compares folders before and after commands. Commands whose folders overlap share one state from before: what one of them creates counts
 * as new for all of them, whichever ends first. That state is stored before a command starts, and deleted after the last command was
 * checked.
 */
export function createFolderChecks (parts: Parts) {
  const { shelf } = parts
  const locked = createKeyedLock()
  const known: Known = { ...parts, running: new Map(), remembered: new Map(), made: new Set(), ends: createCommitEnds(parts.endsShelf) }

  return {
    /** Identities of the git directories that commands made. They are not the user's work. */
    made: known.made as ReadonlySet<string>,

    /** Returns the state of a folder for a command that changes nothing in it, because it is only tried out. */
    look: ({ folder, ...where }: Where): Promise<ObeyedState> => lookAtObeyed(folder, where),

    /** Adds a command to those that run in a folder. */
    async enter (where: Where): Promise<Entered> {
      const { folder } = where
      const now = await locked(folder, () => enter(known, where))
      return {
        now,
        start (readOnly) {
          const each = known.running.get(folder)!
          const isForAll = ([path, id]: [string, string]) => each.readOnly === undefined || each.readOnly.get(path) === id
          each.readOnly = new Map([...readOnly].filter(isForAll))
        },
        leave: (git) => locked(folder, () => leave(known, folder, git))
      }
    },

    /** Adds what tools wrote while commands run to the state from before these commands: the user was asked about it. */
    async keepWritten (changes: readonly FileChange[]): Promise<void> {
      for (const [folder, { before }] of known.running) {
        const inside = changes.filter(({ path }) => isIn(folder, path))
        if (inside.length > 0) await locked(folder, () => takeWritten(known, before, inside))
      }
    },

    /**
     * Finishes the checks of commands whose service was killed. Must be called before another command starts. Each stored state is dropped
     * only after `tell` has resolved.
     */
    async finishCut (gitOf: (state: ObeyedState) => Promise<BoxedGit>, tell: TellCut): Promise<void> {
      for await (const state of shelf?.list() ?? []) {
        const before = fromStore(state)
        const { taken, notes } = await locked(state.folder, async () => check(known, { before, count: 1 }, await gitOf(before)))
        if (taken.length + notes.length > 0) await tell(before, [...taken, ...notes])
        await shelf?.drop(state.folder)
      }
    }
  }
}

async function enter (known: Known, where: Where): Promise<ObeyedState> {
  const state = await lookBefore(known, where)
  const each = known.running.get(where.folder)
  if (each !== undefined) {
    each.count++
    return state
  }
  await known.shelf?.put(toStore(state))
  known.running.set(where.folder, { before: state, count: 1 })
  remember(known, state)
  return state
}

async function leave (known: Known, folder: string, git: BoxedGit | undefined): Promise<Checked> {
  const each = known.running.get(folder)!
  const found = git === undefined ? { taken: [], notes: [] } : await check(known, each, git)
  each.count--
  if (each.count > 0) return found
  known.running.delete(folder)
  await known.shelf?.drop(folder)
  return found
}

function remember ({ remembered }: Known, state: ObeyedState): void {
  remembered.delete(state.folder)
  remembered.set(state.folder, state)
  for (const folder of remembered.keys()) if (remembered.size > MOST_REMEMBERED) remembered.delete(folder)
}

/** Returns the present state of a folder. Where it overlaps folders with running commands, it has the state from before these commands. */
async function lookBefore ({ running, remembered }: Known, { folder, ...where }: Where): Promise<ObeyedState> {
  const overlapping = () => [...running.entries()].flatMap(([other, each]) =>
    other !== folder && (isIn(other, folder) || isIn(folder, other)) ? [each] : [])
  const others = new Set(overlapping())
  const now = await lookAtObeyed(folder, { ...where, known: remembered.get(folder) })
  for (const each of overlapping()) others.add(each)
  for (const { before } of others) takeOver(now, before)
  return now
}

async function check (
  { withFolder, shelf, made, ends, linkable }: Known,
  { before, readOnly = new Map() }: Running,
  git: BoxedGit
): Promise<Checked> {
  try {
    const begin = async (what: string) => shelf?.begin(before.folder, what)
    const found = await checkObeyed(before, { withFolder, git, readOnly, begin, ends: await ends.list(before), linkable })
    for (const id of found.made) made.add(id)
    await ends.note(before, found.after)
    return found
  } catch (error) {
    const failed = `What programs obey in ${JSON.stringify(before.folder)} could not be checked: ${(error as Error).message}.`
    return { taken: [failed], notes: [] }
  }
}

async function takeWritten ({ shelf, running }: Known, before: ObeyedState, changes: readonly FileChange[]): Promise<void> {
  let isObeyed = false
  for (const { path, after } of changes) {
    const use = before.packages.get(path)
    if (use !== undefined) before.packages.set(path, await readPackageUse(path, use.uses))
    if (!before.entries.has(path) && !isOpenedPath(path) && !before.named.some((place) => isIn(place, path))) continue
    const [entry, content] = [await entryAt(path), await readSmall(path, undefined, 'base64')]
    const digest = content && `sha256:${createHash('sha256').update(content, 'base64').digest('base64url')}`
    // The file might have changed again since.
    if (after === null ? entry !== undefined : digest !== after || entry === undefined) continue
    isObeyed = true
    before.entries.delete(path)
    if (entry === undefined) continue
    before.entries.set(path, { ...entry, content })
    // The folders above it are not new ones of a command.
    for (let at = dirname(path); at !== before.folder && isOpenedPath(at); at = dirname(at)) {
      before.entries.set(at, { kind: 'folder', id: 'folder', mode: 0, links: 1 })
    }
  }
  if (isObeyed && running.get(before.folder)?.before === before) await shelf?.put(toStore(before))
}

/** Copies what `before` says about paths that lie in both folders to `now`. */
function takeOver (now: ObeyedState, before: ObeyedState): void {
  const inBoth = (path: string) => isIn(now.folder, path) && isIn(before.folder, path)
  for (const name of MAPS) {
    for (const path of now[name].keys()) if (inBoth(path)) now[name].delete(path)
    for (const [path, each] of before[name]) if (inBoth(path)) (now[name] as Map<string, unknown>).set(path, each)
  }
  now.named = [...new Set([...now.named, ...before.named.filter((path) => isIn(now.folder, path))])]
  now.at = Math.min(now.at, before.at)
}

const toStore = (state: ObeyedState) =>
  ({ ...state, ...Object.fromEntries(MAPS.map((name) => [name, [...state[name]]])) }) as unknown as StoredState
const fromStore = (state: StoredState) =>
  ({ ...state, ...Object.fromEntries(MAPS.map((name) => [name, new Map<string, unknown>(state[name])])) }) as unknown as ObeyedState
