import { homedir } from 'node:os'
import { isAbsolute, relative, resolve } from 'node:path'
import picomatch from 'picomatch'
import { needsAny, type Tool } from '../../contracts/tool.ts'
import type { ToolHost } from '../host.ts'
import { splitOutside } from './front-matter.ts'

/** The parts of a call that are compared with an entry of `allowed-tools`. */
export interface NarrowedCall {
  input: unknown
  /** The target that the input names; `sends` are the addresses that the call goes to. */
  target?: string
  sends?: readonly string[]
  /** The working folder of the run. */
  cwd: string
}

/** An entry of `allowed-tools`. */
export interface AllowedTool {
  /** The entry as written in the skill. */
  entry: string
  /** Names of tools, or patterns for names, as in `options.allowTools`. */
  tools: string[]
  /** Returns true if the entry covers a call; absent if the entry covers all calls of these tools. */
  covers?: (call: NarrowedCall) => boolean
  /** A clause that says why the entry is not understood, so that it allows nothing; absent if it is. */
  unread?: string
}

/** The functions of the host that give names of tools and tools by name. */
export type Vocabulary = Pick<ToolHost, 'names' | 'find'>

const ALL = /^(?::?\*{1,2})?$/

/** Splits the text of `allowed-tools` at white space and commas outside of parentheses. */
export const allowedEntries = (value: string | readonly string[]): string[] =>
  (typeof value === 'string' ? splitOutside(value, /[,\s]/) : [...value]).map((entry) => entry.trim()).filter((entry) => entry !== '')

/**
 * Parses the entries of a skill's `allowed-tools`: with tool names of other agents (`Read`, `Bash(git:*)`, `mcp__github__create_issue`) or
 * our own (`readFile`, `runCommand(git:*)`, `github_*`, `server:github`). An entry that is not understood allows nothing.
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

/** Returns the names of the tools that an entry's name means. A tool that runs commands includes the tools for background commands. */
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

/** True if a path glob can limit the tool: its calls are about a path. Tools for attachments count, too: attachments are in no folder. */
const isOfPaths = (tool: Tool): boolean => tool.says?.about?.[0] === 'path' || needsAny(tool, 'attachments')

function coveredBy (argument: string, tools: readonly Tool[]): AllowedTool['covers'] {
  if (tools.some(({ effects }) => effects?.command !== undefined)) return (call) => coversCommand(argument, call)
  const host = /^domain:(.+)$/.exec(argument)?.[1].toLowerCase()
  const isOfPages = tools.some(({ effects }) => effects?.source === 'page')
  if (isOfPages && host !== undefined) return ({ sends = [] }) => sends.length > 0 && sends.every((url) => isAt(url, host))
  return tools.length > 0 && tools.every(isOfPaths) ? pathsLike(argument) : undefined
}

/**
 * True if the pattern covers every command of a command line. A call without a command line, which reads the output of a running command,
 * is covered.
 */
function coversCommand (argument: string, { input }: NarrowedCall): boolean {
  const { command } = (input ?? {}) as { command?: unknown }
  if (typeof command !== 'string') return true
  const matches = commandPattern(argument)
  const commands = simpleCommands(command)
  return commands !== undefined && commands.length > 0 && commands.every((each) => matches.test(each))
}

/**
 * Returns the regular expression of a pattern. `git:*` and `git *` match commands that begin with the word `git`. Any other star matches
 * anything.
 */
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

/**
 * Returns a test for a path glob. The glob is relative to the working folder, to the root if it begins with `//`, or to the home folder if
 * it begins with `~/`.
 */
function pathsLike (glob: string): AllowedTool['covers'] {
  const outer = glob.startsWith('//') ? '/' : glob.startsWith('~/') ? homedir() : undefined
  const pattern = outer === undefined ? glob : glob.slice(2)
  const matches = picomatch(pattern.replace(/^\.?\//, ''), { dot: true })
  return ({ target = '.', cwd }) => {
    const path = relative(outer ?? cwd, resolve(cwd, target)).replaceAll('\\', '/')
    return !isAbsolute(path) && !path.startsWith('..') && matches(path)
  }
}

/** Matches redirections that are allowed, because they do not write to a file. */
const HARMLESS = /^(?:\d?>>?|&>>?)\s*(?:&\d|\/dev\/null)(?=[\s;&|)]|$)/

/**
 * Splits a command line at shell operators into its commands. Returns undefined if the line might do more than these commands show: for
 * substitutions, redirections to files, subshells and unclosed quotes. Stricter than shells are.
 */
export function simpleCommands (line: string, platform: NodeJS.Platform = process.platform): string[] | undefined {
  const commands = ['']
  let quote = ''
  for (let at = 0; at < line.length; at++) {
    const letter = line[at]
    const next = line[at + 1]
    const isSubstitution = letter === '`' || (letter === '$' && next === '(')
    if (quote !== "'" && isSubstitution) return undefined
    // The shells of Windows differ in whether a backslash escapes a quote.
    if (platform === 'win32' && (letter === '^' || (letter === '\\' && (next === '"' || next === "'")))) return undefined
    if (letter === '\\' && quote !== "'" && platform !== 'win32') {
      // A backslash at the end of a line continues the command on the next line.
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
