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
  outside: readonly string[]
  home: string
  /** The folder of the files of a repository above. */
  top?: string
  /** Returns the text of a file of settings that was read already, '' for one that is known not to be there. */
  textOf: (path: string) => string | undefined
}

/**
 * Returns the places that the settings of the git directories name, through all levels, those of the user too: folders of hooks, files of
 * settings, and files that git starts as programs. `hasDrivers`: a repository has programs for files with certain attributes.
 */
export async function namedBySettings (
  gitDirectories: readonly string[],
  { outside, home, top, textOf }: Around
): Promise<{ places: string[], hasDrivers: boolean }> {
  let hasDrivers = false
  const found = new Set<string>()
  const ofUser = ['.gitconfig', '.config/git/config'].map((name) => join(home, name))
  const worked = gitDirectories.filter((git) => basename(dirname(git)) !== 'worktrees')
  // The same files for each repository, whose relative names differ.
  const settings = new Map<string, Named[]>()
  for (const git of worked) {
    const folder = outside.includes(git) ? top ?? dirname(git) : basename(git) === '.git' ? dirname(git) : git
    const configs = [join(git, 'config'), join(git, 'config.worktree'), ...ofUser]
    const most = configs.length + MOST_INCLUDED
    for (let at = 0; at < Math.min(configs.length, most); at++) {
      const config = configs[at]
      const named = settings.get(config) ?? namesIn(textOf(config) ?? await readConfig(config))
      if (!ofUser.includes(config)) hasDrivers ||= named.some(({ isDriver }) => isDriver)
      settings.set(config, named)
      for (const { kind, path } of named) {
        const base = kind === 'settings' ? dirname(config) : folder
        const place = path.startsWith('~/') ? join(home, path.slice(2)) : resolve(base, path)
        if (kind === 'script' ? await isScript(place) : kind !== 'program' || await mayBeProgram(place, path)) found.add(place)
        if (kind === 'settings' && await isScript(resolve(folder, path))) found.add(resolve(folder, path))
        if (kind === 'settings' && !configs.includes(place)) configs.push(place)
      }
    }
  }
  return { places: [...found], hasDrivers }
}

const ANY = /^\s*(?:\[[^\]]*\]\s*)*[a-z][\w-]*\s*=\s*"?!?(.*)$/i
export const WORDS = /[\s'"`;|&()=<>]+/

/** Programs that files get by their attributes. */
const DRIVER = /^(?:clean|smudge|process|textconv|command|driver)$/

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
    const kind = { hookspath: 'hooks' as const, attributesfile: 'hooks' as const, path: 'settings' as const }[key] ?? 'program'
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
