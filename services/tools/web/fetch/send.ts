import type { LookupAddress } from 'node:dns'
import * as http from 'node:http'
import type { IncomingMessage } from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { VERSION } from '../../../lib/version.ts'
import { pipeline, type Duplex } from 'node:stream'
import zlib from 'node:zlib'
import { codingsIn } from '../../../lib/line-reader.ts'
import { defineError } from '../../../lib/service-error.ts'

const HEADER_BYTES = 64 * 1024
const USER_AGENT = `Mozilla/5.0 (compatible; local-agent-service/${VERSION})`

interface SendOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** The only addresses to connect to. If absent, the host name is looked up. */
  addresses?: LookupAddress[]
  /** Aborts the request and the reading of the response. */
  signal: AbortSignal
}

/**
 * Sends one request over its own connection, without proxy or cookies. Does not follow redirects, and always checks certificates. Resolves
 * once the headers have arrived.
 */
export function send (url: URL, { method = 'GET', headers, body, addresses, signal }: SendOptions): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, {
      method,
      agent: false,
      headers: {
        'user-agent': USER_AGENT,
        'accept-encoding': 'gzip',
        ...headers,
        ...body !== undefined && { 'content-length': Buffer.byteLength(body) }
      },
      maxHeaderSize: HEADER_BYTES,
      rejectUnauthorized: true,
      signal,
      ...addresses && { lookup: lookupOnly(addresses) }
    })
    clientRequest.on('response', resolve).on('error', reject)
    // After an unrequested protocol switch, Node.js closes the request without 'response' or 'error'.
    clientRequest.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    clientRequest.end(body)
  })
}

/** Returns a lookup function that returns only these addresses. Node.js does not call it if the host is an IP address. */
function lookupOnly (addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all) done(null, addresses)
    else done(null, addresses[0].address, addresses[0].family)
  }
}

/** The most content codings applied to one body. More than one is rare, and many are an attack. */
const MAX_CODINGS = 2

interface Body {
  bytes: Buffer
  /** True if the body was longer than the limit. */
  truncated: boolean
}

/**
 * Reads and decompresses the body of a response, up to `limit` bytes, and reads no more than about `limit` compressed bytes. Always closes
 * the connection. Throws FetchFailed for content codings that cannot be decoded.
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

/** Returns the content codings in the order of decoding: the coding that was applied last comes first. */
function codingsOf ({ headers }: IncomingMessage): string[] {
  const codings = codingsIn(headers['content-encoding'])
  const unknown = codings.find((coding) => !Object.hasOwn(DECODERS, coding))
  if (unknown !== undefined) throw new FetchFailed(`The answer is compressed in a way that was not asked for (${unknown.slice(0, 40)}).`)
  if (codings.length > MAX_CODINGS) throw new FetchFailed('The answer is compressed too often.')
  return codings.reverse()
}

function decoded (source: AsyncIterable<Buffer>, codings: string[]): AsyncIterable<Buffer> {
  // `pipeline` passes errors on to the last stage, where the reader gets them.
  return codings.reduce<AsyncIterable<Buffer>>((from, coding) => pipeline(from, DECODERS[coding](), () => {}) as Duplex, source)
}

// With this flush mode, a truncated body is decoded as far as possible, as browsers do.
const gunzip = () => zlib.createGunzip({ finishFlush: zlib.constants.Z_SYNC_FLUSH })
const DECODERS: Record<string, () => Duplex> = {
  gzip: gunzip,
  'x-gzip': gunzip
}

/** Thrown if an address must not be fetched. The message is for the model and its user. */
export const AddressRefused = defineError('ERR_ADDRESS_REFUSED', '%s')

/** Thrown if an address gave no usable answer. The message is for the model. */
export const FetchFailed = defineError('ERR_FETCH_FAILED', '%s')

const REASONS: Record<string, string> = {
  ENOTFOUND: 'there is no host of that name',
  EAI_AGAIN: 'its name cannot be looked up at the moment',
  ENODATA: 'there is no host of that name',
  ECONNREFUSED: 'nothing answers there',
  ECONNRESET: 'the connection was cut off',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  EPIPE: 'the connection was cut off',
  HPE_HEADER_OVERFLOW: 'its headers are too large',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was cut off'
}

/** Returns a clause that says why a request failed. */
export function reasonOf (error: unknown): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  // Node.js tried several addresses. The first error stands for all.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (REASONS[code]) return REASONS[code]
  if (/CERT|SELF_SIGNED|ISSUER|ALTNAME/.test(code)) return `its certificate cannot be trusted (${code})`
  if (/^(?:ERR_SSL|EPROTO)/.test(code)) return 'it does not speak TLS as it should'
  if (code.startsWith('HPE_')) return 'it does not speak HTTP as it should'
  if (/^Z_/.test(code)) return 'its content is not compressed as it says'
  return code ? `${message} (${code})` : String(message)
}
