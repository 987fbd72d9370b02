import { open } from 'node:fs/promises'

/** The facts about a model in the header of its file. Missing facts are absent. */
export interface ModelHeader {
  /** The architecture of the model, such as `llama`. */
  architecture?: string
  /** The context length that the model was made for, in tokens. */
  contextLength?: number
  /** Bytes of memory for each token of the context, with 16-bit keys and values. */
  bytesPerToken?: number
}

/** The bytes at the beginning of a GGUF file: magic number, version, number of tensors and number of settings. */
const BEGINNING = 24
/** The number of bytes that are read. A file has the settings of its model at the beginning, before the vocabulary of the tokenizer. */
const READ = 256 * 1024
/** Sizes in bytes, by type of a value, https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. Type 8 is a string, type 9 a list. */
const SIZES: Record<number, number> = { 0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8 }
const [STRING, LIST] = [8, 9]
const BYTES_PER_NUMBER = 2

/** Reads the header of a model file. If the file is not a GGUF file, throws an Error with a message such as "the file is empty". */
export async function readModelHeader (path: string): Promise<ModelHeader> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(READ), position: 0 })
    if (bytesRead === 0) throw new Error('the file is empty')
    if (buffer.toString('latin1', 0, 4) !== 'GGUF') throw new Error('the file is not a GGUF file')
    if (bytesRead < BEGINNING) throw new Error('the file is cut off')
    return headerOf(settingsIn(buffer.subarray(0, bytesRead)))
  } finally {
    await file.close()
  }
}

/**
 * Returns the settings in the header that are numbers or strings. `bytes` is the beginning of the file; settings that stand later are
 * missing.
 */
function settingsIn (bytes: Buffer): Map<string, number | string> {
  const settings = new Map<string, number | string>()
  const count = Number(bytes.readBigUInt64LE(16))
  let at = BEGINNING
  const text = () => {
    const length = Number(bytes.readBigUInt64LE(at))
    if (at + 8 + length > bytes.length) throw new RangeError('the text goes on')
    at += 8 + length
    return bytes.toString('utf8', at - length, at)
  }
  try {
    for (let n = 0; n < count; n++) {
      const name = text()
      const type = bytes.readUInt32LE(at)
      at += 4
      if (type === LIST) skipList()
      else if (type === STRING) settings.set(name, text())
      else {
        const value = numberAt(bytes, at, type)
        if (value !== undefined) settings.set(name, value)
        at += SIZES[type]
      }
    }
  } catch (error) {
    // The header is longer than the part that was read.
    if (!(error instanceof RangeError)) throw error
  }
  return settings

  function skipList () {
    const type = bytes.readUInt32LE(at)
    const length = Number(bytes.readBigUInt64LE(at + 4))
    at += 12
    if (type === STRING) for (let n = 0; n < length; n++) text()
    else at += length * (SIZES[type] ?? Infinity)
  }
}

function numberAt (bytes: Buffer, at: number, type: number): number | undefined {
  if (type === 4) return bytes.readUInt32LE(at)
  if (type === 5) return bytes.readInt32LE(at)
  if (type === 10) return Number(bytes.readBigUInt64LE(at))
  return undefined
}

function headerOf (settings: Map<string, number | string>): ModelHeader {
  const architecture = settings.get('general.architecture')
  if (typeof architecture !== 'string') return {}
  const numberOf = (name: string) => {
    const value = settings.get(`${architecture}.${name}`)
    return typeof value === 'number' && value > 0 ? value : undefined
  }
  const heads = numberOf('attention.head_count')
  const keyHeads = numberOf('attention.head_count_kv') ?? heads
  const [layers, width] = [numberOf('block_count'), numberOf('embedding_length')]
  const headSize = numberOf('attention.key_length') ?? (heads && width && width / heads)
  const numbers = layers && keyHeads && headSize && 2 * layers * keyHeads * headSize
  return { architecture, contextLength: numberOf('context_length'), ...numbers && { bytesPerToken: numbers * BYTES_PER_NUMBER } }
}
