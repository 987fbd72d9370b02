import { createKeyedLock } from '../lib/keyed-lock.ts'
import { isIn } from './box-places.ts'
import type { BoxedGit } from './boxed-git.ts'
import { checkObeyed, type WithFolder } from './check-obeyed.ts'
import { type Entry, type GitDirectory, lookAtObeyed, type ObeyedState } from './obeyed-state.ts'

/** Folders whose last state is remembered, so that contents that did not change are not read again. */
const MOST_REMEMBERED = 16

/** A state as it is stored. */
export type StoredState = Omit<ObeyedState, 'entries' | 'gitDirectories'> & {
  entries: Array<[path: string, entry: Entry]>
  gitDirectories: Array<[path: string, directory: GitDirectory]>
}

/** Where states are, on the disk, of folders in which commands run. */
export interface StateShelf {
  put(state: StoredState): Promise<void>
  drop(folder: string): Promise<void>
  list(): AsyncIterable<StoredState>
}

/** A folder in which commands run, and what was there before the first of them. */
interface Running {
  before: ObeyedState
  count: number
  /** What was read-only for all of them. */
  readOnly?: Set<string>
}

/** A command in a folder. */
export interface Entered {
  /** What is there now. */
  now: ObeyedState
  /** Notes what is read-only for the command, before it starts. */
  start(readOnly: Iterable<string>): void
  /** Puts back what programs would obey, and returns a sentence for each. `git` is undefined for a command that did not start. */
  leave(git?: BoxedGit): Promise<string[]>
}

interface Where {
  folder: string
  outside: readonly string[]
  home: string
  /** The folder of the files of a repository above. */
  top?: string
  /** The path at which commands find the folder. */
  seenAt: string
}

/**
 * Compares folders before and after commands, of which those that overlap share what was before: what one of them makes is new for all,
 * whichever ends first. It is on the disk before a command starts, and gone when the last one was checked.
 */
export function createFolderChecks ({ withFolder, shelf }: { withFolder: WithFolder, shelf?: StateShelf }) {
  const locked = createKeyedLock()
  const running = new Map<string, Running>()
  const remembered = new Map<string, ObeyedState>()
  /** Git directories that commands made, by identity: they are no work of the user. */
  const made = new Set<string>()

  function remember (state: ObeyedState): void {
    remembered.delete(state.folder)
    remembered.set(state.folder, state)
    for (const folder of remembered.keys()) if (remembered.size > MOST_REMEMBERED) remembered.delete(folder)
  }

  const overlapping = (folder: string): Running[] =>
    [...running.entries()].flatMap(([other, each]) => other !== folder && (isIn(other, folder) || isIn(folder, other)) ? [each] : [])

  /** Returns what was there before the commands that run in folders around this one, or in it. */
  async function lookBefore ({ folder, ...where }: Where): Promise<ObeyedState> {
    const others = new Set(overlapping(folder))
    const now = await lookAtObeyed(folder, { ...where, known: remembered.get(folder) })
    for (const each of overlapping(folder)) others.add(each)
    for (const { before } of others) takeOver(now, before)
    return now
  }

  async function check ({ before, readOnly = new Set() }: Running, git: BoxedGit): Promise<string[]> {
    try {
      const found = await checkObeyed(before, { withFolder, git, readOnly })
      for (const id of found.made) made.add(id)
      return found.taken
    } catch (error) {
      return [`What programs obey in ${JSON.stringify(before.folder)} could not be checked: ${(error as Error).message}.`]
    }
  }

  return {
    made,

    /** Looks at a folder for a command that leaves nothing there. */
    look: ({ folder, ...where }: Where): Promise<ObeyedState> => lookAtObeyed(folder, where),

    /** Adds a command to those that run in a folder. */
    async enter (where: Where): Promise<Entered> {
      const { folder } = where
      const now = await locked(folder, async () => {
        const state = await lookBefore(where)
        const known = running.get(folder)
        if (known !== undefined) {
          known.count++
          return state
        }
        running.set(folder, { before: state, count: 1 })
        remember(state)
        await shelf?.put(stored(state)).catch((error) => {
          running.delete(folder)
          throw error
        })
        return state
      })
      return {
        now,
        start (readOnly) {
          const each = running.get(folder)!
          const places = new Set(readOnly)
          each.readOnly = each.readOnly === undefined ? places : new Set([...each.readOnly].filter((path) => places.has(path)))
        },
        leave: (git) => locked(folder, async () => {
          const each = running.get(folder)!
          const taken = git === undefined ? [] : await check(each, git)
          each.count--
          if (each.count > 0) return taken
          running.delete(folder)
          await shelf?.drop(folder)
          return taken
        })
      }
    },

    /** Finishes the checks of commands whose service was killed, before another one starts. Returns what it put back. */
    async finishCut (gitOf: (state: ObeyedState) => Promise<BoxedGit>): Promise<string[]> {
      const taken: string[] = []
      for await (const state of shelf?.list() ?? []) {
        const before = { ...state, entries: new Map(state.entries), gitDirectories: new Map(state.gitDirectories) }
        await locked(state.folder, async () => taken.push(...await check({ before, count: 1 }, await gitOf(before))))
        await shelf?.drop(state.folder)
      }
      return taken
    }
  }
}

/** Makes a look at a folder say of the part that another one knows what that says. */
function takeOver (now: ObeyedState, before: ObeyedState): void {
  const inBoth = (path: string) => isIn(now.folder, path) && isIn(before.folder, path)
  for (const name of ['entries', 'gitDirectories'] as const) {
    for (const path of now[name].keys()) if (inBoth(path)) now[name].delete(path)
    for (const [path, each] of before[name]) if (inBoth(path)) (now[name] as Map<string, unknown>).set(path, each)
  }
  now.named = [...new Set([...now.named, ...before.named.filter((path) => isIn(now.folder, path))])]
  now.at = Math.min(now.at, before.at)
}

const stored = (state: ObeyedState): StoredState =>
  ({ ...state, entries: [...state.entries], gitDirectories: [...state.gitDirectories] })
