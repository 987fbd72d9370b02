import { statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { type ModelHeader, readModelHeader } from './gguf-header.ts'

/** The windows that are tried, tokens; the largest that fits is used. */
const WINDOWS = [32_768, 16_384, 8_192, 4_096, 2_048]
/** For a file that does not say it. */
export const USUAL_LENGTH = 8_192
const USUAL_BYTES_PER_TOKEN = 128 * 1024
/** What a server needs beside the weights and the window, bytes. */
const OVERHEAD = 300 * 1024 ** 2

/** Files of one model. */
const MOST_PARTS = 1_000

/** Bytes that a program may still take. macOS counts what it would give up at once as used. */
const memoryLeft = (): number => process.platform === 'darwin' ? totalmem() * 0.7 : process.availableMemory()

const inGigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`

/** Returns the size of a file, bytes. Throws an Error with the end of a sentence. */
function sizeOf (path: string): number {
  try {
    return statSync(path).size
  } catch {
    throw new Error(`its file ${path} is not there, or may not be read.`)
  }
}

/** Returns the paths of a model: those of all its parts where it is in several files, of which `path` is the first. */
function partsOf (path: string): string[] {
  const [whole, before, first, count] = /^(.*-)(0*1)-of-(\d{5})\.gguf$/is.exec(path) ?? []
  if (whole === undefined || Number(count) > MOST_PARTS) return [path]
  return Array.from({ length: Number(count) }, (_, at) =>
    `${before}${String(at + 1).padStart(first.length, '0')}-of-${count}${path.slice(-'.gguf'.length)}`)
}

/** Returns what tells a file from the one that was at its path before. Throws an Error with the end of a sentence. */
export function stampOf (path: string): string {
  sizeOf(path)
  const { ino, size, mtimeMs } = statSync(path)
  return `${ino} ${size} ${mtimeMs}`
}

/**
 * Returns the window with which a file can be served, tokens: `configured`, or the largest that the model has and the memory takes. Throws
 * an Error with the end of a sentence when the file is no model, or there is too little memory.
 */
export async function windowThatFits (path: string, configured?: number): Promise<number> {
  const size = partsOf(path).reduce((sum, part) => sum + sizeOf(part), 0)
  const header: ModelHeader = await readModelHeader(path).catch((error) => {
    throw new Error(`${(error as Error).message}: ${path}.`)
  })
  const { contextLength = USUAL_LENGTH, bytesPerToken = USUAL_BYTES_PER_TOKEN } = header
  const most = Math.min(contextLength, WINDOWS[0])
  const windows = configured === undefined ? [most, ...WINDOWS.filter((each) => each < most)] : [configured]
  const free = memoryLeft()
  const memoryFor = (window: number) => size + OVERHEAD + window * bytesPerToken
  const found = windows.find((window) => memoryFor(window) <= free)
  if (found !== undefined) return found
  const least = windows.at(-1)!
  throw new Error(
    `it needs about ${inGigabytes(memoryFor(least))} of memory with a window of ${least} tokens, and ${inGigabytes(free)} are free. ` +
      'Close programs, choose a smaller file, or set a smaller "window".'
  )
}
