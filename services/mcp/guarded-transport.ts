import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js'
import type { Clock } from '../lib/clock.ts'
import { exceededLimit } from '../lib/json.ts'
import type { GuardedChild } from '../process/spawn-guarded.ts'
import { EndlessLine, readLines } from '../lib/line-reader.ts'
import type { Tail } from './stderr-tail.ts'

const MIB = 1024 * 1024
/** A message: a result of 1 MiB and images of 5 MiB, with room for escapes. */
const LONGEST_MESSAGE = 8 * MIB
const ENDLESS = 64 * MIB
/** What a server may write in a minute that answers nothing. */
const MOST_NOISE = 64 * MIB
const MINUTE_MS = 60_000
/** What may wait for a server to read it. */
const MOST_WAITING = 16 * MIB
/** Small values cost a hundred times the memory of their text. */
const MOST_VALUES = 250_000
const DEEPEST = 128
/** How long a server has to end by itself once its input is closed and it was told to. */
const GRACE_MS = 1_500
const DRAIN_MS = 500

/** JSON-RPC's. */
const INTERNAL_ERROR = -32603

/** Why it cannot be started at all, and what exit codes mean that a shell gives where nothing was started. */
const REASONS: Record<string, string> = {
  E2BIG: 'its arguments and variables are longer than this machine allows',
  ENOENT: 'the folder it is to run in does not exist',
  ERR_INVALID_ARG_VALUE: 'its command, an argument or a variable holds a NUL character'
}
const CODES: Record<number, string> = { 126: ' (its command cannot be executed)', 127: ' (its command was not found)' }

const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/
const ID_LAST = /"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

interface Parts {
  spawn: () => Promise<GuardedChild>
  clock: Clock
  /** Gets what the server writes to stderr, and what it writes to stdout that is no message. */
  tail: Tail
}

/** The SDK's transport over a guarded child. */
export interface GuardedTransport extends Transport {
  /** Resolves when nothing of the server is left, to why: a clause about it. */
  ended: Promise<string>
  /** Ends the server at once, for this reason. */
  stop(why: string): void
}

/**
 * Messages as lines over the stdin and stdout of a child in a group of its own. The SDK's transport leaves what the
 * server has started, and keeps whatever comes without a newline; here the group ends with the connection, a message
 * has a limit, and an answer beyond it fails its own call only.
 */
export function createTransport ({ spawn, clock, tail }: Parts): GuardedTransport {
  const ended = Promise.withResolvers<string>()
  let child: GuardedChild | undefined
  let opening: Promise<void> | undefined
  let why: string | undefined
  /** Ids of the requests that wait for an answer. */
  const asked = new Set<number>()
  let noise = { since: clock.monotonic(), bytes: 0 }

  async function open () {
    child = await spawn().catch((error: NodeJS.ErrnoException) => {
      throw error.code === undefined ? error : new Error(REASONS[error.code] ?? `it could not be started (${error.code})`)
    })
    child.stderr.setEncoding('utf8').on('data', tail.add).on('error', () => {})
    child.stdout.on('error', () => {})
    void watch(child, listen(child))
  }

  async function watch ({ exited, end, stdout }: GuardedChild, read: Promise<void>) {
    const { code, signal } = await exited
    await end(GRACE_MS)
    const waited = new AbortController()
    await Promise.race([read, clock.timeout(DRAIN_MS, waited.signal).catch(() => {})])
    waited.abort()
    stdout.destroy()
    ended.resolve(why ?? (signal === null ? `it ended with exit code ${code}${CODES[code!] ?? ''}` : `it was ended by ${signal}`))
    transport.onclose?.()
  }

  async function listen ({ stdout }: GuardedChild) {
    try {
      for await (const line of readLines(stdout, { longest: LONGEST_MESSAGE, endless: ENDLESS })) {
        if ('bytes' in line) take(line.bytes)
        else refuse(line.head, line.tail, LONGEST_MESSAGE, `The answer is larger than ${LONGEST_MESSAGE / MIB} MiB.`)
      }
    } catch (error) {
      if (error instanceof EndlessLine) transport.stop(`it wrote ${ENDLESS / MIB} MiB without ending a line`)
    }
  }

  function take (line: Buffer) {
    const text = line.toString('utf8').trim()
    if (text === '') return
    if (exceededLimit(line, { levels: DEEPEST, values: MOST_VALUES }) !== undefined) {
      return refuse(
        text.slice(0, 256),
        text.slice(-256),
        line.length,
        `The answer is nested deeper than ${DEEPEST} levels or holds more than ${MOST_VALUES} values.`
      )
    }
    const message = parse(text)
    const isAnswer = message !== undefined && ('result' in message || 'error' in message) && asked.delete(Number(message.id))
    if (!isAnswer) countNoise(line.length)
    if (message === undefined) tail.add(`(stdout) ${text.slice(0, 200)}\n`)
    else transport.onmessage?.(message)
  }

  /** Fails the call that an unusable answer belongs to, as far as its ends tell which. */
  function refuse (head: string, end: string, bytes: number, message: string) {
    const id = Number((ID_FIRST.exec(head) ?? ID_LAST.exec(end))?.[1])
    if (asked.delete(id)) return transport.onmessage?.({ jsonrpc: '2.0', id, error: { code: INTERNAL_ERROR, message } })
    countNoise(bytes)
    tail.add(`(stdout) ${head.slice(0, 200)}…\n`)
  }

  function countNoise (bytes: number) {
    const now = clock.monotonic()
    if (now - noise.since > MINUTE_MS) noise = { since: now, bytes: 0 }
    noise.bytes += bytes
    if (noise.bytes > MOST_NOISE) transport.stop(`it wrote more than ${MOST_NOISE / MIB} MiB in a minute that nobody asked for`)
  }

  const transport: GuardedTransport = {
    ended: ended.promise,
    start: () => (opening = open()),
    async send (message) {
      const { stdin } = child!
      if (why !== undefined || !stdin!.writable) throw new Error('The tool server has ended.')
      if (stdin!.writableLength > MOST_WAITING) {
        transport.stop('it does not read what it is sent')
        throw new Error('The tool server does not read what it is sent.')
      }
      if ('method' in message && 'id' in message) asked.add(Number(message.id))
      // An answer to it may still come, and is none that anybody waits for.
      if ('method' in message && message.method === 'notifications/cancelled') asked.delete(Number(message.params?.requestId))
      stdin!.write(`${JSON.stringify(message)}\n`)
    },
    stop (reason) {
      why ??= reason
      void child?.end(0)
    },
    async close () {
      why ??= 'it was disconnected'
      // Who closes while the server is being started is not to find it there later.
      await opening?.catch(() => {})
      if (child === undefined) return
      child.stdin!.end()
      await child.end(GRACE_MS)
      await ended.promise
    }
  }
  return transport
}

/** A message as JSON-RPC knows it, roughly: the SDK looks closer. Undefined for anything else. */
function parse (text: string): JSONRPCMessage | undefined {
  if (!text.startsWith('{')) return undefined
  try {
    // A key of that name would become a prototype as soon as somebody copies the object.
    const value = text.includes('__proto__') ? JSON.parse(text, (key, each) => key === '__proto__' ? undefined : each) : JSON.parse(text)
    return value.jsonrpc === '2.0' && ('method' in value || 'id' in value) ? value : undefined
  } catch {
    return undefined
  }
}
