import type { IncomingMessage } from 'node:http'
import { pipeline, type Duplex } from 'node:stream'
import zlib from 'node:zlib'
import { FetchFailed } from './fetch-errors.ts'

/** More than one coding is rare; many are an attack. */
const MOST_CODINGS = 2
/** The largest window that RFC 9659 lets a server count on: 8 MiB. */
const ZSTD_WINDOW_LOG = 23

export interface Body {
  bytes: Buffer
  /** There was more than the limit. */
  truncated: boolean
}

/**
 * The decompressed body of an answer, up to `limit` bytes; of what comes over the wire no more is taken either. The
 * connection is closed in any case.
 */
export async function readBody (response: IncomingMessage, limit: number): Promise<Body> {
  const pieces: Buffer[] = []
  let length = 0
  let taken = 0
  async function * wire () {
    for await (const chunk of response) {
      taken += chunk.length
      yield chunk
      if (taken > limit) return
    }
  }
  try {
    const codings = codingsOf(response)
    for await (const chunk of decoded(wire(), codings)) {
      pieces.push(chunk)
      length += chunk.length
      if (length > limit) break
    }
    return { bytes: Buffer.concat(pieces).subarray(0, limit), truncated: length > limit || taken > limit }
  } finally {
    response.destroy()
  }
}

/** The stages that undo the codings, the last one applied first. */
function codingsOf ({ headers }: IncomingMessage): string[] {
  const codings = (headers['content-encoding'] ?? '').toLowerCase().split(',').map((coding) => coding.trim()).filter((coding) =>
    coding !== '' && coding !== 'identity'
  )
  const unknown = codings.find((coding) => !Object.hasOwn(DECODERS, coding))
  if (unknown !== undefined) throw new FetchFailed(`The answer is compressed in a way that was not asked for (${unknown.slice(0, 40)}).`)
  if (codings.length > MOST_CODINGS) throw new FetchFailed('The answer is compressed too often.')
  return codings.reverse()
}

function decoded (source: AsyncIterable<Buffer>, codings: string[]): AsyncIterable<Buffer> {
  // Errors reach the reader through the last stage.
  return codings.reduce<AsyncIterable<Buffer>>((from, coding) => pipeline(from, DECODERS[coding](), () => {}) as Duplex, source)
}

// A body that was cut off is read as far as it goes, as browsers do.
const gunzip = () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
const DECODERS: Record<string, () => Duplex> = {
  gzip: gunzip,
  'x-gzip': gunzip,
  deflate: () => zlib.createInflate({ finishFlush: zlib.constants.Z_SYNC_FLUSH }),
  br: () => zlib.createBrotliDecompress({ finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }),
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } })
}
