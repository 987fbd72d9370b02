import type { LanguageModelV4StreamResult } from '@ai-sdk/provider'
import { createChunkReader } from './chunk-parts.ts'

/** Creates the reader of an answer. `result` is what the SDK made of an empty one: it tells the warnings and the name of the metadata. */
export async function readerAfter ({ stream }: LanguageModelV4StreamResult) {
  const told = { warnings: [], metadataKey: '' }
  for await (const part of stream) {
    if (part.type === 'stream-start') Object.assign(told, { warnings: part.warnings })
    if (part.type === 'finish') Object.assign(told, { metadataKey: Object.keys(part.providerMetadata ?? {})[0] })
  }
  return createChunkReader(told)
}
