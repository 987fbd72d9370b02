import type { LookupAddress } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { VERSION } from '../../../lib/version.ts'

const HEADER_BYTES = 64 * 1024
const USER_AGENT = `Mozilla/5.0 (compatible; local-agent-service/${VERSION})`

export interface Sending {
  method?: 'GET' | 'POST'
  headers?: Record<string, string>
  body?: string
  /** The only addresses to connect to; those of the host's name when absent. */
  addresses?: LookupAddress[]
  /** Ends the request, and the reading of its answer. */
  signal: AbortSignal
}

/**
 * One request over a connection of its own: no proxy, no cookies, no redirection followed, certificates always checked.
 * Resolves when the headers have come.
 */
export function send (url: URL, { method = 'GET', headers, body, addresses, signal }: Sending): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const sent = request(url, {
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
      ...addresses && { lookup: only(addresses) }
    })
    sent.on('response', resolve).on('error', reject)
    // A switch of protocols, which nobody asked for, ends without either.
    sent.on('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })))
    sent.end(body)
  })
}

/** A lookup that knows these addresses and no others. A literal address is connected to without one. */
function only (addresses: LookupAddress[]): LookupFunction {
  return (_host, { all }, done) => {
    if (all) done(null, addresses)
    else done(null, addresses[0].address, addresses[0].family)
  }
}
