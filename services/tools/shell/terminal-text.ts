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
export function shortenOutputs (stdout: string, stderr: string): { stdout: string, stderr: string, isShortened: boolean } {
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
