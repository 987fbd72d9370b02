import type { Readable } from 'node:stream'
import type { ToolContext, ToolOutput } from '../../contracts/tool.ts'
import { abortKind } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'
import type { GuardedChild } from '../../process/index.ts'
import { block } from '../../lib/in-words.ts'

/** The most bytes that a command can write, on both streams together. A command that writes more is killed. */
export const FLOOD_BYTES = 10 * 1024 * 1024
/** The time between TERM and KILL at shutdown, in milliseconds. The service itself has 5 s to end. */
export const SHUTDOWN_MS = 1_000
/**
 * How long to wait for the end of the output after the process group has ended, in milliseconds. Only a process outside the group can still
 * hold the pipes open.
 */
const DRAIN_MS = 500
/** The number of characters of the newest output that readers see while the command runs. */
const SHOWN = 400

/**
 * Collects the output of a command, and waits for its end, at most `ms` milliseconds. Then ends the command and all its child processes.
 */
export async function commandEnd (
  child: GuardedChild,
  { clock, ms, signal, progress }: { clock: Clock, ms: number, signal: AbortSignal, progress?: ToolContext['progress'] }
) {
  let bytes = 0
  const count = (chunk: Buffer) => {
    bytes += chunk.length
    progress?.({ progress: bytes, message: terminalText(decodeWhole(chunk.subarray(-SHOWN))).trim() })
    if (bytes <= FLOOD_BYTES) return
    // Killed before the pipes are closed. A command that ends by SIGPIPE or EPIPE could seem to have completed.
    child.kill('SIGKILL')
    for (const stream of streams) stream.stop()
    void child.end(0)
  }
  const streams = [collectOutput(child.stdout, count), collectOutput(child.stderr, count)]
  const hasExited = await settlesWithin({ clock, ms, signal }, child.exited)
  const timedOut = !hasExited && !signal.aborted
  if (!hasExited) void child.end(abortKind(signal.reason) === 'shutdown' ? SHUTDOWN_MS : undefined)
  const exit = await child.exited
  await child.end()
  await settlesWithin({ clock, ms: DRAIN_MS }, Promise.all(streams.map(({ closed }) => closed)))
  for (const stream of streams) stream.stop()
  return { exit, streams, timedOut, isFlood: bytes > FLOOD_BYTES }
}

const TAKEN_SHOWN = 20

/** Returns a text for the model about files that were removed after its command. */
export const takenAwayText = (taken: string[]): string =>
  'Programs outside the box would obey what the command has put there, so it was taken away: ' +
  `${taken.slice(0, TAKEN_SHOWN).join(' ')} If the user wants it, run the command with "outside": true and a reason.`

/** Returns an output as a terminal would show it, shortened to what models get. */
export function cleaned (output: ToolOutput): ToolOutput {
  const { stdout, stderr, truncated, ...rest } = output
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return output
  const { isShortened, ...shown } = shortenOutputs(terminalText(stdout), terminalText(stderr))
  const message = [
    rest.message,
    (isShortened || truncated === true) && 'A part of the output is left out: to see it, write it to a file and read or search that.'
  ].filter((sentence) => typeof sentence === 'string').join(' ')
  return { ...rest, ...shown, ...(isShortened || truncated === true) && { truncated: true }, ...message !== '' && { message } }
}

/** The number of bytes kept of the head of a stream, and of its tail; of unread background output, the number of newest bytes. */
const KEPT_BYTES = 32 * 1024

/** Collects the output of a stream in bounded memory. `onChunk` gets every chunk, even if it is not kept. */
export function collectOutput (stream: Readable, onChunk: (chunk: Buffer) => void) {
  const head: Buffer[] = []
  let headBytes = 0
  let tail: Buffer[] = []
  let tailBytes = 0
  let total = 0

  stream.on('data', (chunk: Buffer) => {
    total += chunk.length
    const start = chunk.subarray(0, KEPT_BYTES - headBytes)
    if (start.length > 0) head.push(start)
    headBytes += start.length
    tail.push(chunk.subarray(start.length))
    tailBytes += chunk.length - start.length
    if (tailBytes > 4 * KEPT_BYTES) {
      // Copied, because a subarray would keep the whole concatenated buffer in memory.
      tail = [Buffer.from(Buffer.concat(tail).subarray(-KEPT_BYTES))]
      tailBytes = KEPT_BYTES
    }
    onChunk(chunk)
  })
  // A broken pipe just ends the output.
  stream.on('error', () => {})

  return {
    /** Resolves when the stream has closed. It can have closed before this function was called. */
    closed: closeOf(stream),
    stop: () => void stream.destroy(),
    truncated: () => total > 2 * KEPT_BYTES,
    /** Returns the text, with a note where bytes were left out. */
    text (): string {
      const rest = Buffer.concat(tail)
      const left = total - headBytes - KEPT_BYTES
      if (left <= 0) return Buffer.concat([...head, rest]).toString('utf8')
      return `${decodeWhole(Buffer.concat(head))}\n[… ${left} bytes left out …]\n${decodeWhole(rest.subarray(-KEPT_BYTES))}`
    }
  }
}

const closeOf = (stream: Readable): Promise<void> =>
  stream.closed ? Promise.resolve() : new Promise((resolve) => stream.once('close', () => resolve()))

export type NewOutput = ReturnType<typeof collectNew>

/**
 * Collects the output of several streams in the order of its arrival, until it is taken. If there is too much, the oldest part is dropped.
 */
export function collectNew (streams: Readable[]) {
  let kept: Buffer[] = []
  let bytes = 0
  let left = 0
  let isEnded = false
  /** Keeps an incomplete character at the end for the next output. */
  let decoder = new TextDecoder()
  let changed = Promise.withResolvers<void>()
  const closed = Promise.all(streams.map(closeOf))
  for (const stream of streams) {
    // A broken pipe just ends the output.
    stream.on('error', () => {}).on('data', (chunk: Buffer) => {
      kept.push(chunk)
      bytes += chunk.length
      if (bytes > 2 * KEPT_BYTES) {
        // Copied, because a subarray would keep the whole concatenated buffer in memory.
        const newest = Buffer.from(Buffer.concat(kept).subarray(-KEPT_BYTES))
        left += bytes - newest.length
        kept = [newest]
        bytes = newest.length
      }
      changed.resolve()
    })
  }
  void closed.then(() => {
    isEnded = true
    changed.resolve()
  })

  return {
    /** Resolves when there is output that was not taken, or when the streams have ended. */
    some: (): Promise<void> => changed.promise,
    isEnded: () => isEnded,
    /** Waits for the end of the streams, at most DRAIN_MS, once their processes have ended. */
    async closed (clock: Clock): Promise<void> {
      await settlesWithin({ clock, ms: DRAIN_MS }, closed)
      for (const stream of streams) stream.destroy()
    },
    /** Takes the new output, as a terminal would show it. `left` is the number of bytes before it that were dropped. */
    take (): { output: string, left: number } {
      const all = Buffer.concat(kept)
      const shown = all.subarray(-KEPT_BYTES)
      const lost = left + all.length - shown.length
      if (lost > 0) decoder = new TextDecoder()
      const output = decoder.decode(lost > 0 ? fromCharacter(shown) : shown, { stream: !isEnded })
      kept = []
      bytes = left = 0
      if (!isEnded) changed = Promise.withResolvers()
      return { output: terminalText(output), left: lost }
    }
  }
}

/** Returns a slice of UTF-8 without an incomplete character at its beginning. */
function fromCharacter (bytes: Buffer): Buffer {
  const continues = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && continues(bytes[start])) start++
  return bytes.subarray(start)
}

/** Decodes a slice of UTF-8. Incomplete characters at either end are dropped. */
const decodeWhole = (bytes: Buffer): string => new TextDecoder().decode(fromCharacter(bytes), { stream: true })

/** The most bytes of a command's output that models get, of both streams together. */
const MODEL_BYTES = 32 * 1024

/** Matches terminal control sequences (ECMA-48): CSI (colours, cursor), OSC (titles, links) and short escapes. */
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-~]/g
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

/**
 * Returns an output as a terminal would show it: without control sequences, and only the last state of a line that was overwritten after
 * carriage returns, such as a progress bar.
 */
function terminalText (output: string): string {
  const plain = output.replace(SEQUENCES, '').replace(/\r+\n/g, '\n')
  const lines = plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain
  return lines.replace(CONTROLS, '')
}

function lastState (line: string): string {
  const states = line.split('\r')
  return states.findLast((state) => state.trim() !== '') ?? ''
}

/** Shortens two outputs at line ends until both fit. Each keeps its head and tail; a short one leaves its unused room to the other. */
function shortenOutputs (stdout: string, stderr: string): { stdout: string, stderr: string, isShortened: boolean } {
  const size = (text: string) => Buffer.byteLength(text)
  if (size(stdout) + size(stderr) <= MODEL_BYTES) return { stdout, stderr, isShortened: false }
  const half = MODEL_BYTES / 2
  const roomOut = Math.max(half, MODEL_BYTES - size(stderr))
  const roomErr = Math.max(half, MODEL_BYTES - size(stdout))
  return { stdout: shorten(stdout, roomOut), stderr: shorten(stderr, roomErr), isShortened: true }
}

function shorten (text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text
  const lines = text.split('\n')
  const take = (from: string[], room: number): string[] => {
    const taken: string[] = []
    let left = room
    for (const line of from) {
      left -= Buffer.byteLength(line) + 1
      if (left < 0) break
      taken.push(line)
    }
    return taken
  }
  const head = take(lines, bytes / 2)
  const tail = take(lines.slice(head.length).reverse(), bytes / 2).reverse()
  const out = lines.length - head.length - tail.length
  if (head.length + tail.length > 0) return [...head, `[… ${out} lines left out …]`, ...tail].join('\n')
  // There is only one line, and it is too long.
  const characters = Math.floor(bytes / 8)
  return `${text.slice(0, characters).toWellFormed()}\n[… a part left out …]\n${text.slice(-characters).toWellFormed()}`
}

/** Describes for people how a command ended, or that it runs in the background, with its output. */
export function commandInWords (
  { exitCode, signal, timedOut, stdout, stderr, running, output: written }: ToolOutput,
  { command }: { command?: unknown }
): string {
  if (running === true) return `\`${command}\` runs in the background.${block(written)}`
  const ended = timedOut === true
    ? 'took too long and was ended'
    : signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`
  const [printed, errors] = [block(stdout ?? written), block(stderr)]
  const output = printed || errors ? `.${printed}${errors && `\n\nIts error output:${errors}`}` : ' and printed nothing.'
  return `\`${command}\` ${ended}${output}`
}
