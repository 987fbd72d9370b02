import { closeSync, constants, readlinkSync } from 'node:fs'
import { lstat, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { isIn } from './box-places.ts'
import { type Held, holdEntry } from './held.ts'
import type { RepositoryAbove } from './repository-above.ts'

// What a command in a box may read and not change: what programs obey as soon as somebody opens or enters a folder, and what git obeys in
// the repository of the working folder. Else it would be in force for other programs while the command runs.

/** Each is a mount, of which 300 take .76 s. */
const MOST_PLACES = 64
/** Files of settings that are read for names in them, and the largest, bytes. */
const MOST_CONFIGS = 16
const LARGEST_CONFIG = 1024 * 1024
/** What git obeys in its directory. */
const OF_GIT = ['config', 'config.worktree', 'hooks', 'info/attributes', 'info/exclude', 'info/sparse-checkout']

interface Tree {
  /** The real path of the working folder. */
  folder: string
  /** The path at which a command finds it: another one for a copy, whose links may lead to the folder that was copied. */
  seenAt: string
  home: string
  above?: RepositoryAbove
  /** Files and folders in it that programs obey when somebody opens or enters a folder, the nearest first. */
  opens: readonly string[]
}

/**
 * Opens what a box puts upon the working folder: `.git`, so that no command moves it, and at most 64 places that are read-only. `opens`
 * are those of them that are no settings of its own repository. Throws where a link to such a place leads to nothing in the folder.
 */
export async function holdObeyed (
  folder: { path: string, entry(name: string): string },
  tree: Omit<Tree, 'folder'>
): Promise<{ held: Held[], opens: string[] }> {
  const { ofGit, opens } = await findReadOnly({ ...tree, folder: folder.path })
  const git = join(folder.path, '.git')
  const held: Held[] = []
  const fd = holdEntry(held, { entry: folder.entry('.git'), path: git, flags: constants.O_DIRECTORY, isWritable: true })
  if (fd === undefined) holdEntry(held, { entry: folder.entry('.git'), path: git, isWritable: false })
  for (const path of [...ofGit, ...opens]) {
    const opened = holdEntry(held, { entry: path, path, isWritable: false })
    // Another command may have moved it, or put a link on the way to it, since it was found.
    if (opened === undefined || readlinkSync(`/proc/self/fd/${opened}`) === path) continue
    closeSync(opened)
    held.pop()
  }
  return { held, opens }
}

async function findReadOnly (tree: Tree): Promise<{ ofGit: string[], opens: string[] }> {
  const git = join(tree.folder, '.git')
  const isRepository = (await lstat(git).catch(() => undefined))?.isDirectory() === true
  const ofGit = await resolveAll(tree, isRepository ? OF_GIT.map((name) => join(git, name)) : [])
  const opens = await resolveAll(tree, [...tree.opens, ...await findNamed(tree)])
  // Not the folder itself, and not the repository in it.
  const places = [...new Set([...ofGit, ...opens])].filter((place) => !isIn(place, git)).slice(0, MOST_PLACES)
  return { ofGit: places.filter((place) => ofGit.includes(place)), opens: places.filter((place) => !ofGit.includes(place)) }
}

async function resolveAll (tree: Tree, places: readonly string[]): Promise<string[]> {
  return (await Promise.all(places.map((place) => resolveIn(tree, place)))).filter((place) => place !== undefined)
}

/** Returns the real path of a place; undefined where nothing is there, or what lies outside of the folder. */
async function resolveIn ({ folder, seenAt }: Tree, place: string): Promise<string | undefined> {
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

/** Finds what settings of git name: folders of hooks, and further files of settings, through all levels. */
async function findNamed ({ folder, home, above }: Tree): Promise<string[]> {
  const top = above?.top ?? folder
  const git = above === undefined ? [join(folder, '.git')] : [above.common, above.own]
  const configs = [...git.flatMap((each) => [join(each, 'config'), join(each, 'config.worktree')]), ...[
    '.gitconfig', '.config/git/config'
  ].map((name) => join(home, name))]
  const found: string[] = []
  for (let at = 0; at < Math.min(configs.length, MOST_CONFIGS); at++) {
    for (const { isHooks, path } of namesIn(await readConfig(configs[at]))) {
      const base = isHooks ? top : dirname(configs[at])
      const named = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(base, path)
      found.push(named)
      if (!isHooks && !configs.includes(named)) configs.push(named)
    }
  }
  return found
}

const ENTRY = /^\s*(?:\[[^\]]*\]\s*)*(hookspath|path)\s*=(.*)$/i

/** Returns the paths that a file of settings names: by core.hooksPath, and by include.path and its kind. */
function namesIn (text: string): Array<{ isHooks: boolean, path: string }> {
  return text.replace(/\\\r?\n/g, '').split(/\r?\n/).flatMap((line) => {
    const [, name, value] = ENTRY.exec(line) ?? []
    if (name === undefined) return []
    const path = value.replace(/\s[#;].*$/, '').replace(/"/g, '').replace(/\\(.)/g, '$1').trim()
    return path === '' ? [] : [{ isHooks: name.toLowerCase() === 'hookspath', path }]
  })
}

async function readConfig (path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= LARGEST_CONFIG ? readFile(path, 'utf8').catch(() => '') : ''
}
