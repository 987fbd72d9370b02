import { statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { type ModelHeader, readModelHeader } from './gguf-header.ts'

/** The windows that are tried, tokens; the largest that fits is used. */
const WINDOWS = [32_768, 16_384, 8_192, 4_096, 2_048]
/** The smallest usable window, tokens: the agent's prompt, a request and an answer must fit. */
const LEAST_WINDOW = WINDOWS.at(-1)!
/** The length for a file that does not state one. */
export const USUAL_LENGTH = 8_192
const USUAL_BYTES_PER_TOKEN = 128 * 1024
/** The memory of a server besides the weights and the window, bytes. */
const OVERHEAD = 300 * 1024 ** 2
/** Kinds of models that do not write text. */
const NOT_FOR_TALK = /bert|clip|whisper|encoder|vocoder|tokenizer-dec/i

/** The most files of one model. */
const MOST_PARTS = 1_000

/** Weights are mapped from their file. Such memory counts as free, except on macOS, which does not report free memory. */
const IS_MAPPED_FREE = process.platform !== 'darwin'
const MACOS_SHARE = 0.7

/** The memory that a model needs. */
export interface ModelNeeds {
  /** The size of the weights, bytes. */
  size: number
  /** The window that the model was made for, tokens. */
  contextLength: number
  bytesPerToken: number
}

/** A window for a model, and the memory that the model takes with it; tokens, bytes. */
export interface ModelFit {
  window: number
  size: number
  bytes: number
}

const inGigabytes = (bytes: number) => `${(Math.max(0, bytes) / 1e9).toFixed(1)} GB`

/** Returns the memory that a program can still use, in bytes, while `servers` load, have loaded, or may be ended for it. */
export function memoryLeft (servers: ReadonlyArray<Pick<ModelFit, 'size' | 'bytes'> & { state: 'loading' | 'loaded' | 'idle' }>): number {
  const left = IS_MAPPED_FREE ? process.availableMemory() : totalmem() * MACOS_SHARE
  return servers.reduce((sum, { size, bytes, state }) => {
    if (state === 'loading') return sum - bytes
    if (state === 'loaded') return sum - (IS_MAPPED_FREE ? size : bytes)
    return sum + (IS_MAPPED_FREE ? bytes - size : 0)
  }, left)
}

/** Returns the facts about a file. Throws an Error whose message is the end of a sentence. */
function factsOf (path: string): { size: number, ino: number, mtimeMs: number } {
  const facts = statOf(path)
  if (facts === undefined) throw new Error(`its file ${path} is not there.`)
  if (!facts.isFile()) throw new Error(`${path} is not a file.`)
  return facts
}

function statOf (path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw unreadable(path, (error as NodeJS.ErrnoException).code!)
  }
}

const unreadable = (path: string, code: string) => new Error(`its file ${path} cannot be read (${code}).`)

/** Returns the paths of all parts of a model; `path` is the first of them. */
function partsOf (path: string): string[] {
  const [whole, before, first, count] = /^(.*-)(0*1)-of-(\d{5})\.gguf$/is.exec(path) ?? []
  if (whole === undefined || Number(count) > MOST_PARTS) return [path]
  return Array.from({ length: Number(count) }, (_, at) =>
    `${before}${String(at + 1).padStart(first.length, '0')}-of-${count}${path.slice(-'.gguf'.length)}`)
}

/** Returns a text that changes when another file comes to the path. Throws an Error whose message is the end of a sentence. */
export const stampOf = (path: string): string =>
  partsOf(path).map(factsOf).map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`).join(', ')

/** Returns the bytes of a model. Throws an Error whose message is the end of a sentence. */
export const sizeOf = (path: string): number => partsOf(path).reduce((sum, part) => sum + factsOf(part).size, 0)

/**
 * Reads the memory needs of a model. If the file is not a model that can answer, throws an Error whose message is the end of a sentence.
 */
export async function readNeeds (path: string): Promise<ModelNeeds> {
  const size = sizeOf(path)
  const header: ModelHeader = await readModelHeader(path).catch(({ code, message }) => {
    throw code === undefined ? new Error(`${message}: ${path}.`) : unreadable(path, code)
  })
  const { architecture = '', contextLength = USUAL_LENGTH, bytesPerToken = USUAL_BYTES_PER_TOKEN } = header
  if (NOT_FOR_TALK.test(architecture)) {
    throw new Error(`it holds no conversation: it is a model of the kind ${JSON.stringify(architecture.slice(0, 40))}.`)
  }
  return { size, contextLength, bytesPerToken }
}

/**
 * Returns the window for a model: `configured`, or the largest that the model supports and that fits into memory. Throws an Error, whose
 * message is the end of a sentence, if the window is too small or there is too little memory.
 */
export function chooseWindow ({ size, contextLength, bytesPerToken }: ModelNeeds, free: number, configured?: number): ModelFit {
  const most = Math.min(contextLength, configured ?? WINDOWS[0])
  if (most < LEAST_WINDOW) {
    throw new Error(
      `its window of ${most} tokens is too small: the agent needs ${LEAST_WINDOW}. ` +
        (most === contextLength ? 'Choose another model.' : 'Set a larger "window", or none.')
    )
  }
  const windows = configured === undefined ? [most, ...WINDOWS.filter((each) => each < most)] : [most]
  const memoryFor = (window: number) => size + OVERHEAD + window * bytesPerToken
  const window = windows.find((each) => memoryFor(each) <= free)
  if (window !== undefined) return { window, size, bytes: memoryFor(window) }
  const least = windows.at(-1)!
  const smaller = configured === undefined ? ', or choose a smaller file.' : ', choose a smaller file, or set a smaller "window".'
  throw new Error(
    `it needs about ${inGigabytes(memoryFor(least))} of memory with a window of ${least} tokens, and ${inGigabytes(free)} are free. ` +
      `Close programs${smaller}`
  )
}
