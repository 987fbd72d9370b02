import { stat } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { isGitName, isHookName } from '../lib/obeyed-names.ts'
import { isIn } from './box-places.ts'
import { isScript, WORDS } from './named-by-settings.ts'

/** Longer scripts are not read for names, bytes; and words of one that are looked at, and files that are named by all. */
const LARGEST = 64 * 1024
const MOST_WORDS = 500
const MOST_NAMED = 200
const MOST_BASES = 16
/** Nobody writes there but managers of packages, which replace all of it. */
const OF_PACKAGES = /(?:^|\/)(?:node_modules|\.venv|venv|vendor|target|build|dist)\//

interface Found {
  folder: string
  entries: ReadonlyMap<string, { kind: string, content?: string }>
  gitDirectories: ReadonlyMap<string, { execs: readonly string[] }>
}
interface Around {
  /** The folders of files of each git directory. */
  tops: ReadonlyMap<string, readonly string[]>
  /** Texts of hooks that lie elsewhere. */
  elsewhere?: readonly string[]
  /** Folders of hooks, and programs that settings name. */
  hooks: readonly string[]
  /** Scripts that others named, which are looked at now; absent: all hooks are. */
  scripts?: readonly string[]
}

/** Files that start others on opening or entering the folder, or by a hook. Not words for models: these name what is to be edited. */
const STARTERS = new RegExp(
  String.raw`^(?:\.envrc(?:\.local)?|\.?mise.*\.toml|\.pre-commit-config\.yaml|\.?lefthook.*|\.autoenv.*|\.gitpod\.yml|\.?mcp\.json|` +
    String.raw`\.?opencode\.jsonc?|\.?crush\.json|tasks\.json|\.?devcontainer\.json|hooks\.json)$`
)
const SETTINGS_OF_AGENTS = /\/\.(?:claude|gemini|qwen|codex|opencode|crush)\/(?:settings[\w.]*\.json|config\.toml|hooks\/[^/]+)$/
/** What a loop runs that goes through a folder. */
const LOOP = /\bfor\s+\w+\s+in\s+([^;\n]+)/g
const IMPORTED = /(?:^|[\s;"'])(?:import|from)\s+([\w.]+)/gm
/** Comments, but for the first line, which names an interpreter. */
const COMMENT = /^(?!#!)\s*#.*$/gm
/** Programs and options that run the file behind them, whatever its ending. */
const STARTED = new RegExp(
  String.raw`(?:^|[\s;&|(\x60'"=!])(?:\.|source(?:_env(?:_if_exists)?)?|dotenv(?:_if_exists)?|exec|(?:ba|z|da|k|fi)?sh|python[\d.]*|node|` +
    String.raw`deno|bun|perl|ruby|php|lua|--(?:file|rcfile|init-file|import|require)|(?:awk|make|sed|node|ruby)\b[^\n;|&]*?\s-[fr])` +
    String.raw`[ \t=]+(?=["']?([^\s"'\x60;|&()<>]+))`,
  'gm'
)
/** A text that a shell runs is read from these. */
const EVALUATED = /(?:-c|\beval)\s+["']?\$\(([^)]*)\)/g
const PARTS = /[\s'"`;|&()<>={}[\],:]+-?/
const RUN_PARTS = /\brun-parts\s+(?:-\S+\s+)*([\w./-]+)/g
const MODULE = /\bpython[\d.]*\s+-m\s+([\w.]+)/g
/** What programs take that a hook runs, or entering a folder evaluates; and what that adds to the programs that are found. */
const USED: Array<[pattern: RegExp, files: string[]]> = [
  [/\buse[_ ]nix\b/, ['shell.nix', 'default.nix']],
  [/\buse[_ ]flake\b/, ['flake.nix', 'flake.lock']],
  [/\buse[_ ]devenv\b/, ['devenv.nix', 'devenv.yaml', 'devenv.lock']],
  // Lists of commands.
  [/\bg?make\b/, ['Makefile', 'makefile', 'GNUmakefile', 'Makefile.toml']],
  [/\bjust\b/, ['justfile', 'Justfile', '.justfile']],
  [/\btask\b/, ['Taskfile.yml', 'Taskfile.yaml']],
  [/\brake\b/, ['Rakefile']],
  [/\btox\b/, ['tox.ini']],
  [/\bnox\b/, ['noxfile.py']],
  [/\b(?:npm|npx|pnpm|yarn|bun)\b|\bnode\s+--run\b|\bpackage\.json\b/, ['package.json']]
]
const ADDED_PATH = /\b(?:PATH_add|path_add\s+PATH)\s+["']?([^\s"';&|]+)/g
const PATH = /^[$\w@{}%*-]*[./][$\w./@{}%*-]*$/
const EXPANSIONS = /^(?:\$\w+|\$?\{[^}]*\})?\//
const ENDINGS = ['', '.sh', '.js', '.mjs', '.cjs', '.py', '/index.js', '/__main__.py', '/__init__.py']
/** Settings that a hook reads may name programs. What describes the project is no such file: it is changed all the time. */
const SETTINGS = /\.(?:jsonc?|ya?ml|toml|ini|cfg|conf|txt|list|mk)$/i
const OF_PROJECT = /^(?:package(?:-lock)?|tsconfig.*|composer|deno|cargo|pyproject|pnpm-.*)\.(?:json|jsonc|toml|ya?ml)$/i
/** Where scripts for developers lie: what these read of each other counts. A program of the project is one of its files. */
const OF_DEVELOPERS = /(?:^|\/)(?:scripts?|tools?|bin|ci|hooks|dev|\.[^/]+)\//
const SHELL = /^#!.*sh\b|^(?!#!)/

/** Whether a file starts others, by its name. */
const startsOthers = (path: string): boolean =>
  isHookName(basename(path)) || STARTERS.test(basename(path)) || /\/\.(?:husky|githooks)\/[^/]+$/.test(path) ||
  SETTINGS_OF_AGENTS.test(path)

/** Returns scripts in the folder that hooks name, and what shells read on entering a folder: they are run with these. */
export async function namedByScripts (
  { folder, entries, gitDirectories }: Found,
  { tops, hooks, scripts, elsewhere = [] }: Around
): Promise<string[]> {
  const found = new Set<string>()
  const mayBeNamed = (place: string) =>
    isIn(folder, place) && !isIn(place, folder) && !OF_PACKAGES.test(`${relative(folder, place)}/`) && found.size < MOST_NAMED
  const isSettings = async (place: string) => SETTINGS.test(place) && !OF_PROJECT.test(basename(place)) && isFile(place)
  const read = async (text: string, around: readonly string[], { isProgram = false } = {}) => {
    const plain = text.replace(/^#!/, '')
    // Defaults of variables, and lists of settings, too.
    const words = [...new Set([...plain.split(WORDS), ...plain.split(PARTS)])].slice(0, MOST_WORDS)
    const bases = [...new Set([...around, ...await foldersOf(words, around)])].filter((base) => isIn(folder, base)).slice(0, MOST_BASES)
    const add = async (word: string, isNamed: (place: string) => Promise<boolean>, from: readonly string[] = bases) => {
      for (const base of from) {
        const place = join(base, word.replace(EXPANSIONS, ''))
        if (mayBeNamed(place) && !entries.has(place) && await isNamed(place)) found.add(place)
      }
    }
    const inLoops = [...text.matchAll(LOOP)].flatMap(([, list]) => list.split(WORDS)).filter((word) => word.includes('*'))
    for (const word of inLoops) await add(dirname(word), async () => true)
    for (const word of words.filter((each) => PATH.test(each) && !inLoops.includes(each))) {
      await add(word, isSettings)
      if (isProgram) continue
      for (const ending of /^\.\.?\//.test(word) ? ENDINGS : ['']) await add(word + ending, isScript)
      // What is not there yet may be started where it comes to be.
      if (word.includes('/')) await add(word, mayBecomeScript, around)
    }
    if (isProgram) return
    const started = [...text.matchAll(STARTED)].map(([, word]) => word)
    const evaluated = [...text.matchAll(EVALUATED)].flatMap(([, line]) => line.split(WORDS))
    const modules = [MODULE, IMPORTED].flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name.replaceAll('.', '/')))
    for (const word of started) if (PATH.test(word)) await add(word, isMissing, around)
    for (const word of [...started, ...evaluated, ...modules]) {
      for (const ending of PATH.test(word) || /^[\w-]+$/.test(word) ? ENDINGS : []) await add(word + ending, isFile)
    }
    for (const [pattern, files] of USED) if (pattern.test(text)) for (const file of files) await add(file, async () => true, around)
    for (const word of words) if (word.includes('*') && SETTINGS.test(word)) await add(dirname(word), async () => true)
    for (const [, word] of [...text.matchAll(ADDED_PATH), ...text.matchAll(RUN_PARTS)]) await add(word, async () => true)
  }
  const everyTop = [...new Set([...tops.values()].flat())]
  const topOf = (path: string) => everyTop.filter((top) => isIn(top, path)).sort((a, b) => b.length - a.length)[0] ?? folder
  const hookFolders = new Set([...gitDirectories.keys()].map((git) => join(git, 'hooks')).concat(hooks))
  const isBelowHooks = (path: string): boolean => hookFolders.has(path) || (path.length > folder.length && isBelowHooks(dirname(path)))
  const isStart = (path: string) => isBelowHooks(path) || startsOthers(path)

  for (const path of scripts ?? [...entries.keys()].filter(isStart)) {
    const { kind, content } = entries.get(path) ?? {}
    if (kind !== 'file' || content === undefined || content.length > LARGEST) continue
    const text = Buffer.from(content, 'base64').toString().replace(COMMENT, '')
    const isShell = SHELL.test(text) && !/\.(?:py|[cm]?js|ts)$/.test(path)
    // Of a program of the project its settings count, but not its other files.
    const isProgram = scripts !== undefined && !isShell && !OF_DEVELOPERS.test(relative(folder, path))
    // The folders of the repository, which a variable may stand for, and that of the script.
    const git = [...gitDirectories.keys()].find((each) => isIn(each, path))
    const around = git === undefined ? [topOf(path)] : [...tops.get(git) ?? [], git]
    await read(text, [...around, dirname(path)], { isProgram })
  }
  if (scripts === undefined) {
    for (const text of elsewhere) await read(text.replace(COMMENT, ''), everyTop.length > 0 ? everyTop.slice(0, MOST_BASES) : [folder])
    for (const [git, { execs }] of gitDirectories) if (execs.length > 0) await read(execs.join('\n'), tops.get(git) ?? [folder])
  }
  return [...found]
}

const isMissing = (place: string): Promise<boolean> => stat(place).then(() => false, () => !/[$*{%]/.test(basename(place)))
const mayBecomeScript = async (place: string): Promise<boolean> =>
  await isMissing(place) || (!basename(place).includes('.') && isFile(place))
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

/** Returns the folders of files of each git directory: those of its worktrees, too. */
export function topsOf (
  { entries, gitDirectories, outside }: Found & { outside: readonly string[] },
  above?: string
): Map<string, string[]> {
  const tops = new Map<string, string[]>()
  for (const git of gitDirectories.keys()) {
    tops.set(git, [outside.includes(git) ? above ?? dirname(git) : isGitName(basename(git)) ? dirname(git) : git])
  }
  for (const [path, { kind, content }] of entries) {
    if (kind !== 'file' || content === undefined || !isGitName(basename(path))) continue
    const [, way] = /^gitdir: ([^\n]+)\n?$/.exec(Buffer.from(content, 'base64').toString()) ?? []
    const own = way === undefined ? '' : resolve(dirname(path), way)
    const common = basename(dirname(own)) === 'worktrees' ? dirname(dirname(own)) : own
    for (const git of new Set([own, common])) tops.get(git)?.push(dirname(path))
  }
  return tops
}
