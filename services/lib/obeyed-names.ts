import { isShortName } from './windows-path.ts'

// The one table of names that programs obey. `opens`: when somebody only opens or enters the folder, or by a hook that exists; `starts`:
// when a person starts something. Names are in lower case, and compared as `plainName` has them.

/** Of editors, shells and managers of versions, agents, managers of hooks, systems and homes; folders with all that is in them. */
const OPENS = new Set([
  '.vscode', '.idea', '.zed', '.fleet', '.vs', '.theia', '.nova', '.helix', '.devcontainer', '.devcontainer.json',
  '.exrc', '.nvimrc', '.nvim.lua', '.nvim', '.vimrc', '.lvimrc', '.local.vimrc', '.vimrc.local', '.dir-locals.el', '.dir-locals-2.el',
  '.ycm_extra_conf.py', '.luarc.json', '.luarc.jsonc', '.neoconf.json', 'rust-analyzer.toml', '.rust-analyzer.toml', '.lapce',
  '.project', '.externaltoolbuilders',
  // Workspaces on servers start these as they open.
  '.gitpod.yml', '.gitpod', '.codesandbox', '.stackblitzrc', '.replit', 'replit.nix', '.idx', 'devfile.yaml', '.devfile.yaml',
  '.envrc', '.envrc.local', '.direnv', '.mise', '.rtx.toml', '.tool-versions', '.autoenv', '.autoenv.zsh', '.autoenv_leave.zsh',
  '.env.leave', '.shadowenv.d',
  '.agents', '.claude', '.codex', '.gemini', '.cursor', '.windsurf', '.kiro', '.amazonq', '.roo', '.qwen', '.opencode',
  '.mcp.json', 'opencode.json', '.crush.json', '.aider.conf.yml', 'agents.md', 'agents.override.md', 'claude.md', 'claude.local.md',
  'gemini.md', 'qwen.md', 'skill.md', '.cursorrules', '.windsurfrules',
  '.opencode.json', 'opencode.jsonc', 'crush.json', '.crush', '.amp', '.warp', 'warp.md', '.iflow', 'iflow.md', '.openhands',
  '.openhands_instructions', '.factory', '.junie', '.trae', '.augment', '.augment-guidelines', '.continue', '.continuerules', '.goose',
  '.goosehints', '.cline', '.clinerules', '.kilocode', '.roomodes', '.roorules', '.rules', '.codebuddy', 'codebuddy.md', '.aiassistant',
  '.aider.model.settings.yml', '.vibe', '.firebender', '.agent',
  '.githooks', '.git-hooks', '.husky', '.huskyrc', '.huskyrc.json', '.huskyrc.js', '.pre-commit-config.yaml', '.lefthook',
  '.overcommit.yml', '.captainhook.json', 'captainhook.json', 'grumphp.yml', 'hk.pkl', 'prek.toml',
  'desktop.ini', 'autorun.inf', 'autorun.sh', '.autorun', '.autoopen', '.directory',
  // Where the folder is somebody's home: shells, sessions, git and ssh read these at each start.
  '.profile', '.bash_profile', '.bash_login', '.bashrc', '.bash_logout', '.zshenv', '.zprofile', '.zshrc', '.zlogin', '.zlogout',
  '.bash_aliases', '.inputrc', '.lessfilter', '.forward', '.procmailrc', '.rhosts', '.shosts', '.emacs', '.emacs.d', '.vim', '.gvimrc',
  '.tmux.conf', '.screenrc', '.xsessionrc', '.rprofile', '.renviron',
  '.kshrc', '.cshrc', '.tcshrc', '.login', '.xprofile', '.xsession', '.xinitrc', '.pam_environment', '.gitconfig', '.ssh'
])
/** Of those of which programs take several. */
const OPENS_PATTERNS = [
  /\.(?:code-workspace|sublime-project)$/, /^\.?mise(?:\.[\w-]+)*\.toml$/, /^\.?lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
  /^\.?simple-git-hooks\./
]
/** Hooks of git, in whatever folder: a setting of the user may name that. */
const HOOK = new RegExp(
  '^(?:(?:pre|post)-(?:applypatch|commit|rebase|checkout|merge|push|rewrite|receive|update|auto-gc|index-change)|applypatch-msg|' +
    'pre-merge-commit|prepare-commit-msg|commit-msg|reference-transaction|push-to-checkout|proc-receive|sendemail-validate)$'
)
/** In a folder of that name. */
const OPENS_IN: Record<string, Set<string>> = {
  '.github': new Set(['copilot-instructions.md', 'instructions', 'prompts', 'chatmodes', 'agents', 'hooks', 'skills']),
  '.hg': new Set(['hgrc', 'hgrc-not-shared', 'sharedpath']),
  '.sl': new Set(['config']),
  '.config': new Set(['git', 'fish', 'mise', 'mise.toml', 'direnv', 'autostart', 'systemd', 'environment.d', 'nvim']),
  '.local': new Set(['bin', 'lib']),
  mise: new Set(['config.toml'])
}
/** Folders of version control: writes of anything in them ask, while commands work in them. */
const VERSION_CONTROL = new Set(['.git', '.hg', '.svn'])
/** Files that make shells read `.env` beside them when somebody enters the folder. */
export const ENV_LOADERS = new Set(['.envrc', '.envrc.local', '.mise.toml', 'mise.toml', '.autoenv', '.autoenv.zsh'])

/** Folders whose content is executed, or decides what programs do. */
const STARTS_FOLDERS = new Set([
  '.github', '.gitlab', '.gitea', '.forgejo', '.circleci', '.buildkite', 'hooks', '.cargo', '.ssh', '.config', 'node_modules', '.yarn',
  '.venv', 'venv', '__pycache__'
])
/** Files that package managers, build tools and tests execute or obey. */
const STARTS = new Set([
  'package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'bun.lock',
  'bun.lockb', 'bunfig.toml', 'deno.json', 'deno.jsonc', 'deno.lock', 'jsr.json', 'taskfile.yml', 'taskfile.yaml',
  'gemfile.lock', 'pyproject.toml', 'pytest.ini', 'setup.py', 'setup.cfg', 'conftest.py', 'sitecustomize.py', 'usercustomize.py',
  'pipfile.lock', 'poetry.lock', 'uv.lock', 'tox.ini', 'noxfile.py', 'cargo.toml', 'cargo.lock', 'build.rs', 'go.mod', 'go.sum',
  'composer.json', 'composer.lock', 'pom.xml', 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts',
  'gradle.properties', 'gradlew', 'mvnw', 'cmakelists.txt', 'meson.build', 'build.bazel', 'workspace', 'mix.exs', 'mix.lock',
  'docker-compose.yml', 'docker-compose.yaml', 'compose.yml', 'compose.yaml', 'action.yml', 'action.yaml', 'azure-pipelines.yml',
  'appveyor.yml', 'bitbucket-pipelines.yml', 'flake.nix', 'flake.lock', 'default.nix', 'shell.nix'
])
// Files that tools look for by a name.
const STARTS_PATTERNS = [
  /^[a-z]+file$/, /^(gulp|grunt|jake|cake)file\./, /\.(config|conf|setup)\.[cm]?[jt]s$/, /^tsconfig.*\.json$/, /\.mk$/,
  /^requirements.*\.txt$/, /^dockerfile\./, /^makefile\./, /\.(csproj|sln|vcxproj|props|targets|gemspec|podspec)$/
]
/** Endings of programs, of what starts them, and of what a system obeys at a login or a click. */
const EXECUTABLES = new Set([
  '.sh', '.bash', '.zsh', '.fish', '.ksh', '.csh', '.ps1', '.psm1', '.bat', '.cmd', '.exe', '.com', '.msi', '.scr', '.pif', '.vbs', '.vbe',
  '.wsf', '.hta', '.jar', '.dll', '.so', '.dylib', '.node', '.app', '.command', '.tool', '.scpt', '.applescript', '.workflow', '.desktop',
  '.appimage', '.service', '.timer', '.plist', '.lnk', '.url', '.webloc', '.reg', '.inf', '.pkg', '.deb', '.rpm', '.run', '.bin', '.pth',
  '.cpl', '.msc', '.msp', '.mst', '.jse', '.ws', '.wsc', '.wsh', '.sct', '.scf', '.chm', '.ps1xml', '.psd1', '.appref-ms', '.application',
  '.settingcontent-ms', '.library-ms', '.search-ms', '.xll', '.gadget'
])

const VISIBLE = [...OPENS].filter((name) => !name.startsWith('.')).map((name) => name.replaceAll('.', '\\.'))
/** What no path lacks in which something is that `isOpened` knows: most need no closer look. */
export const MAY_BE_OPENED = new RegExp(
  `(?:^|/)(?:\\.|${VISIBLE.join('|')}|mise|lefthook|simple-git)|` +
    '[^\\x21-\\x39\\x3b-\\x7e]|\\.(?:code-workspace|sublime-project)|~\\d|[. ](?:/|$)',
  'i'
)

// eslint-disable-next-line no-control-regex
const USUAL = /^[\u0000-\u0039\u003b-\u007f]*$/

/** Returns a name as the laxest file system has it. Windows ignores what follows a colon, others characters that are not shown. */
export function plainName (name: string): string {
  const plain = USUAL.test(name)
    ? name.toLowerCase()
    : name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC').toLowerCase().replace(/:.*$/s, '')
  return /[. ]$/.test(plain) ? plain.replace(/[. ]+$/, '') : plain
}

/** Whether programs obey what has this name in a folder as soon as somebody opens or enters that. `folder`: the name of that. */
export function isOpened (folder: string, name: string): boolean {
  const plain = plainName(name)
  if (OPENS.has(plain) || OPENS_PATTERNS.some((pattern) => pattern.test(plain))) return true
  return OPENS_IN[plainName(folder)]?.has(plain) === true
}

/** Whether some file system takes a name for `.git`, Windows by its short form, too. */
export const isGitName = (name: string): boolean => /^(?:\.git|git~\d+)$/.test(plainName(name))
export const isAttributes = (name: string): boolean => plainName(name) === '.gitattributes'

/** Whether a file is one of git's hooks, by its name. */
export const isHookName = (name: string): boolean => HOOK.test(plainName(name))

const namesOf = (path: string): string[] => path.split(/[\\/]/).filter((name) => name !== '')

/** Whether a path is, or lies in, what programs obey as soon as somebody opens or enters a folder; what belongs to version control, too. */
export function isOpenedPath (path: string): boolean {
  const all = namesOf(path)
  // Agents keep copies of a repository to work in below their folder.
  const names = all.slice(all.findLastIndex((name, at) => name === 'worktrees' && isOpened('', all[at - 1] ?? '')) + 1)
  return names.some((name, at) => {
    const plain = plainName(name)
    // `GIT~1` may be the short form of `.git` on Windows.
    return VERSION_CONTROL.has(plain) || isShortName(plain) || isOpened(names[at - 1] ?? '', name) ||
      (plain === '.env' && at === names.length - 1)
  })
}

/** What git obeys in one of its directories. */
const OF_GIT = new Set(['config', 'config.worktree', 'hooks', 'info', 'commondir', 'gitdir', 'branches', 'remotes'])

/** As `isOpenedPath`, but of a git directory what git obeys in it alone: not its objects, refs, index and logs. */
export function isOpenedChange (path: string): boolean {
  const names = namesOf(path)
  const git = names.findLastIndex((name) => plainName(name) === '.git')
  if (git === -1) return isOpenedPath(path)
  return isOpenedPath(names.slice(0, git).join('/')) || names.slice(git + 1).some((name) => OF_GIT.has(plainName(name)))
}

/** Whether programs or systems execute or obey what is written to a path, by its name, when a person starts something. */
export function isStarted (path: string): boolean {
  const names = namesOf(path).map(plainName)
  const name = names.at(-1) ?? ''
  // Hidden files are settings or scripts nearly always.
  return names.some((each) => STARTS_FOLDERS.has(each)) || STARTS.has(name) || name.startsWith('.') ||
    STARTS_PATTERNS.some((pattern) => pattern.test(name)) || EXECUTABLES.has(endingOf(name))
}

/** Returns the ending of a name with its dot, as it is compared; '' without one. */
export function endingOf (name: string): string {
  const plain = plainName(name)
  const at = plain.lastIndexOf('.')
  return at > 0 ? plain.slice(at) : ''
}
