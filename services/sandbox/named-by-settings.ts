import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** Further files of settings that are read for names in them, and the largest, bytes. */
const MOST_INCLUDED = 64
const LARGEST_CONFIG = 1024 * 1024

/** Settings that name a folder of hooks, further settings, or a program that git starts by itself. */
const NAMING = new RegExp(
  String.raw`^\s*(?:\[[^\]]*\]\s*)*(hookspath|path|fsmonitor|sshcommand|askpass|editor|pager|attributesfile|gitproxy|clean|smudge|` +
    String.raw`process|textconv|command|cmd|driver|helper|program|difffilter|uploadpack|receivepack|packobjectshook|templatedir|` +
    String.raw`external|alternaterefscommand)\s*=(.*)$`,
  'i'
)

interface Around {
  /** The folders of files of each git directory. */
  tops: ReadonlyMap<string, readonly string[]>
  home: string
  /** Returns the text of a file of settings that was read already, '' for one that is known not to be there. */
  textOf: (path: string) => string | undefined
}

/**
 * Returns the places that the settings of the git directories name, through all levels, those of the user too: folders of hooks, files of
 * settings, and files that git starts as programs. `hasDrivers`: a repository has programs for files with certain attributes.
 */
export async function namedBySettings (
  gitDirectories: readonly string[],
  { tops, home, textOf }: Around
): Promise<{ places: string[], hasDrivers: boolean }> {
  let hasDrivers = false
  const found = new Set<string>()
  const ofUser = ['/etc/gitconfig', join(home, '.gitconfig'), join(home, '.config/git/config')]
  const worked = gitDirectories.filter((git) => basename(dirname(git)) !== 'worktrees')
  // The same files for each repository, whose relative names differ.
  const settings = new Map<string, Named[]>()
  const isWorktreeOf = (git: string, each: string) => dirname(each) === join(git, 'worktrees')
  for (const git of worked) {
    const folders = tops.get(git) ?? [git]
    const worktrees = gitDirectories.filter((each) => isWorktreeOf(git, each))
    const configs = [...[git, ...worktrees].map((each) => join(each, 'config.worktree')), join(git, 'config'), ...ofUser]
    const most = configs.length + MOST_INCLUDED
    for (let at = 0; at < Math.min(configs.length, most); at++) {
      const config = configs[at]
      const named = settings.get(config) ?? namesIn(textOf(config) ?? await readConfig(config))
      if (!ofUser.includes(config)) hasDrivers ||= named.some(({ isDriver }) => isDriver)
      settings.set(config, named)
      for (const { kind, path } of named) {
        const isOfHome = path.startsWith('~/')
        for (const folder of isOfHome || kind === 'settings' ? folders.slice(0, 1) : folders) {
          const base = kind === 'settings' ? dirname(config) : folder
          const place = isOfHome ? join(home, path.slice(2)) : resolve(base, path)
          if (kind === 'script' ? await isScript(place) : kind !== 'program' || await mayBeProgram(place, path)) found.add(place)
          if (kind === 'settings' && await isScript(resolve(folder, path))) found.add(resolve(folder, path))
          if (kind === 'settings' && !configs.includes(place)) configs.push(place)
        }
      }
    }
  }
  return { places: [...found], hasDrivers }
}

const ANY = /^\s*(?:\[[^\]]*\]\s*)*[a-z][\w-]*\s*=\s*"?!?(.*)$/i
export const WORDS = /[\s'"`;|&()=<>]+/

/** Programs that files get by their attributes. */
const DRIVER = /^(?:clean|smudge|process|textconv|command|driver)$/

const KINDS: Record<string, Named['kind']> = { hookspath: 'hooks', attributesfile: 'hooks', templatedir: 'hooks', path: 'settings' }

interface Named {
  /** It is the program of a driver for files. */
  isDriver: boolean
  kind: 'hooks' | 'settings' | 'program' | 'script'
  path: string
}

/** Returns the paths that a file of settings names. */
function namesIn (text: string): Named[] {
  return text.replace(/\\\r?\n/g, '').split(/\r?\n/).flatMap((line): Named[] => {
    const [, name, value] = NAMING.exec(line) ?? []
    // An alias, a pager of one command, or another setting: it may name a script.
    if (name === undefined) {
      const words = (ANY.exec(line)?.[1] ?? '').split(WORDS).filter((word) => /^[^*:]*[./][^*:]*$/.test(word))
      return words.map((path) => ({ kind: 'script', path, isDriver: false }))
    }
    const path = value.replace(/\s[#;].*$/, '').replace(/"/g, '').replace(/\\(.)/g, '$1').trim()
    const key = name.toLowerCase()
    const kind = KINDS[key] ?? 'program'
    const paths = kind === 'program' ? path.replace(/^!/, '').split(WORDS) : [path]
    const isDriver = DRIVER.test(key) && !/^\s*"?git-lfs\b/.test(value)
    return paths.filter((each) => each !== '' && !each.startsWith('-')).map((each) => ({ kind, path: each, isDriver }))
  })
}

async function readConfig (path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= LARGEST_CONFIG ? readFile(path, 'utf8').catch(() => '') : ''
}

/** Whether a word of a setting may be a program in the tree: a file, or a path at which nothing is yet. */
const mayBeProgram = (place: string, word: string): Promise<boolean> =>
  stat(place).then((found) => found.isFile(), () => word.includes('/') && !/[$`%*]/.test(word))

/** Endings of scripts, which need no permission to be run by their interpreter. */
const SCRIPT = /\.(?:sh|bash|zsh|py|[cm]?js|ts|rb|pl|php|lua)$/i
/** Whether a place is a file that may be run. */
export const isScript = (place: string): Promise<boolean> =>
  stat(place).then((found) => found.isFile() && (SCRIPT.test(place) || (found.mode & 0o111) !== 0), () => false)
