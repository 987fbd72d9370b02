import { statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { type ModelHeader, readModelHeader } from './gguf-header.ts'

/** The context windows that are tried, in tokens. The largest one that fits into memory is used. */
const WINDOWS = [32_768, 16_384, 8_192, 4_096, 2_048]
/** The smallest usable context window, in tokens: the agent's prompt, a request and an answer must fit. */
const LEAST_WINDOW = WINDOWS.at(-1)!
/** The context length, in tokens, and the memory for each token, in bytes, that are assumed for a model file that does not state them. */
export const USUAL_LENGTH = 8_192
const USUAL_BYTES_PER_TOKEN = 128 * 1024
/** The memory of a server in addition to the weights and the context, in bytes. */
const OVERHEAD = 300 * 1024 ** 2
/** Matches the architectures of models that do not write text. */
const NOT_FOR_TALK = /bert|clip|whisper|encoder|vocoder|tokenizer-dec/i

/** The most files of one model. */
const MOST_PARTS = 1_000

/**
 * Weights are memory-mapped from their file. Such memory counts as free, except on macOS, which does not report free memory. There,
 * MACOS_SHARE of all memory counts as free.
 */
const IS_MAPPED_FREE = process.platform !== 'darwin'
const MACOS_SHARE = 0.7

/** The memory that a model needs. */
interface ModelNeeds {
  /** The size of the weights, in bytes. */
  size: number
  /** The context length that the model was made for, in tokens. */
  contextLength: number
  bytesPerToken: number
}

/** The context window of a model, in tokens, with the size of its weights and all memory that it needs with this window, both in bytes. */
export interface ModelFit {
  window: number
  size: number
  bytes: number
}

const inGigabytes = (bytes: number) => `${(Math.max(0, bytes) / 1e9).toFixed(1)} GB`

/**
 * Returns the memory, in bytes, that a new server can use. Servers in the state `loading` still need memory, those in the state `loaded`
 * keep their memory, and those in the state `idle` can be ended for the new server.
 */
export function memoryLeft (servers: ReadonlyArray<Pick<ModelFit, 'size' | 'bytes'> & { state: 'loading' | 'loaded' | 'idle' }>): number {
  const left = IS_MAPPED_FREE ? process.availableMemory() : totalmem() * MACOS_SHARE
  return servers.reduce((sum, { size, bytes, state }) => {
    if (state === 'loading') return sum - bytes
    if (state === 'loaded') return sum - (IS_MAPPED_FREE ? size : bytes)
    return sum + (IS_MAPPED_FREE ? bytes - size : 0)
  }, left)
}

/** Returns the status of a file. Throws an Error whose message completes "The model … cannot be used yet:". */
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

/** Returns the paths of all parts of a model; `path` is the path of the first part. */
function partsOf (path: string): string[] {
  const [whole, before, first, count] = /^(.*-)(0*1)-of-(\d{5})\.gguf$/is.exec(path) ?? []
  if (whole === undefined || Number(count) > MOST_PARTS) return [path]
  return Array.from({ length: Number(count) }, (_, at) =>
    `${before}${String(at + 1).padStart(first.length, '0')}-of-${count}${path.slice(-'.gguf'.length)}`)
}

/** Returns a text that changes when the file at the path is changed or replaced. Throws an Error like `factsOf`. */
export const stampOf = (path: string): string =>
  partsOf(path).map(factsOf).map(({ ino, size, mtimeMs }) => `${ino} ${size} ${mtimeMs}`).join(', ')

/** Returns the size of a model in bytes. Throws an Error like `factsOf`. */
export const sizeOf = (path: string): number => partsOf(path).reduce((sum, part) => sum + factsOf(part).size, 0)

/** Reads the memory needs of a model. Throws an Error like `factsOf`, also if the file is not a model that can answer. */
export async function readNeeds (path: string): Promise<ModelNeeds> {
  const size = sizeOf(path)
  const header: ModelHeader = await readModelHeader(path).catch(({ code, message }) => {
    throw code === undefined ? new Error(`${message}: ${path}.`) : unreadable(path, code)
  })
  const { architecture = '', contextLength = USUAL_LENGTH, bytesPerToken = USUAL_BYTES_PER_TOKEN } = header
  if (NOT_FOR_TALK.test(architecture)) {
    throw new Error(`it is not a chat model, but one of the kind ${JSON.stringify(architecture.slice(0, 40))}. Choose another file.`)
  }
  return { size, contextLength, bytesPerToken }
}

/**
 * Returns the context window for a model: `configured`, or the largest that the model supports and that fits into `free` bytes. Throws an
 * Error like `factsOf` if the window is too small or there is too little memory.
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
