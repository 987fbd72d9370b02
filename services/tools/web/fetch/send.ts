import type { LookupAddress } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { VERSION } from '../../../lib/version.ts'

const HEADER_BYTES = 64 * 1024
const USER_AGENT = `Mozilla/5.0 (compatible; local-agent-service/${VERSION})`

export interface SendOptions {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** The only addresses to connect to; when absent, the host name is looked up. */
  addresses?: LookupAddress[]
  /** Aborts the request and the reading of its response. */
  signal: AbortSignal
}

/**
 * Sends one request over its own connection, without proxy or cookies. Follows no redirect and always checks certificates. Resolves
 * when the headers have arrived.
 */
export function send (url: URL, { method = 'GET', headers, body, addresses, signal }: SendOptions): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const clientRequest = request(url, {
      method,
      agent: false,
      headers: {
        'user-agent': USER_AGENT,
        'accept-encoding': 'gzip, br, zstd',
        ...headers,
        ...body !== undefined && { 'content-length': Buffer.byteLength(body) }
      },
      maxHeaderSize: HEADER_BYTES,
      rejectUnauthorized: true,
      signal,
      ...addresses && { lookup: lookupOnly(addresses) }
    })
    clientRequest.on('response', resolve).on('error', reject)
    // After an unrequested switch of protocols, Node closes the request without 'response' or 'error'.
    clientRequest.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    clientRequest.end(body)
  })
}

/** Returns a lookup function that answers only these addresses. Node connects to a literal address without calling it. */
function lookupOnly (addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all) done(null, addresses)
    else done(null, addresses[0].address, addresses[0].family)
  }
}
