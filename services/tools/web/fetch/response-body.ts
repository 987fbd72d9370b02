import type { IncomingMessage } from 'node:http'
import { pipeline, type Duplex } from 'node:stream'
import zlib from 'node:zlib'
import { FetchFailed } from './fetch-errors.ts'

/** The most nested content codings: more than one is rare, and many are an attack. */
const MAX_CODINGS = 2
/** The largest window that RFC 9659 allows servers to use: 8 MiB. */
const ZSTD_WINDOW_LOG = 23

export interface Body {
  bytes: Buffer
  /** The body was longer than the limit. */
  truncated: boolean
}

/**
 * Reads and decompresses the body of a response, up to `limit` bytes; it also reads no more than about `limit` compressed bytes.
 * Closes the connection in any case. Throws FetchFailed for content codings that cannot be decoded.
 */
export async function readBody (response: IncomingMessage, limit: number): Promise<Body> {
  const pieces: Buffer[] = []
  let length = 0
  let received = 0
  async function * wire () {
    for await (const chunk of response) {
      received += chunk.length
      yield chunk
      if (received > limit) return
    }
  }
  try {
    const codings = codingsOf(response)
    for await (const chunk of decoded(wire(), codings)) {
      pieces.push(chunk)
      length += chunk.length
      if (length > limit) break
    }
    return { bytes: Buffer.concat(pieces).subarray(0, limit), truncated: length > limit || received > limit }
  } finally {
    response.destroy()
  }
}

/** Returns the content codings in the order in which they are undone: the coding applied last comes first. */
function codingsOf ({ headers }: IncomingMessage): string[] {
  const codings = (headers['content-encoding'] ?? '').toLowerCase().split(',').map((coding) => coding.trim()).filter((coding) =>
    coding !== '' && coding !== 'identity'
  )
  const unknown = codings.find((coding) => !Object.hasOwn(DECODERS, coding))
  if (unknown !== undefined) throw new FetchFailed(`The answer is compressed in a way that was not asked for (${unknown.slice(0, 40)}).`)
  if (codings.length > MAX_CODINGS) throw new FetchFailed('The answer is compressed too often.')
  return codings.reverse()
}

function decoded (source: AsyncIterable<Buffer>, codings: string[]): AsyncIterable<Buffer> {
  // `pipeline` passes errors to the last stage, where the reader sees them.
  return codings.reduce<AsyncIterable<Buffer>>((from, coding) => pipeline(from, DECODERS[coding](), () => {}) as Duplex, source)
}

// Flush modes that decode a truncated body as far as it goes, as browsers do.
const gunzip = () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
const DECODERS: Record<string, () => Duplex> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })
}
