import type { Readable } from 'node:stream'
import type { ToolOutput } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import { settlesWithin } from '../../lib/deadline.ts'

/** Milliseconds to wait for the end of the output after the process group ended; only a process outside the group can still hold it. */
const DRAIN_MS = 500

/** The output as a terminal shows it, within the bounds of what models see. */
export function cleaned (output: ToolOutput): ToolOutput {
  const { stdout, stderr, truncated, ...rest } = output
  if (typeof stdout !== 'string' || typeof stderr !== 'string') return output
  const { isShortened, ...shown } = shortenOutputs(terminalText(stdout), terminalText(stderr))
  const message = [
    rest.message,
    (isShortened || truncated === true) && 'A part of the output is left out: to see it, send it to a file and read or search that.'
  ].filter((sentence) => typeof sentence === 'string').join(' ')
  return { ...rest, ...shown, ...(isShortened || truncated === true) && { truncated: true }, ...message !== '' && { message } }
}

/** Waits for the end of the outputs of a command that has ended. */
export async function waitForOutput (streams: Array<ReturnType<typeof collectOutput>>, clock: Clock): Promise<void> {
  await settlesWithin({ clock, ms: DRAIN_MS }, Promise.all(streams.map(({ closed }) => closed)))
  for (const stream of streams) stream.stop()
}

/** Bytes kept of the head and of the tail of a stream, each. */
const KEPT_BYTES = 32 * 1024

/** Collects a stream in bounded memory. `onChunk` gets every chunk, kept or not. */
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
  // A broken pipe only ends the output.
  stream.on('error', () => {})

  return {
    /** Resolves when the stream has closed. An empty stream may have closed before this function was called. */
    closed: stream.closed ? Promise.resolve() : new Promise<void>((resolve) => stream.once('close', () => resolve())),
    stop: () => {
      stream.destroy()
    },
    truncated: () => total > 2 * KEPT_BYTES,
    /** Returns the text, with a marker where bytes were left out. */
    text (): string {
      const rest = Buffer.concat(tail)
      const left = total - headBytes - KEPT_BYTES
      if (left <= 0) return Buffer.concat([...head, rest]).toString('utf8')
      return `${decodeWhole(Buffer.concat(head))}\n[… ${left} bytes left out …]\n${decodeWhole(rest.subarray(-KEPT_BYTES))}`
    }
  }
}

/** Decodes a slice of UTF-8; incomplete characters at either end are dropped. */
export function decodeWhole (bytes: Buffer): string {
  const continues = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80
  let start = 0
  while (start < 3 && continues(bytes[start])) start++
  // With `stream`, the decoder holds back an incomplete character at the end.
  return new TextDecoder().decode(bytes.subarray(start), { stream: true })
}

/** Bytes of the output of a command that models see, of both streams together. */
const MODEL_BYTES = 32 * 1024

/** Control sequences of terminals: CSI (colours, cursor), OSC (titles, links) and short escapes; ECMA-48. */
// eslint-disable-next-line no-control-regex
const SEQUENCES = /\u001b\[[0-?]{0,64}[ -/]{0,8}[@-~]|\u001b\][^\u0007\u001b]{0,4096}(?:\u0007|\u001b\\)|\u001b[ -/]{0,8}[0-~]/g
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g

/**
 * Returns what a terminal would show of an output: without control sequences, and of a line that was written over after carriage
 * returns, such as a progress bar, the last state.
 */
export function terminalText (output: string): string {
  const plain = output.replace(SEQUENCES, '').replace(/\r+\n/g, '\n')
  const lines = plain.includes('\r') ? plain.split('\n').map(lastState).join('\n') : plain
  return lines.replace(CONTROLS, '')
}

function lastState (line: string): string {
  const states = line.split('\r')
  return states.findLast((state) => state.trim() !== '') ?? ''
}

/** Shortens two outputs at line ends until they fit: each keeps its head and its tail. A small one leaves its room to the other. */
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
  // One line that is too long.
  const characters = Math.floor(bytes / 8)
  return `${text.slice(0, characters).toWellFormed()}\n[… a part left out …]\n${text.slice(-characters).toWellFormed()}`
}
