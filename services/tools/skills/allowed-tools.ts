import { homedir } from 'node:os'
import { isAbsolute, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import { needsAny, type Tool } from '../../contracts/tool.ts'
import type { ToolHost } from '../host.ts'
import { splitOutside } from './front-matter.ts'

/** The parts of a call that an entry of `allowed-tools` is compared with. */
export interface NarrowedCall {
  input: unknown
  /** The target that the input names, and the addresses that the call goes to. */
  target?: string
  sends?: readonly string[]
  /** The working folder of the run. */
  cwd: string
}

/** An entry of `allowed-tools`. */
export interface AllowedTool {
  /** The entry as the skill writes it. */
  entry: string
  /** Names of tools, or patterns of names, as in `options.allowTools`. */
  tools: string[]
  /** Returns whether the entry covers a call; absent: it covers all. */
  covers?: (call: NarrowedCall) => boolean
  /** Why the entry allows nothing. */
  unread?: string
}

/** The tools that entries may name. */
export type Vocabulary = Pick<ToolHost, 'names' | 'find'>

const ALL = /^(?::?\*{1,2})?$/

/** Splits the text of `allowed-tools`, at blanks and commas outside of parentheses. */
export const allowedEntries = (value: string | readonly string[]): string[] =>
  (typeof value === 'string' ? splitOutside(value, /[,\s]/) : [...value]).map((entry) => entry.trim()).filter((entry) => entry !== '')

/**
 * Reads the entries of a skill's `allowed-tools`, in the vocabulary of others (`Read`, `Bash(git:*)`, `mcp__github__create_issue`) and in
 * ours (`readFile`, `runCommand(git:*)`, `github_*`, `server:github`). An entry that is not understood allows nothing.
 */
export function readAllowedTools (entries: readonly string[], host: Vocabulary): AllowedTool[] {
  return entries.map((entry): AllowedTool => {
    const [, name, argument] = /^([^()\s]+)(?:\((.*)\))?$/s.exec(entry) ?? []
    if (name === undefined) return { entry, tools: [], unread: 'it is not the name of a tool' }
    const tools = namesOf(name, host)
    if (argument === undefined || ALL.test(argument.trim())) return { entry, tools }
    const covers = coveredBy(argument.trim(), tools.flatMap((each) => host.find(each) ?? []))
    return covers === undefined ? { entry, tools: [], unread: 'what stands in parentheses is not understood' } : { entry, tools, covers }
  })
}

/** Returns the tools of a name. A tool that runs commands includes those for commands in the background. */
function namesOf (name: string, { names, find }: Vocabulary): string[] {
  const { known } = names()
  const plain = name.replaceAll(/[_-]/g, '').toLowerCase()
  const own = known.find((each) => each.toLowerCase() === plain)
  const meant = own === undefined ? known.filter((each) => find(each)?.says?.otherNames?.includes(plain)) : [own]
  const isCommand = meant.some((each) => find(each)?.effects?.command !== undefined)
  if (meant.length > 0) return isCommand ? [...meant, ...known.filter((each) => needsAny(find(each), 'commands'))] : meant
  const [, server, tool] = /^mcp__(.+?)(?:__(.*))?$/.exec(name) ?? []
  if (server === undefined) return [name]
  return tool === undefined || tool === '*' ? [`server:${server}`] : [`${server}_${tool}`]
}

/** True if a glob of paths can narrow the tool: its calls are about one path. Attachments are in no folder. */
const isOfPaths = (tool: Tool): boolean => tool.says?.about?.[0] === 'path' || needsAny(tool, 'attachments')

function coveredBy (argument: string, tools: readonly Tool[]): AllowedTool['covers'] {
  if (tools.some(({ effects }) => effects?.command !== undefined)) return (call) => coversCommand(argument, call)
  const host = /^domain:(.+)$/.exec(argument)?.[1].toLowerCase()
  const isOfPages = tools.some(({ effects }) => effects?.source === 'page')
  if (isOfPages && host !== undefined) return ({ sends = [] }) => sends.length > 0 && sends.every((url) => isAt(url, host))
  return tools.length > 0 && tools.every(isOfPaths) ? pathsLike(argument) : undefined
}

/** True if the pattern covers every command of a command line. Reading the output of a running command counts as no new command. */
function coversCommand (argument: string, { input }: NarrowedCall): boolean {
  const { command } = (input ?? {}) as { command?: unknown }
  if (typeof command !== 'string') return true
  const matches = commandPattern(argument)
  const commands = simpleCommands(command)
  return commands !== undefined && commands.length > 0 && commands.every((each) => matches.test(each))
}

/** Returns the expression of a pattern: `git:*` and `git *` match commands that begin with `git`; a star matches anything. */
function commandPattern (argument: string): RegExp {
  const [, prefix] = /^(.*?)(?::| )\*$/s.exec(argument) ?? []
  const escaped = (text: string) => text.replace(/[\\^$.|?+()[\]{}]/g, '\\$&').replace(/\s+/g, '\\s+')
  const literal = (text: string) => text.split('*').map(escaped).join('.*')
  return prefix === undefined ? new RegExp(`^${literal(argument)}$`, 's') : new RegExp(`^${literal(prefix)}(?:\\s.*)?$`, 's')
}

function isAt (url: string, host: string): boolean {
  const { hostname } = URL.parse(url) ?? {}
  const [, parent] = /^\*\.(.+)$/.exec(host) ?? []
  return hostname !== undefined && (hostname === (parent ?? host) || hostname.endsWith(`.${parent ?? host}`))
}

/** Returns a test for a glob of paths: paths of the working folder, or with `//` in front of the machine, with `~/` of the home. */
function pathsLike (glob: string): AllowedTool['covers'] {
  const outer = glob.startsWith('//') ? '/' : glob.startsWith('~/') ? homedir() : undefined
  const pattern = outer === undefined ? glob : glob.slice(2)
  const matches = picomatch(pattern.replace(/^\.?\//, ''), { dot: true })
  return ({ target = '.', cwd }) => {
    const path = relative(outer ?? cwd, resolve(cwd, target)).replaceAll('\\', '/')
    return !isAbsolute(path) && !path.startsWith('..') && matches(path)
  }
}

/** Redirections that are allowed, because they write to no file. */
const HARMLESS = /^(?:\d?>>?|&>>?)\s*(?:&\d|\/dev\/null)(?=[\s;&|)]|$)/

/**
 * Splits a command line at the operators of a shell into its commands. Undefined if the line may do more than its commands say:
 * substitutions, redirections to files, subshells, and unclosed quotes. Stricter than shells are.
 */
export function simpleCommands (line: string, platform: NodeJS.Platform = process.platform): string[] | undefined {
  const commands = ['']
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]
    const next = line[at + 1]
    const isSubstitution = letter === '`' || (letter === '$' && next === '(')
    if (quote !== "'" && isSubstitution) return undefined
    // Whether a backslash escapes a quote differs between the shells of Windows.
    if (platform === 'win32' && (letter === '^' || (letter === '\\' && (next === '"' || next === "'")))) return undefined
    if (letter === '\\' && quote !== "'" && platform !== 'win32') {
      // A backslash at the end of a line continues it.
      commands[commands.length - 1] += next === '\n' ? ' ' : letter + (next ?? '')
      at++
      continue
    }
    if (quote !== '') {
      if (letter === quote) quote = ''
    } else if (letter === '"' || letter === "'") quote = letter
    else if (letter === '<' || letter === '(' || letter === ')') return undefined
    else {
      const redirection = HARMLESS.exec(line.slice(at))?.[0]
      if (redirection !== undefined) {
        at += redirection.length - 1
        continue
      }
      if (letter === '>') return undefined
      if (';|&\n\r'.includes(letter)) {
        commands.push('')
        continue
      }
    }
    commands[commands.length - 1] += letter
  }
  if (quote !== '') return undefined
  return commands.map((command) => command.trim()).filter((command) => command !== '')
}
