import { closeSync, constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { readJson } from '../lib/json.ts'

const LEVELS: Record<number, [name: string, colour: number]> = {
  10: ['trace', 90],
  20: ['debug', 90],
  30: ['info', 36],
  40: ['warn', 33],
  50: ['error', 31],
  60: ['fatal', 31]
}
/** Fields that are not printed as `name=value`, because they are left out or printed in another form. */
const SHOWN = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'err'])
/** Matches control characters, on which a terminal would act, and direction marks, which would reorder a line. */
const CONTROL = /[\p{Cc}\p{Bidi_Control}]/gu

/**
 * Formats a JSON line of the log for people: the local time, the level, the message, the fields, and the stack of an error. A line that is
 * not a JSON object is returned as it is, with its control characters escaped. `colours` adds ANSI escape codes.
 */
export function prettyLine (line: string, { colours = true }: { colours?: boolean } = {}): string {
  const entry = parse(line)
  if (entry === undefined) return clean(line)
  const paint = (text: string, code: number) => colours ? `\u001b[${code}m${text}\u001b[0m` : text
  const [level, colour] = LEVELS[entry.level as number] ?? [String(entry.level), 0]
  const time = new Date(entry.time as number).toLocaleTimeString('en-GB')
  const fields = Object.entries(entry)
    .filter(([name, value]) => !SHOWN.has(name) && value !== undefined)
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
  const err = entry.err as { stack?: string, message?: string } | undefined
  const said = [paint(time, 90), paint(level.padEnd(5), colour), clean(String(entry.msg ?? ''))]
  if (fields.length > 0) said.push(paint(clean(fields.join(' ')), 90))
  const stack = err === undefined ? '' : `\n  ${clean(err.stack ?? err.message ?? JSON.stringify(err)).replaceAll('\n', '\n  ')}`
  return `${said.join(' ')}${stack}\n`
}

const parse = (line: string): Record<string, unknown> | undefined => line.startsWith('{"level":') ? readJson(line) : undefined

const clean = (text: string) =>
  text.replace(CONTROL, (character) => character === '\n' || character === '\t' ? character : `\\u${hex(character)}`)
const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0')

/**
 * Creates the check whether the terminal from which this process was started has hung up. The check applies only
 * to a process with a standard descriptor on a terminal: `nohup`, a service manager and a supervisor provide none.
 */
export function watchTerminal () {
  const attached = [0, 1, 2].some((fd) => isatty(fd)) && hasTerminal()
  return {
    /** Whether the terminal has hung up. On Windows, SIGHUP itself means that the console window was closed. */
    hungUp: (): boolean => process.platform === 'win32' || (attached && !hasTerminal())
  }
}

/** Whether there is a controlling terminal. Without one, and after it has hung up, /dev/tty cannot be opened (ENXIO, EIO). */
function hasTerminal (): boolean {
  try {
    closeSync(openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY | (constants.O_NONBLOCK ?? 0)))
    return true
  } catch {
    return false
  }
}
