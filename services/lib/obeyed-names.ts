import { isShortName } from './windows-path.ts'

// The one table of names of files that programs obey, which means that they act on such a file by themselves. `opens`: obeyed as soon as
// somebody opens or enters the folder, or by a hook that exists. `starts`: obeyed when a person starts something. Names are in lower case
// and compared in the form of `plainName`.

/**
 * Names that editors, shells, version managers, agents, hook managers and operating systems obey (they act on such files by themselves),
 * and names that programs obey in a home folder. A folder includes everything in it.
 */
const OPENS = new Set([
  '.vscode', '.idea', '.zed', '.fleet', '.vs', '.theia', '.nova', '.helix', '.devcontainer', '.devcontainer.json',
  '.exrc', '.nvimrc', '.nvim.lua', '.nvim', '.vimrc', '.lvimrc', '.local.vimrc', '.vimrc.local', '.dir-locals.el', '.dir-locals-2.el',
  '.ycm_extra_conf.py', '.luarc.json', '.luarc.jsonc', '.neoconf.json', 'rust-analyzer.toml', '.rust-analyzer.toml', '.lapce',
  '.project', '.externaltoolbuilders', '.kateproject', '.kakrc', '_vimrc', '_exrc', '.projectile', '.emacs.desktop', '.solargraph.yml',
  '.phpactor.json', '.phpactor.yml', '.lite_project.lua', '.lite_project', '.tm_properties', '.tern-project', '.octaverc', 'nbproject',
  '.kdev4', '.pulsar',
  // Remote workspaces start these when they open.
  '.gitpod.yml', '.gitpod', '.codesandbox', '.stackblitzrc', '.replit', 'replit.nix', '.idx', 'devfile.yaml', '.devfile.yaml',
  '.envrc', '.envrc.local', '.direnv', '.mise', '.rtx.toml', '.tool-versions', '.autoenv', '.autoenv.zsh', '.autoenv_leave.zsh',
  '.env.leave', '.shadowenv.d', '.rvmrc', '.localrc', '.ondirrc', '.powenv', '.powrc', '.envrc.fish', '.autoenv.fish',
  '.agents', '.claude', '.codex', '.gemini', '.cursor', '.windsurf', '.kiro', '.amazonq', '.roo', '.qwen', '.opencode',
  '.mcp.json', 'opencode.json', '.crush.json', '.aider.conf.yml', 'agents.md', 'agents.override.md', 'claude.md', 'claude.local.md',
  'gemini.md', 'qwen.md', 'skill.md', '.cursorrules', '.windsurfrules',
  '.opencode.json', 'opencode.jsonc', 'crush.json', '.crush', '.amp', '.warp', 'warp.md', '.iflow', 'iflow.md', '.openhands',
  '.openhands_instructions', '.factory', '.junie', '.trae', '.augment', '.augment-guidelines', '.continue', '.continuerules', '.goose',
  '.goosehints', '.cline', '.clinerules', '.kilocode', '.roomodes', '.roorules', '.rules', '.codebuddy', 'codebuddy.md', '.aiassistant',
  '.aider.model.settings.yml', '.repo', '.vibe', '.firebender', '.agent',
  'agent.md', 'crush.md', 'replit.md', '.mcp',
  '.claude.json', '.claude-plugin', 'gemini-extension.json', '.copilot', '.kimi', '.grok', '.devin', '.jules', '.pearai', '.void', '.qodo',
  '.zencoder', '.codeium', '.cody', '.tabnine', '.kilocoderules', '.aider.conf.yaml', '.lingma', '.rovodev', '.gptme', 'gptme.toml',
  '.ruler', '.serena', '.droid',
  '.githooks', '.git-hooks', '.git_hooks', '.husky', '.huskyrc', '.huskyrc.json', '.huskyrc.js', '.pre-commit-config.yaml',
  '.pre-commit-config.yml', '.lefthook', '.overcommit', '.yorkie', '.gitlint',
  '.overcommit.yml', '.captainhook.json', 'captainhook.json', 'grumphp.yml', 'hk.pkl', 'prek.toml',
  'desktop.ini', 'autorun.inf', 'autorun.sh', '.autorun', '.autoopen', '.directory',
  // Debuggers and consoles of languages read these where they are started.
  '.gdbinit', '.lldbinit', '.pdbrc', '.pdbrc.py', '.irbrc', '.pryrc', '.byebugrc', '.rdbgrc', '.perldb', '.ghci', '.ocamlinit', '.iex.exs',
  // If the folder is somebody's home: shells, sessions, git and ssh read these at each start.
  '.profile', '.bash_profile', '.bash_login', '.bashrc', '.bash_logout', '.zshenv', '.zprofile', '.zshrc', '.zlogin', '.zlogout',
  '.bash_aliases', '.inputrc', '.lessfilter', '.forward', '.procmailrc', '.rhosts', '.shosts', '.emacs', '.emacs.d', '.vim', '.gvimrc',
  '.tmux.conf', '.screenrc', '.xsessionrc', '.rprofile', '.renviron',
  '.kshrc', '.cshrc', '.tcshrc', '.login', '.xprofile', '.xsession', '.xinitrc', '.pam_environment', '.gitconfig', '.ssh'
])
/** Names that an agent obeys where it is started. Pages of documentation about the agent have the same names. */
const OF_PAGES = new Set(['crush.md', 'replit.md'])
const PAGES = /^(?:docs?|documentation|guides?|install(?:ation)?)$/
/** Patterns for programs that obey several names. */
const OPENS_PATTERNS = [
  /\.(?:code-workspace|sublime-project)$/, /^\.?mise(?:\.[\w-]+)*\.toml$/, /^\.?lefthook(?:-local)?\.(?:ya?ml|toml|jsonc?)$/,
  /^\.?simple-git-hooks\./,
  // Programs that get `*` take such a name for an option, as `tar` does `--checkpoint-action=exec=…`.
  /^-.*[= ]/
]
/** Names of git's hooks. They count in any folder, because a setting of the user can name that folder as the folder for hooks. */
const HOOK = new RegExp(
  '^(?:(?:pre|post)-(?:applypatch|commit|rebase|checkout|merge|push|rewrite|receive|update|auto-gc|index-change)|applypatch-msg|' +
    'pre-merge-commit|prepare-commit-msg|commit-msg|reference-transaction|push-to-checkout|proc-receive|sendemail-validate)$'
)
/** Names that are obeyed only in a folder of the given name. */
const OPENS_IN = new Map(Object.entries({
  '.github': new Set(['copilot-instructions.md', 'instructions', 'prompts', 'chatmodes', 'agents', 'hooks', 'skills']),
  repo: new Set(['config.toml', 'config', 'config-id']),
  branch: new Set(['branch.conf']),
  cvs: new Set(['root', 'template', 'checkin.prog', 'update.prog']),
  _darcs: new Set(['prefs', 'hooks']),
  '.fossil-settings': new Set(['editor', 'diff-command', 'gdiff-command', 'pgp-command', 'th1-setup', 'tcl-setup']),
  // Editors list the packages of a folder as they open it, with the compiler that is named here.
  '.cargo': new Set(['config', 'config.toml']),
  '.config': new Set(['git', 'fish', 'mise', 'mise.toml', 'direnv', 'autostart', 'systemd', 'environment.d', 'nvim']),
  '.local': new Set(['bin', 'lib']),
  mise: new Set(['config.toml'])
}))
/**
 * Files that other version control systems write in their folders as they work. All other files there are settings or hooks, or lead to
 * such files elsewhere. So does a file in place of such a folder. A folder without the entry `mark` is not one of these systems':
 * everything in it counts as obeyed.
 */
const OF_VERSION_CONTROL = new Map<string, { mark: string, folders: RegExp, files?: RegExp }>(Object.entries({
  '.hg': {
    mark: 'store',
    folders: /^(?:store|w?cache|strip-backup|shelved|sparse|largefiles)$/,
    files: new RegExp(
      '^(?:dirstate.*|00changelog\\.i|requires|branch|bookmarks.*|last-message\\.txt|(?:undo|journal)\\..*|w?lock|localtags|' +
        'phaseroots|[a-z]+-?state|merge|treestate.*|blackbox.*|topic|narrowspec.*)$'
    )
  },
  '.sl': {
    mark: 'store',
    folders: /^(?:store|w?cache|strip-backup|shelved)$/,
    files: /^(?:dirstate.*|00changelog\.i|requires|bookmarks.*|[a-z]+-?state|w?lock|undo\..*)$/
  },
  '.svn': {
    mark: 'entries',
    folders: /^(?:pristine|tmp|text-base|prop-base|props)$/,
    files: /^(?:wc\.db.*|entries|format|lock|all-wcprops|dir-prop.*)$/
  },
  '.bzr': { mark: 'branch-format', folders: /^(?:branch|branch-lock|repository|checkout)$/, files: /^(?:readme|branch-format)$/ },
  '.jj': { mark: 'repo', folders: /^(?:repo|working_copy)$/ },
  '.pijul': { mark: 'pristine', folders: /^(?:pristine|changes|tmp)$/ }
}))
/** Folders of version control. Each write of a tool in them asks the user, but a command is allowed to work in them. */
const VERSION_CONTROL = new Set(['.git', '.hg', '.svn'])
/** Files that make a shell read `.env` beside them when somebody enters the folder. */
export const ENV_LOADERS = new Set(['.envrc', '.envrc.local', '.mise.toml', 'mise.toml', '.autoenv', '.autoenv.zsh'])

/** Folders whose content is executed, or decides how programs behave. */
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
// Files that tools look for by their names.
const STARTS_PATTERNS = [
  /^[a-z]+file$/, /^(gulp|grunt|jake|cake)file\./, /\.(config|conf|setup)\.[cm]?[jt]s$/, /^tsconfig.*\.json$/, /\.mk$/,
  /^requirements.*\.txt$/, /^dockerfile\./, /^makefile\./, /\.(csproj|sln|vcxproj|props|targets|gemspec|podspec)$/
]
/** Extensions of programs, of files that start programs, and of files that a system obeys at a login or a click. */
const EXECUTABLES = new Set([
  '.sh', '.bash', '.zsh', '.fish', '.ksh', '.csh', '.ps1', '.psm1', '.bat', '.cmd', '.exe', '.com', '.msi', '.scr', '.pif', '.vbs', '.vbe',
  '.wsf', '.hta', '.jar', '.dll', '.so', '.dylib', '.node', '.app', '.command', '.tool', '.scpt', '.applescript', '.workflow', '.desktop',
  '.appimage', '.service', '.timer', '.plist', '.lnk', '.url', '.webloc', '.reg', '.inf', '.pkg', '.deb', '.rpm', '.run', '.bin', '.pth',
  '.cpl', '.msc', '.msp', '.mst', '.jse', '.ws', '.wsc', '.wsh', '.sct', '.scf', '.chm', '.ps1xml', '.psd1', '.appref-ms', '.application',
  '.settingcontent-ms', '.library-ms', '.search-ms', '.xll', '.gadget'
])

const VISIBLE = [...OPENS].filter((name) => !name.startsWith('.')).map((name) => name.replaceAll('.', '\\.'))
/** A quick test: it matches every path with a name for which `isOpened` returns true. Most paths do not match, and need no closer look. */
export const MAY_BE_OPENED = new RegExp(
  `(?:^|/)(?:[-.]|${VISIBLE.join('|')}|mise|lefthook|simple-git)|` +
    '[^\\x21-\\x39\\x3b-\\x7e]|\\.(?:code-workspace|sublime-project)|~\\d|[. ](?:/|$)',
  'i'
)

// eslint-disable-next-line no-control-regex
const USUAL = /^[\u0000-\u0039\u003b-\u007f]*$/

/**
 * Returns a name as the most tolerant file system reads it. Windows ignores everything after a colon, other systems ignore invisible
 * characters.
 */
export function plainName (name: string): string {
  const plain = USUAL.test(name)
    ? name.toLowerCase()
    : name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').normalize('NFKC').toLowerCase().replace(/:.*$/s, '')
  return /[. ]$/.test(plain) ? plain.replace(/[. ]+$/, '') : plain
}

/**
 * True if programs act on a file of this name by themselves (obey it) as soon as somebody opens or enters its folder. `folder` is the name
 * of that folder; `isFolder` says whether the file is a folder itself, and `beside` has the plain names in that folder. Both are undefined
 * if they are not known.
 */
export function isOpened (folder: string, name: string, isFolder?: boolean, beside?: ReadonlySet<string>): boolean {
  const plain = plainName(name)
  const known = OF_VERSION_CONTROL.get(plainName(folder))
  if (known !== undefined) {
    if (beside?.has(known.mark) === false) return true
    return !(isFolder !== false && known.folders.test(plain)) && !(isFolder !== true && known.files?.test(plain) === true)
  }
  if (OF_PAGES.has(plain) && PAGES.test(plainName(folder))) return false
  if (OPENS.has(plain) || OPENS_PATTERNS.some((pattern) => pattern.test(plain))) return true
  return OPENS_IN.get(plainName(folder))?.has(plain) === true
}

/** True if some file system takes a name for `.git`. Windows also knows `.git` by a short name. */
export const isGitName = (name: string): boolean => /^(?:\.git|git~\d+)$/.test(plainName(name))
export const isAttributes = (name: string): boolean => plainName(name) === '.gitattributes'

/** True if a file is one of git's hooks, by its name. */
export const isHookName = (name: string): boolean => HOOK.test(plainName(name))

const namesOf = (path: string): string[] => path.split(/[\\/]/).filter((name) => name !== '')

/**
 * True if programs act on a path, or on a folder that contains the path, by themselves as soon as somebody opens or enters a folder.
 * Everything in folders of version control counts, too.
 */
export function isOpenedPath (path: string): boolean {
  const all = namesOf(path)
  // Agents keep working copies of a repository below their folder.
  const names = all.slice(all.findLastIndex((name, at) => name === 'worktrees' && isOpened('', all[at - 1] ?? '')) + 1)
  return names.some((name, at) => {
    const plain = plainName(name)
    // `GIT~1` can be the short name of `.git` on Windows.
    return VERSION_CONTROL.has(plain) || isShortName(plain) || isOpened(names[at - 1] ?? '', name) ||
      (plain === '.env' && at === names.length - 1)
  })
}

/** The names in a git directory on which git acts by itself (which it obeys). */
const OF_GIT = new Set(['config', 'config.worktree', 'hooks', 'info', 'commondir', 'gitdir', 'branches', 'remotes'])

/** Like `isOpenedPath`, but in a git directory only the files that git obeys count: not its objects, refs, index and logs. */
export function isOpenedChange (path: string): boolean {
  const names = namesOf(path)
  const git = names.findLastIndex((name) => plainName(name) === '.git')
  if (git === -1) return isOpenedPath(path)
  return isOpenedPath(names.slice(0, git).join('/')) || names.slice(git + 1).some((name) => OF_GIT.has(plainName(name)))
}

/** True if programs or systems execute or obey a file with this path when a person starts something. */
export function isStarted (path: string): boolean {
  const names = namesOf(path).map(plainName)
  const name = names.at(-1) ?? ''
  // Hidden files are nearly always settings or scripts.
  return names.some((each) => STARTS_FOLDERS.has(each)) || STARTS.has(name) || name.startsWith('.') ||
    STARTS_PATTERNS.some((pattern) => pattern.test(name)) || EXECUTABLES.has(endingOf(name))
}

/** Returns the extension of a name with its dot, in the form in which it is compared; '' without one. */
export function endingOf (name: string): string {
  const plain = plainName(name)
  const at = plain.lastIndexOf('.')
  return at > 0 ? plain.slice(at) : ''
}
