import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { isHookName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import { isScript, type NamedCommand, WORDS } from './named-by-settings.ts'
import { usesOf } from './package-scripts.ts'

/** Longer scripts are not read for names, bytes; and words of one that are looked at, and files that are named by all. */
const LARGEST = 64 * 1024
const MOST_WORDS = 500
const MOST_NAMED = 300
const MOST_BASES = 16
/** Nobody writes there but managers of packages, which replace all of it. */
const OF_PACKAGES = /(?:^|\/)(?:node_modules|\.venv|venv|vendor|target|build|dist)\//

interface Found {
  folder: string
  /** The path at which commands find it. */
  seenAt: string
  entries: ReadonlyMap<string, { kind: string, content?: string }>
  gitDirectories: ReadonlyMap<string, { execs: readonly string[] }>
}
interface Around {
  /** The folders of files of each git directory. */
  tops: ReadonlyMap<string, readonly string[]>
  /** Texts of hooks that lie elsewhere. */
  elsewhere?: readonly string[]
  /** Commands of settings. */
  commands?: readonly NamedCommand[]
  /** Folders of hooks, and scripts that settings name. */
  hooks: readonly string[]
  /** Scripts that others named, which are looked at now; absent: all hooks are. */
  scripts?: readonly string[]
}

/** Files that start others on opening or entering the folder, or by a hook. Not words for models: these name what is to be edited. */
const STARTERS = new RegExp(
  String.raw`^(?:\.envrc(?:\.local)?|\.?mise.*\.toml|\.pre-commit-config\.ya?ml|\.?lefthook.*|\.autoenv.*|\.gitpod\.yml|\.?mcp\.json|` +
    String.raw`\.?opencode\.jsonc?|\.?crush\.json|tasks\.json|\.?devcontainer\.json|hooks\.json|\.overcommit\.yml|grumphp\.yml|` +
    String.raw`\.?captainhook\.json|hk\.pkl|prek\.toml|\.?simple-git-hooks\..*|languages\.toml|\.exrc|\.nvim\.lua|\.nvimrc|\.l?vimrc|` +
    String.raw`\.local\.vimrc|\.vimrc\.local|\.dir-locals(?:-2)?\.el|\.ycm_extra_conf\.py|\.replit|\.?devfile\.yaml|\.rvmrc|\.env\.leave|` +
    String.raw`.*\.lisp|.*\.code-workspace|.*\.sublime-project|run\.json|\.profile|\.(?:ba|z|k|c|tc)sh\w+)$`
)
const SETTINGS_OF_AGENTS = /\/\.(?:claude|gemini|qwen|codex|opencode|crush)\/(?:settings[\w.]*\.json|config\.toml|hooks\/[^/]+)$/
/** What a loop runs that goes through a folder. */
const LOOP = /\bfor\s+\w+\s+in\s+([^;\n]+)/g
/** In Python; a module of the folder that is not there yet would come before one of the system. */
const IMPORTED = /(?:^|[\s;"'])(?:from\s+([\w.]+)\s+)?import\s+\(?([\w., \t]+)/gm
/** Comments, but for the first line, which names an interpreter. */
const COMMENT = /^(?!#!)\s*#.*$/gm
/** Programs and options that run the file behind them, whatever its ending. */
const STARTED = new RegExp(
  String.raw`(?:^|[\s;&|(\x60'"=!])(?:\.|source(?:_env(?:_if_exists)?)?|dotenv(?:_if_exists)?|exec|(?:ba|z|da|k|fi)?sh|python[\d.]*|node|` +
    String.raw`deno|bun|perl|ruby|php|lua|tclsh|expect|java|Rscript|julia|groovy|env|time|nice|nohup|` +
    String.raw`--(?:file|rcfile|init-file|import|require|script|prefix|project|directory|manifest-path)|` +
    String.raw`(?:entry|run|command|cmd|script|enter|leave)"?\s*:|` +
    String.raw`(?:awk|make|sed|node|ruby|jq|psql|vim|emacs|gdb)\b[^\n;|&]*?\s-[frSlx])` +
    String.raw`[ \t=]+(?=["']?([^\s"'\x60;|&()<>]+))`,
  'gm'
)
/** A loop over what a file names, or a program that runs what it reads; and files without an ending that are no such lists. */
const RUNS_LIST = /<\(|\b(?:read|xargs|mapfile|readarray|eval|parallel)\b|\bfor\s+\w+\s+in\s+["']?[$`]/
const LIST = new RegExp(
  String.raw`(?:^|\/)(?!(?:VERSION|README|CHANGELOG|CHANGES|LICEN[CS]E|COPYING|AUTHORS|NOTICE|TODO)\b)` +
    String.raw`(?:[\w-]+|[\w.-]+\.(?:lst|manifest|csv|tsv|in))$`
)
/** A text that a shell runs is read from these. */
const EVALUATED = /(?:-c|\beval)\s+["']?\$\(([^)]*)\)/g
const PARTS = /[\s'"`;|&()<>={}[\],:]+-?/
const RUN_PARTS = /\brun-parts\s+(?:-\S+\s+)*([\w./-]+)/g
const MODULE = /\bpython[\d.]*\s+-m\s+([\w.]+)/g
/** Files of one ending, which is none of code: that is what hooks look at. */
const ALL_BUT_CODE = new RegExp(
  String.raw`^[\w./-]*\*\.(?!(?:[cm]?[jt]sx?|py|rb|go|rs|java|kt|cc?|cpp|h|hpp|cs|php|swift|md|rst|s?css|html?|vue|svelte|sh|sql|proto|` +
    String.raw`tf|png|jpe?g|svg|snap|log|o|pyc)$)\w+$`
)
/** What a Makefile includes, whether it is there or not. */
const INCLUDES = /^[-s]?include\s+(.*)$/gm
/** A folder of which all files are run. */
const RUN_ALL = [
  /\bfind\s+([\w./-]+)[^\n]*(?:-exec|\bxargs\b[^\n]*?)\s+(?:\{\}|(?:ba|z|da|k)?sh|python[\d.]*|node|perl|ruby)/g,
  /\bls\s+(?:-\S+\s+)*([\w./-]+)[^\n]*\|[^\n]*(?:sh|python[\d.]*|node|read)\b/g,
  /\bgo\s+run\s+(?:-\S+\s+)*([\w./-]+)/g
]
/** The files that programs read when a hook or entering a folder runs them. */
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
  // What these programs are told to start in place of others.
  [/\bcargo\b/, ['.cargo/config.toml', '.cargo/config', 'rust-toolchain.toml', 'rust-toolchain']],
  [/\b(?:npm|npx|pnpm|yarn|bun)\b/, ['.npmrc', '.yarnrc', '.yarnrc.yml', '.pnpmfile.cjs', 'bunfig.toml']]
]
/** The same for files that belong to the project: only new ones count. */
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
/** Folders that are added to PATH. */
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
/** Settings that a hook reads may name programs. What describes the project is no such file: it is changed all the time. */
const SETTINGS = /\.(?:jsonc?|ya?ml|toml|ini|cfg|conf|txt|list|mk|just|nix|rake|xml|env|rc|properties)$/i
const MAY_COME = /^[\w-]+\.(?:sh|bash|conf|cfg|ini|txt|list|lst|mk|manifest|env|ya?ml|toml|json)$/
const OF_PROJECT = /^(?:package(?:-lock)?|tsconfig.*|composer|deno|cargo|pyproject|pnpm-.*)\.(?:json|jsonc|toml|ya?ml)$/i
/** Where scripts for developers lie: what these read of each other counts. A program of the project is one of its files. */
const OF_DEVELOPERS = /(?:^|\/)(?:scripts?|tools?|bin|ci|hooks|dev|\.[^/]+)\//
const SHELL = /^#!.*sh\b|^(?!#!)/

/** Whether a file starts others, by its name. */
const startsOthers = (path: string): boolean =>
  isHookName(basename(path)) || STARTERS.test(basename(path)) || /\/\.(?:husky|githooks)\/[^/]+$/.test(path) ||
  SETTINGS_OF_AGENTS.test(path)

/**
 * Returns scripts in the folder that hooks name, and what shells read on entering a folder: they are run with these. `packages`: the
 * parts that they use of files package.json.
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
    // Defaults of variables, and lists of settings, too.
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
      // What is not there yet may be started, or read, where it comes to be.
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
    // Of a program of the project its settings count, but not its other files.
    const isProgram = scripts !== undefined && !isShell && !OF_DEVELOPERS.test(relative(folder, path))
    // The folders of the repository, which a variable may stand for, and that of the script.
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

/** Adds what a word means in some folders. */
type Add = (word: string, isNamed: (place: string) => Promise<boolean>, from?: readonly string[]) => Promise<void>

/** All that there may be in a folder; in that of the script itself, what has such a name alone. */
const allOf = (word: string): string => dirname(word) === '.' ? word : dirname(word)

/** Adds what a script starts, takes as a list of what to start, or has others start. */
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

/** Whether a word of a command may be a program in the folder, or what it reads: a file, or a path at which nothing is yet. */
const mayBeProgram = async (place: string, word: string): Promise<boolean> =>
  !word.startsWith('-') && (await isFile(place) || (word.includes('/') && await isMissing(place)))
const isSettings = async (folder: string, place: string) =>
  SETTINGS.test(place) && (!OF_PROJECT.test(basename(place)) || OF_DEVELOPERS.test(relative(folder, place))) && isFile(place)
const isMissing = (place: string): Promise<boolean> => stat(place).then(() => false, () => !/[$*{%]/.test(basename(place)))
const mayBecomeScript = async (place: string): Promise<boolean> =>
  await isMissing(place) || (!basename(place).includes('.') && isFile(place))
/** A file whose name does not say what it is, as one that a script reads. */
const isPlain = async (place: string): Promise<boolean> =>
  /^(?!.*file$|[A-Z]+$)[\w-]+$/.test(basename(place)) && isFile(place)
const isFile = (place: string): Promise<boolean> => stat(place).then((found) => found.isFile(), () => false)

/** Returns the folders that a script names: it may go there first. */
async function foldersOf (words: readonly string[], bases: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const word of new Set(words.map((each) => each.replace(EXPANSIONS, '')))) {
    if (!/^[\w.@/-]+$/.test(word) || word.startsWith('-') || found.length > MOST_BASES) continue
    for (const base of bases) if (await stat(join(base, word)).then((each) => each.isDirectory(), () => false)) found.push(join(base, word))
  }
  return found
}
