import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

/** The most included settings files that are read for each repository, and the largest one, in bytes. */
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
  /** The work trees of each git directory, by its path. */
  tops: ReadonlyMap<string, readonly string[]>
  home: string
  /** Returns the text of a settings file that was read already, '' if the file is known not to exist; undefined for any other file. */
  textOf: (path: string) => string | undefined
}

/** A command line in a git setting, and the folders that it might run in. */
export interface NamedCommand {
  text: string
  folders: readonly string[]
}

/**
 * Returns the places that the settings of these git directories name, with those of the user and the system: folders of hooks, further
 * settings files and scripts. `commands`: command lines that git runs by itself. `hasDrivers`: a repository defines programs for files with
 * certain attributes.
 */
export async function namedBySettings (
  gitDirectories: readonly string[],
  { tops, home, textOf }: Around
): Promise<{ places: string[], commands: NamedCommand[], hasDrivers: boolean }> {
  let hasDrivers = false
  const found = new Set<string>()
  const commands: NamedCommand[] = []
  const ofUser = ['/etc/gitconfig', join(home, '.gitconfig'), join(home, '.config/git/config')]
  const worked = gitDirectories.filter((git) => basename(dirname(git)) !== 'worktrees')
  // The settings of the user are parsed once, but relative names in them mean other files in each repository.
  const settings = new Map<string, Named[]>()
  const worktrees = Map.groupBy(gitDirectories, (git) => basename(dirname(git)) === 'worktrees' ? dirname(dirname(git)) : '')
  for (const git of worked) {
    const folders = tops.get(git) ?? [git]
    const configs = [...[git, ...worktrees.get(git) ?? []].map((each) => join(each, 'config.worktree')), join(git, 'config'), ...ofUser]
    const most = configs.length + MOST_INCLUDED
    for (let at = 0; at < Math.min(configs.length, most); at++) {
      const config = configs[at]
      const named = settings.get(config) ?? namesIn(textOf(config) ?? await readConfig(config), home)
      if (!ofUser.includes(config)) hasDrivers ||= named.some(({ isDriver }) => isDriver)
      settings.set(config, named)
      for (const { kind, value } of named) {
        if (kind === 'hooks') for (const folder of folders) found.add(resolve(folder, value))
        if (kind === 'command') commands.push({ text: value, folders })
        if (kind !== 'hooks' && await isScript(resolve(folders[0], value))) found.add(resolve(folders[0], value))
        if (kind !== 'settings') continue
        const place = resolve(dirname(config), value)
        found.add(place)
        if (!configs.includes(place)) configs.push(place)
      }
    }
  }
  return { places: [...found], commands, hasDrivers }
}

const ANY = /^\s*(?:\[[^\]]*\]\s*)*[a-z][\w-]*\s*=(.*)$/i
export const WORDS = /[\s'"`;|&()=<>]+/

/** Settings with a program that git runs for files with certain attributes. */
const DRIVER = /^(?:clean|smudge|process|textconv|command|driver)$/

const KINDS: Record<string, Named['kind']> = { hookspath: 'hooks', attributesfile: 'hooks', templatedir: 'hooks', path: 'settings' }

interface Named {
  kind: 'hooks' | 'settings' | 'command' | 'word'
  value: string
  /** True for a program that git runs for files with certain attributes. */
  isDriver: boolean
}

/** Returns the paths and command lines that the text of a settings file names. */
function namesIn (text: string, home: string): Named[] {
  return text.replace(/\\\r?\n/g, '').split(/\r?\n/).flatMap((line): Named[] => {
    const [, key = '', named] = NAMING.exec(line) ?? []
    const value = (named ?? ANY.exec(line)?.[1] ?? '').replace(/\s[#;].*$/, '').replace(/"/g, '').replace(/\\(.)/g, '$1').trim()
      .replace(/(?<=^!?|[\s'])~\//g, `${home}/`)
    if (value === '') return []
    // Any other setting, such as an alias or the pager of one command: it might name a script.
    if (named === undefined && !value.startsWith('!')) {
      const words = value.split(WORDS).filter((word) => /^[^*:]*[./][^*:]*$/.test(word))
      return words.map((word) => ({ kind: 'word', value: word, isDriver: false }))
    }
    const isDriver = DRIVER.test(key.toLowerCase()) && !/^git-lfs\b/.test(value)
    return [{ kind: KINDS[key.toLowerCase()] ?? 'command', value: value.replace(/^!/, ''), isDriver }]
  })
}

async function readConfig (path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() && found.size <= LARGEST_CONFIG ? readFile(path, 'utf8').catch(() => '') : ''
}

/** Extensions of scripts. An interpreter runs such a file even if it is not executable. */
const SCRIPT = /\.(?:sh|bash|zsh|py|[cm]?js|ts|rb|pl|php|lua)$/i
/**
 * Whether there is a file at a path that somebody might run: it has an execute bit, or the file extension of a script. False if it cannot
 * be examined.
 */
export const isScript = (place: string): Promise<boolean> =>
  stat(place).then((found) => found.isFile() && (SCRIPT.test(place) || (found.mode & 0o111) !== 0), () => false)
