import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

// The one list of the places that a box shows and hides.

/** System folders that a box (a sandbox) shows, read-only. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/gnu']

/**
 * Files and folders in the system folders that hold keys, passwords or names of networks. A box hides them, even if the service runs as
 * root.
 */
const MASKED = [
  '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/security/opasswd', '/etc/ssh',
  '/etc/ssl/private', '/etc/pki/tls/private', '/etc/letsencrypt', '/etc/krb5.keytab', '/etc/NetworkManager/system-connections',
  '/etc/wpa_supplicant', '/etc/wireguard', '/etc/openvpn', '/etc/docker', '/etc/kubernetes', '/etc/rancher', '/etc/netplan'
]

/** Places in the user's home with compilers, interpreters and their packages. Folders with settings or credentials are not among them. */
const TOOLCHAINS = [
  '.nvm/versions', '.volta/bin', '.volta/tools', '.fnm', '.local/share/fnm', '.asdf', '.local/share/mise/installs',
  '.local/share/mise/shims', '.nodenv', '.bun/bin', '.deno/bin', '.local/share/pnpm', '.npm-global', '.pyenv',
  '.local/share/uv/python', '.local/share/uv/tools',
  '.local/share/pipx/venvs', 'miniconda3', 'anaconda3', 'miniforge3', '.rbenv', '.rvm/rubies', '.rvm/gems', '.gem/ruby',
  '.rustup/toolchains', '.rustup/settings.toml', '.cargo/bin', '.cargo/registry', '.cargo/git', 'go/bin', 'go/pkg',
  '.goenv', '.sdkman/candidates',
  '.jenv', '.m2/repository', '.gradle/caches', '.dotnet', '.nuget/packages', '.ghcup', '.cabal/bin', '.elan', '.juliaup', '.opam',
  '.nix-profile', '.local/bin', '.local/lib'
]

/** Names of folders that hold keys. A box hides them in the working folder, too. */
export const KEY_FOLDERS = ['.ssh', '.gnupg', '.aws']

/** Folders beside a `bin` folder that the programs in it need. Other folders there might be somebody's work. */
const BESIDE_PROGRAMS = ['lib', 'lib32', 'lib64', 'libexec', 'share', 'include', 'etc/ssl']
/** Toolchains whose programs need more folders: a file (`mark`) that identifies the toolchain, and the parts to show. */
const TOOLCHAIN_PARTS: Array<{ mark: string, parts: string[] }> = [
  { mark: 'bin/gofmt', parts: ['src', 'pkg', 'VERSION', 'go.env'] },
  { mark: 'pyvenv.cfg', parts: ['pyvenv.cfg'] },
  { mark: 'bin/javac', parts: ['conf', 'jmods', 'legal', 'release'] }
]

/** Whether a path is normalized already. Normalizing took most of the time of a look at 300 repositories. */
const isPlain = (path: string): boolean => sep === '/' && path.startsWith('/') && !path.includes('/..') && !path.includes('//') &&
  !path.includes('/./') && !path.endsWith('/.') && (path === '/' || !path.endsWith('/'))

/** Whether the path is the folder or lies in it. */
export function isIn (folder: string, path: string): boolean {
  if (isPlain(folder) && isPlain(path)) return path === folder || path.startsWith(folder === '/' ? folder : `${folder}/`)
  const way = relative(folder, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

/** Further system folders that cannot be a working folder. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev', '/boot', '/run', '/var/run', '/System', '/Library', '/private/etc', '/private/var/db',
  '/private/var/root', '/private/var/run']
const HOMES = /^\/(?:root|(?:home|Users)(?:\/[^/]+)?)$/

/**
 * Returns a sentence that says why a box cannot use this folder, a real path, as its working folder; undefined if it can. The sentence
 * calls the folder `what`.
 */
export function unfitReason (folder: string, ownHome: string, what = 'working folder'): string | undefined {
  const shown = JSON.stringify(folder)
  if (folder === '/') return `The ${what} is the whole computer, which cannot be a box.`
  if (HOMES.test(folder) || isIn(folder, homedir())) {
    return `The ${what} ${shown} is a home or holds homes, which cannot be a box: choose a folder in it.`
  }
  if (isIn(folder, ownHome) || isIn(ownHome, folder)) return `The ${what} ${shown} holds data of this service, or is among it.`
  // Programs are installed below /opt, and so are projects.
  const inSystem = [...SYSTEM, ...OF_THE_SYSTEM].some((each) => isIn(folder, each) || (each !== '/opt' && isIn(each, folder)))
  return inSystem ? `The ${what} ${shown} belongs to the system.` : undefined
}

/** A system folder, or a symbolic link in its place with the target `link`. */
type Shown = { path: string, link?: string }

/** Returns the system folders that exist on this computer. */
export function systemFolders (): Shown[] {
  return SYSTEM.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry === undefined) return []
    return [entry.isSymbolicLink() ? { path, link: readlinkSync(path) } : { path }]
  })
}

/** Returns the existing folders and files among MASKED, which a box hides. Symbolic links are left out. */
export function maskedPlaces (): Array<{ path: string, isFolder: boolean }> {
  return MASKED.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    return entry === undefined || entry.isSymbolicLink() ? [] : [{ path, isFolder: entry.isDirectory() }]
  })
}

/** Returns the path of the home that programs in a box see: HOME, or /tmp/home if HOME overlaps a system folder. */
export function boxHome ({ HOME = homedir() }: NodeJS.ProcessEnv): string {
  const isUsual = isAbsolute(HOME) && HOME !== '/' && ![...SYSTEM, '/proc', '/sys', '/dev', '/tmp', '/var', '/run']
    .some((each) => isIn(each, HOME) || isIn(HOME, each))
  return isUsual ? resolve(HOME) : '/tmp/home'
}

/**
 * Returns the toolchains that exist in the home, and the folders of PATH outside the home and the system with what their programs need.
 * Folders that overlap the service's own are left out.
 */
export function toolchains ({ HOME = homedir(), PATH = '' }: NodeJS.ProcessEnv, ownHome: string): string[] {
  const inHome = TOOLCHAINS.map((name) => join(HOME, name)).filter(existsSync)
  const isKnown = (path: string) => [HOME, ...SYSTEM, '/proc', '/sys', '/dev', '/run'].some((each) => isIn(each, path))
  const programs = PATH.split(':').filter((path) => isAbsolute(path) && !isKnown(path) && existsSync(path)).flatMap(withLibraries)
  const isOwn = (path: string) => isIn(path, ownHome) || isIn(ownHome, path)
  return [...new Set([...inHome, ...programs])].filter((path) => !isOwn(path) && path !== '/')
}

/** Returns a folder of PATH, and the folders beside it that its programs need. */
function withLibraries (path: string): string[] {
  const above = dirname(path)
  // Programs of packages are links into the folder of packages.
  if (basename(path) === '.bin' && basename(above) === 'node_modules') return [above]
  if (!['bin', 'sbin'].includes(basename(path))) return [path]
  const parts = TOOLCHAIN_PARTS.find(({ mark }) => existsSync(join(above, mark)))?.parts ?? []
  return [path, ...[...BESIDE_PROGRAMS, ...parts].map((name) => join(above, name)).filter(existsSync)]
}

/** Returns the places outside the working folder that have the same content inside and outside a box. */
export const linkableFolders = (environment: NodeJS.ProcessEnv, ownHome: string): string[] =>
  [...SYSTEM, '/dev/null', ...toolchains(environment, ownHome)]

/**
 * Returns the places outside the working folder that exist in a box: those that it shows, and its own /proc, /dev and temporary folders.
 */
export const shownFolders = (environment: NodeJS.ProcessEnv, ownHome: string): string[] =>
  [...linkableFolders(environment, ownHome), '/proc', '/dev', '/tmp', '/var/tmp']
