import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isHookName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import { isScript, type NamedCommand, WORDS } from './named-by-settings.ts'
import { usesOf } from './package-scripts.ts'

/**
 * Limits: the size of a script (its content in base64), the words of one script, the files that all scripts name, and folders for one
 * script.
 */
const LARGEST = 64 * 1024
const MOST_WORDS = 500
const MOST_NAMED = 300
const MOST_BASES = 16
/** Folders of packages and build results: only their managers write there, and they replace the whole content. */
const OF_PACKAGES = /(?:^|\/)(?:node_modules|\.venv|venv|vendor|target|build|dist)\//

interface Found {
  folder: string
  /** The path at which commands see the folder. */
  seenAt: string
  entries: ReadonlyMap<string, { kind: string, content?: string }>
  gitDirectories: ReadonlyMap<string, { execs: readonly string[] }>
}
interface Around {
  /** The work trees of each git directory, by its path. */
  tops: ReadonlyMap<string, readonly string[]>
  /** Texts of hooks outside of the folder. */
  elsewhere?: readonly string[]
  /** Commands that git settings name. */
  commands?: readonly NamedCommand[]
  /** Folders of hooks, and scripts that git settings name. */
  hooks: readonly string[]
  /** Scripts that other scripts named, and that are read now. Absent: all hooks and all files of STARTERS are read. */
  scripts?: readonly string[]
}

/**
 * Names of files that start other files when somebody opens or enters the folder, or by a hook. Texts for models are not among them: the
 * files that they name are there to be edited.
 */
const STARTERS = new RegExp(
  String.raw`^(?:\.envrc(?:\.local)?|\.?mise.*\.toml|\.pre-commit-config\.ya?ml|\.?lefthook.*|\.autoenv.*|\.gitpod\.yml|\.?mcp\.json|` +
    String.raw`\.?opencode\.jsonc?|\.?crush\.json|tasks\.json|\.?devcontainer\.json|hooks\.json|\.overcommit\.yml|grumphp\.yml|` +
    String.raw`\.?captainhook\.json|hk\.pkl|prek\.toml|\.?simple-git-hooks\..*|languages\.toml|\.exrc|\.nvim\.lua|\.nvimrc|\.l?vimrc|` +
    String.raw`\.local\.vimrc|\.vimrc\.local|\.dir-locals(?:-2)?\.el|\.ycm_extra_conf\.py|\.replit|\.?devfile\.yaml|\.rvmrc|\.env\.leave|` +
    String.raw`.*\.lisp|.*\.code-workspace|.*\.sublime-project|run\.json|\.profile|\.(?:ba|z|k|c|tc)sh\w+)$`
)
const SETTINGS_OF_AGENTS = /\/\.(?:claude|gemini|qwen|codex|opencode|crush)\/(?:settings[\w.]*\.json|config\.toml|hooks\/[^/]+)$/
/** Matches a `for` loop of a shell, and captures the list that it goes through. */
const LOOP = /\bfor\s+\w+\s+in\s+([^;\n]+)/g
/** Matches imports in Python. A new module in the folder would take precedence over one of the system. */
const IMPORTED = /(?:^|[\s;"'])(?:from\s+([\w.]+)\s+)?import\s+\(?([\w., \t]+)/gm
/** Matches lines that are comments, except a first line that names an interpreter (`#!`). */
const COMMENT = /^(?!#!)\s*#.*$/gm
/** Matches a program or option that runs the file named after it, whatever the file's extension, and captures the file. */
const STARTED = new RegExp(
  String.raw`(?:^|[\s;&|(\x60'"=!])(?:\.|source(?:_env(?:_if_exists)?)?|dotenv(?:_if_exists)?|exec|(?:ba|z|da|k|fi)?sh|python[\d.]*|node|` +
    String.raw`deno|bun|perl|ruby|php|lua|tclsh|expect|java|Rscript|julia|groovy|env|time|nice|nohup|` +
    String.raw`--(?:file|rcfile|init-file|import|require|script|prefix|project|directory|manifest-path)|` +
    String.raw`(?:entry|run|command|cmd|script|enter|leave)"?\s*:|` +
    String.raw`(?:awk|make|sed|node|ruby|jq|psql|vim|emacs|gdb)\b[^\n;|&]*?\s-[frSlx])` +
    String.raw`[ \t=]+(?=["']?([^\s"'\x60;|&()<>]+))`,
  'gm'
)
/** Scripts that run what they read from a file (RUNS_LIST), and names of files that might be such lists (LIST). */
const RUNS_LIST = /<\(|\b(?:read|xargs|mapfile|readarray|eval|parallel)\b|\bfor\s+\w+\s+in\s+["']?[$`]/
const LIST = new RegExp(
  String.raw`(?:^|\/)(?!(?:VERSION|README|CHANGELOG|CHANGES|LICEN[CS]E|COPYING|AUTHORS|NOTICE|TODO)\b)` +
    String.raw`(?:[\w-]+|[\w.-]+\.(?:lst|manifest|csv|tsv|in))$`
)
/** Matches a command whose output a shell runs, such as `eval "$(…)"`. */
const EVALUATED = /(?:-c|\beval)\s+["']?\$\(([^)]*)\)/g
const PARTS = /[\s'"`;|&()<>={}[\],:]+-?/
const RUN_PARTS = /\brun-parts\s+(?:-\S+\s+)*([\w./-]+)/g
const MODULE = /\bpython[\d.]*\s+-m\s+([\w.]+)/g
/** Matches all files of one extension, unless it is one of source code: hooks read source code and do not run it. */
const ALL_BUT_CODE = new RegExp(
  String.raw`^[\w./-]*\*\.(?!(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cc?|cpp|h|hpp|cs|php|swift|md|rst|s?css|html?|vue|svelte|sh|sql|proto|` +
    String.raw`tf|png|jpe?g|svg|snap|log|o|pyc)$)\w+$`
)
/** Matches an `include` of a Makefile, and captures the files, which need not exist. */
const INCLUDES = /^[-s]?include\s+(.*)$/gm
/** Matches commands that run all files of a folder, and captures the folder. */
const RUN_ALL = [
  /\bfind\s+([\w./-]+)[^\n]*(?:-exec|\bxargs\b[^\n]*?)\s+(?:\{\}|(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)/g,
  /\bls\s+(?:-\S+\s+)*([\w./-]+)[^\n]*\|[^\n]*(?:sh|python[\d.]*|node|read)\b/g,
  /\bgo\s+run\s+(?:-\S+\s+)*([\w./-]+)/g
]
/** Programs that a script might run, and the files that each of them reads. */
const USED: Array<[pattern: RegExp, files: string[]]> = [
  [/\buse[_ ]nix\b/, ['shell.nix', 'default.nix']],
  [/\buse[_ ]flake\b/, ['flake.nix', 'flake.lock']],
  [/\buse[_ ]devenv\b/, ['devenv.nix', 'devenv.yaml', 'devenv.lock']],
  [/\buse[_ ]guix\b|\bguix\b/, ['guix.scm', 'manifest.scm', 'channels.scm']],
  [/\bdevbox\b/, ['devbox.json', 'devbox.lock']],
  [/\bpixi\b/, ['pixi.toml', 'pixi.lock']],
  [/\bspack\b/, ['spack.yaml', 'spack.lock']],
  [/\bflox\b/, ['.flox']],
  // Lists of commands.
  [/\bg?make\b|\$[({]MAKE[)}]/, ['Makefile', 'makefile', 'GNUmakefile', 'Makefile.toml']],
  [/\bjust\b/, ['justfile', 'Justfile', '.justfile']],
  [/\btask\b/, ['Taskfile.yml', 'Taskfile.yaml']],
  [/\brake\b/, ['Rakefile']],
  [/\btox\b/, ['tox.ini']],
  [/\bnox\b/, ['noxfile.py']],
  [/\b(?:inv|invoke)\b/, ['tasks.py', 'invoke.yaml']],
  [/\bfab\b/, ['fabfile.py']],
  [/\bdoit\b/, ['dodo.py']],
  [/\bscons\b/, ['SConstruct']],
  [/\bninja\b/, ['build.ninja']],
  [/\bmage\b/, ['magefile.go']],
  [/\bgulp\b/, ['gulpfile.js', 'gulpfile.mjs', 'gulpfile.cjs', 'gulpfile.ts']],
  [/\bgrunt\b/, ['Gruntfile.js', 'Gruntfile.cjs']],
  [/\blint-staged\b/, [...['', '.json', '.yaml', '.yml', '.js', '.mjs', '.cjs'].map((end) => `.lintstagedrc${end}`),
    ...['js', 'mjs', 'cjs', 'ts'].map((end) => `lint-staged.config.${end}`)]],
  [/\bcommitlint\b/, [...['', '.json', '.yaml', '.yml', '.js', '.mjs', '.cjs', '.ts'].map((end) => `.commitlintrc${end}`),
    ...['js', 'mjs', 'cjs', 'ts'].map((end) => `commitlint.config.${end}`)]],
  [/\bdeno\s+task\b/, ['deno.json', 'deno.jsonc']],
  [/\bdocker[ -]compose\b/, ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']],
  // Settings that make these programs start other programs.
  [/\bcargo\b/, ['.cargo/config.toml', '.cargo/config', 'rust-toolchain.toml', 'rust-toolchain']],
  [/\b(?:npm|npx|pnpm|yarn|bun)\b/, ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml']]
]
/** Like USED, for files that belong to the project: they count only if they do not exist yet. */
const USED_IF_NEW: typeof USED = [
  [/\bcargo\b/, ['Cargo.toml', 'build.rs']],
  [/\bgo\b/, ['go.mod', 'go.work']],
  [/\bcomposer\b/, ['composer.json']],
  [/\bbundle\b/, ['Gemfile']],
  [/\bmvnw?\b/, ['pom.xml']],
  [/\bgradlew?\b/, ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts', 'init.gradle']],
  [/\bant\b/, ['build.xml']],
  [/\bcmake\b/, ['CMakeLists.txt', 'CMakePresets.json', 'CMakeUserPresets.json']],
  [/\bsbt\b/, ['build.sbt']],
  [/\blein\b/, ['project.clj']],
  [/\bbb\b/, ['bb.edn']],
  [/\bmix\b/, ['mix.exs']],
  [/\bzig\b/, ['build.zig']],
  [/\bswift\b/, ['Package.swift']],
  [/\bmeson\b/, ['meson.build']],
  [/\bbazel\b/, ['WORKSPACE', 'MODULE.bazel', '.bazelrc', 'user.bazelrc']],
  [/\b(?:poe|hatch|pdm|poetry|uv)\b/, ['pyproject.toml', 'poe_tasks.toml', 'hatch.toml']]
]
const modulesIn = (text: string): string[] => {
  const imported = [...text.matchAll(IMPORTED)].flatMap(([, from, names]) => {
    const all = names.split(',').map((name) => name.trim().split(/\s/, 1)[0]).filter((name) => name !== '')
    return from === undefined ? all : [from, ...all.map((name) => `${from}.${name}`)]
  })
  const names = [...wordsOf(text, [MODULE]), ...imported].map((name) => name.replace(/^\.+/, ''))
  return [...new Set(names.flatMap((name) => name.split('.').map((_, at, parts) => parts.slice(0, at + 1).join('/'))))]
}
const usedBy = (text: string, table: typeof USED): string[] => table.flatMap(([pattern, files]) => pattern.test(text) ? files : [])
/** Matches additions to PATH, and captures the folder. */
const ADDED_PATH = /\b(?:PATH_add|path_add\s+PATH|_\.path\s*=)\s*\[?\s*["']?([^\s"';&|\]]+)/g
const SET_PATH = /\bPATH=["']?([^\n;"']+)/g
const wordsOf = (text: string, patterns: readonly RegExp[]): string[] =>
  patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, word]) => word))
const foldersRun = (text: string): string[] => {
  const onPath = wordsOf(text, [SET_PATH]).flatMap((list) => list.split(':')).filter((word) => !/^\$\w+$|^\//.test(word))
  return [...wordsOf(text, [ADDED_PATH, RUN_PARTS, ...RUN_ALL]), ...onPath]
}
const includedBy = (text: string): string[] => wordsOf(text, [INCLUDES]).flatMap((list) => list.trim().split(WORDS))
const PATH = /^[$\w@{}%*-]*[./][$\w./@{}%*-]*$/
const EXPANSIONS = /^(?:\$\w+|\$?\{[^}]*\})?\//
const ENDINGS = [
  ...['', '.sh', '.js', '.mjs', '.cjs', '.ts', '.py', '.rb', '.pl', '.pm', '.lua', '.php'],
  ...['/index.js', '/index.mjs', '/index.ts', '/__main__.py', '/__init__.py']
]
/**
 * Extensions of settings, which can name programs that a hook runs. Files that describe the project (OF_PROJECT) do not count: they change
 * all the time.
 */
const SETTINGS = /\.(?:jsonc?|ya?ml|toml|ini|cfg|conf|txt|list|mk|just|nix|rake|xml|env|rc|properties)$/i
const MAY_COME = /^[\w-]+\.(?:sh|bash|conf|cfg|ini|txt|list|lst|mk|manifest|env|ya?ml|toml|json)$/
const OF_PROJECT = /^(?:package(?:-lock)?|tsconfig.*|composer|deno|cargo|pyproject|pnpm-.*)\.(?:json|jsonc|toml|ya?ml)$/i
/**
 * Folders with scripts for developers. All files that such a script names count. Of a program elsewhere in the project, only its settings
 * do.
 */
const OF_DEVELOPERS = /(?:^|\/)(?:scripts?|tools?|bin|ci|hooks|dev|\.[^/]+)\//
const SHELL = /^#!.*sh\b|^(?!#!)/

/** Whether a file with this name starts other files. */
const startsOthers = (path: string): boolean =>
  isHookName(basename(path)) || STARTERS.test(basename(path)) || /\/\.(?:husky|githooks)\/[^/]+$/.test(path) ||
  SETTINGS_OF_AGENTS.test(path)

/**
 * Returns the files in the folder that are named by hooks, or by files that shells read when somebody enters the folder (`places`). They
 * run whenever the file that names them does. `packages`: by the path of each package.json, the parts that scripts use.
 */
export async function namedByScripts (
  { folder, seenAt, entries, gitDirectories }: Found,
  { tops, hooks, scripts, elsewhere = [], commands = [] }: Around
): Promise<{ places: string[], packages: Map<string, string[]> }> {
  const found = new Set<string>()
  const packages = new Map<string, string[]>()
  const mayBeNamed = (place: string) =>
    isIn(folder, place) && !OF_PACKAGES.test(`${relative(folder, place)}/`) && found.size < MOST_NAMED
  const read = async (text: string, around: readonly string[], { isProgram = false, isPython = false, isCommand = false } = {}) => {
    const plain = text.replace(/^#!/, '')
    // Split in two ways, to find words in defaults of variables and in lists of settings, too.
    const words = [...new Set([...plain.split(WORDS), ...plain.split(PARTS)])].slice(0, MOST_WORDS)
    const bases = [...new Set([...around, ...await foldersOf(words, around)])].filter((base) => isIn(folder, base)).slice(0, MOST_BASES)
    const add: Add = async (word, isNamed, from = bases) => {
      const whole = [seenAt, folder].find((each) => word.startsWith(`${each}/`))
      for (const base of from) {
        const place = whole === undefined ? join(base, word.replace(EXPANSIONS, '')) : join(folder, relative(whole, word))
        if (mayBeNamed(place) && place !== folder && !entries.has(place) && await isNamed(place)) found.add(place)
      }
    }
    for (const word of isCommand ? words : []) await add(word, (place) => mayBeProgram(place, word))
    const inLoops = [...text.matchAll(LOOP)].flatMap(([, list]) => list.split(WORDS)).filter((word) => word.includes('*'))
    for (const word of inLoops) await add(allOf(word), async () => true)
    for (const word of words.filter((each) => PATH.test(each) && !inLoops.includes(each))) {
      await add(word, (place) => isSettings(folder, place))
      if (isProgram) continue
      for (const ending of /^\.\.?\//.test(word) ? ENDINGS : ['']) await add(word + ending, isScript)
      // A file that does not exist yet might be started or read once a command has created it.
      if (word.includes('/')) await add(word, mayBecomeScript, around)
      if (word.includes('/')) await add(word, isPlain)
      else if (MAY_COME.test(word) && !OF_PROJECT.test(word)) await add(word, isMissing, around)
    }
    if (isProgram) return
    await addStarted(text, { words, around, isPython, add })
    const uses = usesOf(text)
    for (const base of bases) if (uses !== undefined && mayBeNamed(base)) packages.set(join(base, 'package.json'), uses)
  }
  const everyTop = [...new Set([...tops.values()].flat())]
  const topOf = (path: string) => everyTop.filter((top) => isIn(top, path)).sort((a, b) => b.length - a.length)[0] ?? folder
  const hookFolders = new Set([...gitDirectories.keys()].map((git) => join(git, 'hooks')).concat(hooks))
  const isBelowHooks = (path: string): boolean => hookFolders.has(path) || (path.length > folder.length && isBelowHooks(dirname(path)))

  for (const path of scripts ?? [...entries.keys()].filter((path) => isBelowHooks(path) || startsOthers(path))) {
    const { kind, content } = entries.get(path) ?? {}
    if (kind !== 'file' || content === undefined || content.length > LARGEST) continue
    const text = Buffer.from(content, 'base64').toString().replace(COMMENT, '')
    const isPython = path.endsWith('.py') || /^#!.*python/.test(text)
    const isShell = SHELL.test(text) && !/\.(?:py|[cm]?js|ts)$/.test(path)
    // Of the files that a program of the project names, only its settings count.
    const isProgram = scripts !== undefined && !isShell && !OF_DEVELOPERS.test(relative(folder, path))
    // A path can be relative to a folder of the repository, for which a variable can stand, or to the folder of the script.
    const git = [...gitDirectories.keys()].find((each) => isIn(each, path))
    const around = git === undefined ? [topOf(path)] : [...tops.get(git) ?? [], git]
    await read(text, [...around, dirname(path)], { isProgram, isPython })
  }
  if (scripts === undefined) {
    for (const { text, folders } of commands) await read(text, folders, { isCommand: true })
    for (const text of elsewhere) await read(text.replace(COMMENT, ''), everyTop.length > 0 ? everyTop.slice(0, MOST_BASES) : [folder])
    for (const [git, { execs }] of gitDirectories) if (execs.length > 0) await read(execs.join('\n'), tops.get(git) ?? [folder])
  }
  return { places: [...found], packages }
}

/** Adds the places that a word names in the folders `from`, if `isNamed` accepts them. */
type Add = (word: string, isNamed: (place: string) => Promise<boolean>, from?: readonly string[]) => Promise<void>

/** Returns the folder of a path with `*`, as all files in it count. Without a folder, returns the path itself. */
const allOf = (word: string): string => dirname(word) === '.' ? word : dirname(word)

/** Adds the files that a script starts, that it reads as a list of commands, or that programs it starts read. */
async function addStarted (
  text: string,
  { words, around, isPython, add }: { words: readonly string[], around: readonly string[], isPython: boolean, add: Add }
): Promise<void> {
  const anyway = async () => true
  const started = wordsOf(text, [STARTED])
  const evaluated = wordsOf(text, [EVALUATED]).flatMap((line) => line.split(WORDS))
  const modules = modulesIn(text)
  for (const word of started) if (PATH.test(word)) await add(word, isMissing, around)
  for (const word of isPython ? modules : []) {
    for (const ending of ['.py', '/__init__.py']) await add(word + ending, isMissing, around.slice(-1))
  }
  for (const word of [...started, ...evaluated, ...modules]) {
    for (const ending of PATH.test(word) || /^[\w-]+$/.test(word) ? ENDINGS : []) await add(word + ending, isFile)
  }
  for (const word of RUNS_LIST.test(text) ? words.filter((each) => LIST.test(each)) : []) await add(word, isFile)
  for (const file of usedBy(text, USED)) await add(file, anyway)
  for (const file of usedBy(text, USED_IF_NEW)) await add(file, isMissing)
  for (const word of words.filter((each) => each.includes('*'))) {
    if (SETTINGS.test(word)) await add(allOf(word), anyway)
    else if (ALL_BUT_CODE.test(word)) await add(word, anyway)
  }
  for (const word of foldersRun(text)) await add(word, anyway)
  for (const word of includedBy(text)) await add(word.includes('*') ? allOf(word) : word, anyway)
}

/**
 * Whether a word of a command might be a program in the folder, or a file that the command reads: a file, or a path at which nothing is
 * yet.
 */
const mayBeProgram = async (place: string, word: string): Promise<boolean> =>
  !word.startsWith('-') && (await isFile(place) || (word.includes('/') && await isMissing(place)))
const isSettings = async (folder: string, place: string) =>
  SETTINGS.test(place) && (!OF_PROJECT.test(basename(place)) || OF_DEVELOPERS.test(relative(folder, place))) && isFile(place)
const isMissing = (place: string): Promise<boolean> => stat(place).then(() => false, () => !/[$*{%]/.test(basename(place)))
const mayBecomeScript = async (place: string): Promise<boolean> =>
  await isMissing(place) || (!basename(place).includes('.') && isFile(place))
/**
 * Whether this is an existing file that scripts might read: its name has no extension, and is not one that shows the kind of its content,
 * such as Makefile or README. False if it cannot be examined.
 */
const isPlain = async (place: string): Promise<boolean> =>
  /^(?!.*file$|[A-Z]+$)[\w-]+$/.test(basename(place)) && isFile(place)
const isFile = (place: string): Promise<boolean> => stat(place).then((found) => found.isFile(), () => false)

/**
 * Returns the existing folders that a script names, about MOST_BASES at most: the script might change to one of them before it names a
 * file.
 */
async function foldersOf (words: readonly string[], bases: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const word of new Set(words.map((each) => each.replace(EXPANSIONS, '')))) {
    if (!/^[\w.@/-]+$/.test(word) || word.startsWith('-') || found.length > MOST_BASES) continue
    for (const base of bases) if (await stat(join(base, word)).then((each) => each.isDirectory(), () => false)) found.push(join(base, word))
  }
  return found
}
