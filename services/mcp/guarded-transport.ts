import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import type { GuardedChild } from '../process/index.ts'
import { EndlessLine, readLines } from '../lib/line-reader.ts'
import { adoptAnswer, type Answer, answerUnread, isAnswer, readLine } from './envelope.ts'
import { createUnsolicitedBudget, isTooComplex, LONGEST_MESSAGE, TOO_COMPLEX, TOO_LARGE } from './message-limits.ts'
import { DISCONNECTED, NotSent, type ServerTransport, type StderrTail } from './server-transport.ts'

const MIB = 1024 * 1024
/** The most bytes without a newline. A server that writes more is stopped. */
const MAX_UNFINISHED_LINE = 64 * MIB
/** The most bytes that can be queued for the server's stdin. */
const MAX_UNREAD_INPUT = 16 * MIB
/** The time that a server has to end by itself after its stdin was closed and it got the termination signal, in milliseconds. */
const GRACE_MS = 1_500
/** The time limit for reading the remaining output after the process group has ended, in milliseconds. */
const DRAIN_MS = 500

/** Clauses for error codes of spawn. */
const SPAWN_ERRORS: Record<string, string> = {
  E2BIG: 'its arguments and variables are longer than this machine allows',
  ENOENT: 'the folder it is to run in does not exist',
  ERR_INVALID_ARG_VALUE: 'its command, an argument or a variable holds a NUL character'
}
/** The shell's exit codes for a command that it could not start. */
const EXIT_CODES: Record<number, string> = { 126: ' (its command cannot be executed)', 127: ' (its command was not found)' }

/**
 * Matches the prefix that the shell of a guarded child (spawnGuarded) puts before its own message about a command that it could not start.
 */
const OF_THE_SHELL = /^\d{15,}: (?:line )?\d+: exec: /gm

/** These patterns find the id of an answer at the beginning or end of a line that is too large to parse. */
const ID_FIRST = /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/
const ID_LAST = /"id"\s*:\s*(\d{1,15})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/

interface Parts {
  spawn: () => Promise<GuardedChild>
  clock: Clock
  /** Receives the server's stderr, and the lines of its stdout that are not messages. */
  tail: StderrTail
}

/**
 * Exchanges messages, one per line, with a child in its own process group. Replaces the SDK's stdio transport, which leaves the server's
 * own children running, and buffers output without limit until a newline arrives. Here the whole group ends with the connection, the size
 * of messages is limited, and an answer beyond the limit fails only its own call.
 */
export function createTransport ({ spawn, clock, tail }: Parts): ServerTransport {
  const ended = Promise.withResolvers<string>()
  let child: GuardedChild | undefined
  let opening: Promise<void> | undefined
  let why: string | undefined
  /** The methods of the requests that wait for answers, by their ids. */
  const pending = new Map<number, string>()
  const countUnsolicited = createUnsolicitedBudget(clock, (reason) => transport.stop(reason))

  async function open () {
    child = await spawn().catch((error: NodeJS.ErrnoException) => {
      throw error.code === undefined ? error : new Error(SPAWN_ERRORS[error.code] ?? `it could not be started (${error.code})`)
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => tail.add(text.replace(OF_THE_SHELL, ''))).on('error', () => {})
    child.stdout.on('error', () => {})
    void resolveWhenEnded(child, readMessages(child))
  }

  async function resolveWhenEnded ({ exited, end, stdout }: GuardedChild, read: Promise<void>) {
    const { code, signal } = await exited
    await end(GRACE_MS)
    await settlesWithin({ clock, ms: DRAIN_MS }, read)
    stdout.destroy()
    ended.resolve(why ?? (signal === null ? `it ended with exit code ${code}${EXIT_CODES[code!] ?? ''}` : `it was ended by ${signal}`))
    transport.onclose?.()
  }

  async function readMessages ({ stdout }: GuardedChild) {
    try {
      for await (const line of readLines(stdout, { longest: LONGEST_MESSAGE, endless: MAX_UNFINISHED_LINE })) {
        if ('bytes' in line) handleLine(line.bytes)
        else failCall({ ...line, bytes: LONGEST_MESSAGE, why: TOO_LARGE })
      }
    } catch (error) {
      const isEndless = error instanceof EndlessLine
      // Without the server's output, each of its calls would wait until its time limit.
      transport.stop(isEndless ? `it wrote ${MAX_UNFINISHED_LINE / MIB} MiB without ending a line` : 'its output cannot be read any more')
    }
  }

  function handleLine (line: Buffer) {
    const text = line.toString('utf8').trim()
    if (text === '') return
    if (isTooComplex(line)) return failCall({ head: text, tail: text.slice(-256), bytes: line.length, why: TOO_COMPLEX })
    const { messages, isBehind } = readLine(text)
    // Text before a message marks a line of a log. A request in it that has the id of one of our waiting requests is our own request,
    // quoted.
    const meant = messages.filter((message) => !(isBehind && 'method' in message && 'id' in message && pending.has(Number(message.id))))
    const read = meant.map((message) => isAnswer(message) ? expected(message) ?? message : message)
    if (!read.some((message) => isAnswer(message) && pending.has(Number(message.id)))) countUnsolicited(line.length)
    if (read.every((message) => isAnswer(message) && message.id === undefined)) tail.add(`(stdout) ${text.slice(0, 200)}\n`)
    for (const message of read) {
      if (isAnswer(message) && pending.delete(Number(message.id))) tail.mark()
      transport.onmessage?.(message)
    }
  }

  /** If exactly one request waits, returns an answer without an id as the answer to that request; otherwise undefined. */
  function expected (message: Answer): Answer | undefined {
    const [only] = pending.keys()
    return message.id === undefined && pending.size === 1 ? adoptAnswer(message, only) : undefined
  }

  /**
   * Settles the request that an unusable answer belongs to, if the id is at the beginning or end of the line, or if only one request waits.
   */
  function failCall ({ head, tail: end, bytes, why }: { head: string, tail: string, bytes: number, why: string }) {
    const [only] = pending.size === 1 && head.includes('"jsonrpc"') ? pending.keys() : []
    const id = Number((ID_FIRST.exec(head) ?? ID_LAST.exec(end))?.[1] ?? only)
    const method = pending.get(id)
    if (method !== undefined) {
      pending.delete(id)
      return transport.onmessage?.(answerUnread({ id, method }, { head, why }))
    }
    countUnsolicited(bytes)
    tail.add(`(stdout) ${head.slice(0, 200)}…\n`)
  }

  const transport: ServerTransport = {
    ended: ended.promise,
    start: () => (opening = open()),
    async send (message) {
      const { stdin } = child!
      if (why !== undefined || !stdin!.writable) throw new NotSent('The tool server has ended.')
      if (stdin!.writableLength > MAX_UNREAD_INPUT) {
        transport.stop('it does not read its input')
        throw new NotSent('The tool server does not read its input.')
      }
      if ('method' in message && 'id' in message) pending.set(Number(message.id), message.method)
      // The answer might still arrive. Then it counts as unsolicited.
      if ('method' in message && message.method === 'notifications/cancelled') pending.delete(Number(message.params?.requestId))
      stdin!.write(`${JSON.stringify(message)}\n`)
    },
    stop (reason) {
      why ??= reason
      void child?.end(0)
    },
    async close () {
      why ??= DISCONNECTED
      // A server that is still being started must not outlive this call.
      await opening?.catch(() => {})
      if (child === undefined) return
      child.stdin!.end()
      await child.end(GRACE_MS)
      await ended.promise
    }
  }
  return transport
}
