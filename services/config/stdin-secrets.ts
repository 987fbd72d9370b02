import { constants, fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { abortKind } from '../lib/abort.ts'
import type { Clock } from '../lib/clock.ts'
import { withDeadline } from '../lib/deadline.ts'
import { parseJson, isObject } from '../lib/json.ts'
import { Usage } from '../lib/usage-error.ts'

/** Secrets that the starting process writes to the standard input of the service, so that no environment contains them. */
export interface StdinSecrets {
  token?: string
  passphrase?: string
  gatewayKey?: string
  /** API keys of direct providers by provider name. */
  keys?: Record<string, string>
}

/** The maximum length of the first line without its newline; bytes. */
const LONGEST_LINE = 64 * 1024
const ARRIVAL_MS = 5_000
const NEWLINE = 0x0a
/** The value of S_IFIFO, a constant that Node does not have on Windows. */
const PIPE = 0o010000
const FIELDS = ['token', 'passphrase', 'gatewayKey', 'keys']
const EXPECTED = `The first line must be a JSON object with any of the fields ${FIELDS.join(', ')}; {} passes no secrets.`
/**
 * Matches field names that error messages are allowed to quote: short and of letters only. A misspelled field matches, a secret in its
 * place does not.
 */
const QUOTABLE = /^[a-z]{1,20}$/i

/** Throws Usage unless the descriptor is a pipe or a socket. Any other input would not end together with the starting process. */
export function requirePipe (fd = 0): void {
  const stats = fstatSync(fd)
  // On Windows, isFIFO is false for every descriptor, but the mode shows a pipe.
  if (stats.isFIFO() || stats.isSocket() || (stats.mode & constants.S_IFMT) === PIPE) return
  const kind = stats.isCharacterDevice() ? 'a terminal or a device' : stats.isFile() ? 'a file' : 'something else'
  throw new Usage(
    `--stdin needs a pipe or a socket as standard input, but it is ${kind}. ` +
      'Start the service with its standard input piped, or omit --stdin.'
  )
}

/**
 * Reads the first line of `input` and drops the rest. `ended` resolves when the input ends. Throws Usage if the line
 * does not arrive within 5 s, is longer than 64 KiB or is invalid. No error message quotes the content of the line.
 */
export async function readStdinSecrets (
  { input, clock }: { input: Readable, clock: Clock }
): Promise<{ handOver: StdinSecrets, ended: Promise<void> }> {
  const { line, ended } = firstLine(input)
  try {
    const bytes = await withDeadline({ clock, ms: ARRIVAL_MS }, () => line)
    return { handOver: parseStdinSecrets(bytes), ended }
  } catch (error) {
    input.destroy()
    throw abortKind(error) === 'timeout' ? new Usage(`No line arrived on standard input within ${ARRIVAL_MS / 1000} s. ${EXPECTED}`) : error
  }
}

function firstLine (input: Readable): { line: Promise<Buffer>, ended: Promise<void> } {
  const line = Promise.withResolvers<Buffer>()
  const ended = Promise.withResolvers<void>()
  let parts: Buffer[] | undefined = []
  let size = 0
  line.promise.catch(() => {})
  input.on('data', (chunk: Buffer) => {
    if (parts === undefined) return
    const end = chunk.indexOf(NEWLINE)
    const piece = end === -1 ? chunk : chunk.subarray(0, end)
    parts.push(piece)
    size += piece.length
    if (size > LONGEST_LINE) {
      line.reject(new Usage(`The first line of standard input is longer than ${LONGEST_LINE / 1024} KiB. ${EXPECTED}`))
    } else if (end !== -1) line.resolve(Buffer.concat(parts))
    if (size > LONGEST_LINE || end !== -1) parts = undefined
  })
  const onEnd = () => {
    line.reject(new Usage(`Standard input ended before its first line did. ${EXPECTED}`))
    ended.resolve()
  }
  // When its other end closes, a pipe emits one of these events, depending on its kind.
  for (const event of ['end', 'close', 'error']) input.on(event, onEnd)
  return { line: line.promise, ended: ended.promise }
}

/** Parses the first line, which contains the secrets as JSON. Throws Usage. */
export function parseStdinSecrets (line: Buffer): StdinSecrets {
  const value = objectIn(line)
  for (const name of Object.keys(value)) {
    if (!FIELDS.includes(name)) {
      throw new Usage(
        `The first line of standard input has ${QUOTABLE.test(name) ? `the unknown field "${name}"` : 'an unknown field'}. ${EXPECTED}`
      )
    }
  }
  for (const name of FIELDS.filter((field) => field !== 'keys' && Object.hasOwn(value, field))) {
    if (!isSecret(value[name])) {
      throw new Usage(`The field "${name}" on standard input must be a non-empty string; omit it when there is none.`)
    }
  }
  const { keys } = value
  if (keys !== undefined && !(isObject(keys) && Object.entries(keys).every(([name, key]) => name !== '' && isSecret(key)))) {
    throw new Usage('The field "keys" on standard input must be an object with provider names as keys and non-empty strings as values.')
  }
  return value as StdinSecrets
}

function objectIn (line: Buffer): Record<string, unknown> {
  let value: unknown
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(line))
  } catch (error) {
    throw new Usage(`The first line of standard input is not ${error instanceof SyntaxError ? 'JSON' : 'UTF-8'}. ${EXPECTED}`)
  }
  if (!isObject(value)) throw new Usage(`The first line of standard input is not a JSON object. ${EXPECTED}`)
  return value
}
const isSecret = (value: unknown): boolean => typeof value === 'string' && value !== ''
