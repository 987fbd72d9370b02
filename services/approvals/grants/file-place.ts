import { homedir } from 'node:os'
import { basename, extname, isAbsolute, relative, resolve, sep } from 'node:path'
import type { FilePlace } from '../../contracts/approval-record.ts'
import { isShortName } from '../../lib/windows-path.ts'

export const extensionOf = ({ name }: FilePlace): string => extname(name).toLowerCase()
export const pathOf = ({ folder, name }: FilePlace): string => resolve(folder, name)

/** Whether the place is in the folder or below it. Both are real paths. */
export function isBelow (folder: string, { folder: inner }: Pick<FilePlace, 'folder'>): boolean {
  const path = relative(folder, inner)
  return path === '' || (!isAbsolute(path) && path !== '..' && !path.startsWith(`..${sep}`))
}

/** Folders whose content is executed, or decides what programs do. */
const FOLDERS = new Set([
  '.git', '.hg', '.svn', '.github', '.gitlab', '.gitea', '.forgejo', '.circleci', '.buildkite', '.husky', '.githooks', 'hooks',
  '.vscode', '.idea', '.zed', '.fleet', '.devcontainer', '.cursor', '.agents', '.claude', '.codex', '.cargo', '.ssh', '.config',
  'node_modules', '.yarn', '.venv', 'venv', '__pycache__'
])
/** Files that package managers, build tools, shells, editors or agents execute or obey. */
const FILES = new Set([
  'package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'bun.lock',
  'bun.lockb', 'bunfig.toml', 'deno.json', 'deno.jsonc', 'deno.lock', 'jsr.json', '.pnpmfile.cjs', 'taskfile.yml', 'taskfile.yaml',
  'gemfile.lock', 'pyproject.toml', 'setup.py', 'setup.cfg', 'conftest.py', 'sitecustomize.py', 'pipfile.lock', 'poetry.lock', 'uv.lock',
  'tox.ini', 'noxfile.py', 'cargo.toml', 'cargo.lock', 'build.rs', 'go.mod', 'go.sum', 'composer.json', 'composer.lock', 'pom.xml',
  'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'gradle.properties', 'gradlew', 'mvnw', 'cmakelists.txt',
  'meson.build', 'build.bazel', 'workspace', 'mix.exs', 'mix.lock', 'docker-compose.yml', 'docker-compose.yaml', 'compose.yml',
  'compose.yaml', '.gitlab-ci.yml', '.travis.yml', 'azure-pipelines.yml', 'appveyor.yml', 'bitbucket-pipelines.yml',
  '.pre-commit-config.yaml', '.pre-commit-hooks.yaml', 'lefthook.yml', '.nvim.lua', '.dir-locals.el', 'agents.md', 'claude.md',
  'gemini.md', '.mcp.json', 'flake.nix', 'flake.lock', 'default.nix', 'shell.nix', 'desktop.ini', 'autorun.inf'
])
// Dot files without an ending and `*file`s are configuration or scripts nearly always; so are files that tools look for by a name.
const PATTERNS = [
  /^\.[^.]+$/, /^\.env\./, /^\.[^.]*rc\./, /^[a-z]+file$/, /^(gulp|grunt|jake|cake)file\./, /\.(config|conf|setup)\.[cm]?[jt]s$/,
  /^tsconfig.*\.json$/, /\.mk$/, /^requirements.*\.txt$/, /^dockerfile\./, /^makefile\./,
  /\.(csproj|sln|vcxproj|props|targets|gemspec|podspec)$/
]
/** Endings of programs, of what starts them, and of what a system obeys at a login or a click. */
const EXECUTABLES = new Set([
  '.sh', '.bash', '.zsh', '.fish', '.ksh', '.csh', '.ps1', '.psm1', '.bat', '.cmd', '.exe', '.com', '.msi', '.scr', '.pif', '.vbs', '.vbe',
  '.wsf', '.hta', '.jar', '.dll', '.so', '.dylib', '.node', '.app', '.command', '.tool', '.scpt', '.applescript', '.workflow', '.desktop',
  '.appimage', '.service', '.timer', '.plist', '.lnk', '.url', '.webloc', '.reg', '.inf', '.pkg', '.deb', '.rpm', '.run', '.bin', '.pth',
  '.cpl', '.msc', '.msp', '.mst', '.jse', '.ws', '.wsc', '.wsh', '.sct', '.scf', '.chm', '.ps1xml', '.psd1', '.appref-ms', '.application',
  '.settingcontent-ms', '.library-ms', '.search-ms', '.xll', '.gadget'
])

/** Whether programs or systems obey or execute what is written there, by its name. */
export function isObeyed (place: FilePlace): boolean {
  const folders = place.folder.split(/[\\/]/).map(plain)
  const name = plain(place.name)
  // `GIT~1` may be the short form of `.git` on Windows.
  return [...folders, name].some((part) => FOLDERS.has(part) || isShortName(part)) || FILES.has(name) ||
    PATTERNS.some((pattern) => pattern.test(name)) || EXECUTABLES.has(extname(name))
}

/** Whether the place is one that a grant for a folder never covers: what is written there may be executed later, unasked. */
export const isProtected = (place: FilePlace): boolean => isObeyed(place) || extname(plain(place.name)) === ''

/**
 * Whether a grant for the files of `folder` may cover the place: none that is protected, in no hidden folder below it. A home folder, one
 * that holds homes, and a hidden one are too wide or too much obeyed for such a grant.
 */
export function isCovered (folder: string, place: FilePlace): boolean {
  if (isProtected(place) || !isBelow(folder, place) || isHomeOrAbove(folder) || basename(folder).startsWith('.')) return false
  return !relative(folder, place.folder).split(/[\\/]/).some((part) => part.startsWith('.'))
}

const isHomeOrAbove = (folder: string): boolean =>
  isBelow(folder, { folder: homedir() }) || /^(?:[a-z]:)?[\\/](?:(?:home|users)(?:[\\/][^\\/]+)?|root)?[\\/]?$/i.test(folder)

/** Windows ignores trailing dots and blanks, and what follows a colon; some file systems ignore characters that are not shown. */
const plain = (name: string) =>
  name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC').toLowerCase().replace(/:.*$/s, '').replace(/[. ]+$/, '')
