import { existsSync, lstatSync, readlinkSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

// What a box shows and hides: this is the one list.

/** Folders of the system that commands may read; nothing else of the computer is there. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/etc', '/opt', '/nix', '/gnu']

/** Keys, passwords and names of networks in these folders: what root may read of them, its commands may not. */
const MASKED = [
  '/etc/shadow', '/etc/shadow-', '/etc/gshadow', '/etc/gshadow-', '/etc/sudoers', '/etc/sudoers.d', '/etc/security/opasswd', '/etc/ssh',
  '/etc/ssl/private', '/etc/pki/tls/private', '/etc/letsencrypt', '/etc/krb5.keytab', '/etc/NetworkManager/system-connections',
  '/etc/wpa_supplicant', '/etc/wireguard', '/etc/openvpn', '/etc/docker', '/etc/kubernetes', '/etc/rancher', '/etc/netplan'
]

/** Compilers, interpreters and their packages in the user's home. Their folders of settings and of credentials are not among them. */
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

/**
 * Entries of a working folder that programs obey as soon as somebody opens the folder or enters it with a shell. What a person starts by
 * its name, such as the scripts of package.json, is not among them: to change it is what commands are for.
 */
export const OBEYED = [
  '.vscode', '.idea', '.zed', '.fleet', '.devcontainer', '.cursor', '.windsurf', '.agents', '.claude', '.codex', '.gemini', '.githooks',
  '.husky', '.mcp.json', '.envrc', '.exrc', '.nvimrc', '.nvim.lua', '.vimrc', '.lvimrc', '.dir-locals.el'
]

/** Names of variables that look like secrets, or that lead to programs which hold some. */
const SECRET_NAMES = [
  /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|COOKIE|PRIVATE|BEARER|SIGNATURE/,
  /(?:^|_)(?:KEYS?|AUTH|PAT|SESSION|DSN|JWT|SAS|PASS|PSK|PIN|OTP)(?:_|$)/,
  /^(?:AWS|AZURE|GCP|GOOGLE|CLOUDSDK|ALIBABA|OCI|DIGITALOCEAN|HCLOUD|CLOUDFLARE|VAULT|CONSUL|KUBE|DOCKER|GPG|SSH|DBUS)_/,
  /^(?:XAUTHORITY|DISPLAY|WAYLAND_DISPLAY|XDG_RUNTIME_DIR|SESSION_MANAGER|KRB5CCNAME|NETRC|PGPASSFILE|KUBECONFIG|SUDO_ASKPASS|BROWSER)$/,
  // Would load what is not in the box, or lead out of it.
  /^(?:LD_|DYLD_|BASH_ENV$|ENV$|NODE_OPTIONS$|PYTHONSTARTUP$|PERL5OPT$|RUBYOPT$|JAVA_TOOL_OPTIONS$|GIT_(?!AUTHOR_|COMMITTER_))/,
  /^(?:HTTPS?|ALL|FTP|NO)_PROXY$/
]
/** An address with a password in it. */
const LOGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i

/** Returns the environment of commands in a box: without names and values that look like secrets. */
export function boxEnvironment (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPlain = ([name, value]: [string, string | undefined]) =>
    value !== undefined && !LOGIN.test(value) && !SECRET_NAMES.some((pattern) => pattern.test(name.toUpperCase()))
  return Object.fromEntries(Object.entries(environment).filter(isPlain))
}

/** Whether the path is the folder or lies in it. */
export function isIn (folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!isAbsolute(way) && way !== '..' && !way.startsWith(`..${sep}`))
}

/** Further folders that are no place for work. */
const OF_THE_SYSTEM = ['/proc', '/sys', '/dev', '/boot', '/run', '/var/run', '/System', '/Library', '/private/etc', '/private/var/db',
  '/private/var/root', '/private/var/run']
const HOMES = /^\/(?:root|(?:home|Users)(?:\/[^/]+)?)$/

/** Returns why no box can have this real folder as a place to work, a sentence; undefined when one can. `what` it is called. */
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

/** A folder of the system, or a link in its place. */
type Shown = { path: string, link?: string }

/** Returns the folders of the system that there are. */
export function systemFolders (): Shown[] {
  return SYSTEM.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry === undefined) return []
    return [entry.isSymbolicLink() ? { path, link: readlinkSync(path) } : { path }]
  })
}

/** Returns the places in these folders that a box hides: folders, and files. */
export function maskedPlaces (): Array<{ path: string, isFolder: boolean }> {
  return MASKED.flatMap((path) => {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    return entry === undefined || entry.isSymbolicLink() ? [] : [{ path, isFolder: entry.isDirectory() }]
  })
}

/** Returns the home that programs in a box see, which is empty but for toolchains. A home that is no folder of its own is in /tmp. */
export function boxHome ({ HOME = homedir() }: NodeJS.ProcessEnv): string {
  const isUsual = isAbsolute(HOME) && HOME !== '/' && ![...SYSTEM, '/proc', '/sys', '/dev', '/tmp', '/var', '/run']
    .some((each) => isIn(each, HOME) || isIn(HOME, each))
  return isUsual ? resolve(HOME) : '/tmp/home'
}

/** Returns the toolchains that there are, in the home and where PATH leads outside of homes, and that are no data of this service. */
export function toolchains ({ HOME = homedir(), PATH = '' }: NodeJS.ProcessEnv, ownHome: string): string[] {
  const inHome = TOOLCHAINS.map((name) => join(HOME, name)).filter(existsSync)
  const isKnown = (path: string) => [HOME, ...SYSTEM, '/proc', '/sys', '/dev', '/run'].some((each) => isIn(each, path))
  const programs = PATH.split(':').filter((path) => isAbsolute(path) && !isKnown(path) && existsSync(path)).map((path) => {
    const above = dirname(path)
    const isTooWide = dirname(above) === '/' || isIn(above, HOME) || isIn(above, ownHome)
    // Programs find their libraries beside their folder.
    return isTooWide ? path : above
  })
  const isOwn = (path: string) => isIn(path, ownHome) || isIn(ownHome, path)
  return [...new Set([...inHome, ...programs])].filter((path) => !isOwn(path) && path !== '/')
}
