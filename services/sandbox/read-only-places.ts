import { closeSync, constants, readlinkSync } from 'node:fs'
import { readlink, realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { wasInGit } from '../workspace/index.ts'
import { isIn } from './box-places.ts'
import { type Held, holdEntry } from './held.ts'
import type { ObeyedState } from './obeyed-state.ts'

// Finds the places that a command in a box is allowed to read but not to change: files and folders that programs act on as soon as somebody
// opens or enters a folder, and those that git acts on in the repositories of the working folder. Otherwise a change would affect other
// programs while the command still runs.

/** The most files and folders that are read-only for commands. Each is a mount, and 300 mounts take 0.76 s. */
const MOST_PLACES = 64
/** Names in a git directory that git acts on. */
const OF_GIT = ['config', 'config.worktree', 'hooks', 'info/attributes', 'info/exclude', 'info/sparse-checkout']
/** The most files of one place that are compared with the commits of git. */
const MOST_COMPARED = 64

interface Tree {
  /** The state of the working folder. */
  state: ObeyedState
  /** The path at which a command sees the folder. For a copy, it is the path of the copied folder, to which links in the copy can lead. */
  seenAt: string
  /** Identities of git directories that commands made. They are not read-only, so that commands can remove them. */
  made?: ReadonlySet<string>
}

/**
 * Opens what a box (a sandbox) mounts over parts of the working folder: `.git`, so that no command moves it, and at most 64 read-only
 * places. `opens` are the read-only places that are not git's own. Throws if such a place is a link to a missing path in the folder.
 */
export async function holdObeyed (
  folder: { path: string, entry(name: string): string },
  tree: Tree
): Promise<{ held: Held[], opens: string[] }> {
  const { ofGit, opens } = await findReadOnly(tree)
  const git = join(folder.path, '.git')
  const held: Held[] = []
  const fd = holdEntry(held, { entry: folder.entry('.git'), path: git, flags: constants.O_DIRECTORY, isWritable: true })
  if (fd === undefined) holdEntry(held, { entry: folder.entry('.git'), path: git, isWritable: false })
  for (const path of [...ofGit, ...opens]) {
    const opened = holdEntry(held, { entry: path, path, isWritable: false })
    // Another command might have moved the place, or put a link on the way to it, since it was found.
    if (opened === undefined || readlinkSync(`/proc/self/fd/${opened}`) === path) continue
    closeSync(opened)
    held.pop()
  }
  return { held, opens }
}

async function findReadOnly ({ state, seenAt, made = new Set() }: Tree): Promise<{ ofGit: string[], opens: string[] }> {
  const { folder } = state
  const git = join(folder, '.git')
  const directories = [...state.gitDirectories].flatMap(([path, { id }]) => isIn(folder, path) && !made.has(id) ? [path] : [])
  const nearest = (a: string, b: string) => depth(a) - depth(b)
  const obeyed = directories.sort(nearest).slice(0, MOST_PLACES).flatMap((each) =>
    OF_GIT.map((name) => join(each, name)).filter((path) => isThere(state, path)))
  const ofGit = await resolveAll({ folder, seenAt }, obeyed)
  const opens: string[] = []
  for (const place of await resolveAll({ folder, seenAt }, [...state.opens, ...state.named])) {
    if (opens.length < MOST_PLACES && !await isInGit(state, place)) opens.push(place)
  }
  // Neither `.git`, nor the folder itself, which contains it.
  const places = [...new Set([...ofGit, ...opens])].filter((place) => !isIn(place, git))
  const isOwn = (place: string) => isIn(git, place)
  const ordered = [...places.filter(isOwn), ...places.filter((place) => !isOwn(place)).sort(nearest)].slice(0, MOST_PLACES)
  return { ofGit: ordered.filter((place) => ofGit.includes(place)), opens: ordered.filter((place) => !ofGit.includes(place)) }
}

const depth = (path: string): number => path.split('/').length

const isThere = ({ entries }: ObeyedState, path: string): boolean => entries.has(path) || path.endsWith('/hooks')

/**
 * Whether commits have all files of a place. Then a command is allowed to replace the place, and the check afterwards compares it with the
 * commits.
 */
async function isInGit ({ entries, at }: ObeyedState, place: string): Promise<boolean> {
  const files = [...entries].filter(([path, { kind }]) => kind !== 'folder' && isIn(place, path))
  if (files.length === 0 || files.length > MOST_COMPARED) return false
  for (const [path, { kind }] of files) if (kind !== 'file' || !await wasInGit(path, at)) return false
  return true
}

type Seen = Pick<Tree, 'seenAt'> & { folder: string }

async function resolveAll (seen: Seen, places: readonly string[]): Promise<string[]> {
  return (await Promise.all(places.map((place) => resolveIn(seen, place)))).filter((place) => place !== undefined)
}

/** Returns the real path of a place; undefined if nothing is there, or if it lies outside of the folder. */
async function resolveIn ({ folder, seenAt }: Seen, place: string): Promise<string | undefined> {
  const inFolder = (path: string) => isIn(seenAt, path) ? join(folder, relative(seenAt, path)) : path
  const real = await realpath(place).then(inFolder, () => undefined)
  if (real !== undefined) return isIn(folder, real) ? real : undefined
  const link = await readlink(place).catch(() => undefined)
  if (link === undefined || !isIn(folder, inFolder(resolve(dirname(place), link)))) return undefined
  throw new Error(
    `${JSON.stringify(place)} is a link to ${JSON.stringify(link)}, where nothing is. Programs would obey what a command puts there, so ` +
      'no command runs in a box here. Remove the link, or run the command with "outside": true.'
  )
}
