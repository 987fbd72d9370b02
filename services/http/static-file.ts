import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { openPack, readPacked } from '../lib/pack.ts'

/** The content security policy of the pages: a page loads and runs only files of this service, and no other page can frame it. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join('; ')

export const TYPES = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  svg: 'image/svg+xml'
}
export type FileType = keyof typeof TYPES

/** A file that a route sends as its answer. */
export interface StaticFile {
  headers: Record<string, string>
  body: Buffer | string
}

/** Returns a file that browsers request again at each use (`no-cache`). */
export function staticFile (type: FileType, body: Buffer | string): StaticFile {
  return { headers: { 'content-type': TYPES[type], 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' }, body }
}

/** Returns an HTML page under PAGE_POLICY. */
export function staticPage (body: Buffer | string): StaticFile {
  const { headers } = staticFile('html', body)
  return {
    headers: {
      ...headers,
      'content-security-policy': PAGE_POLICY,
      'cross-origin-opener-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY'
    },
    body
  }
}

/** Whether a client accepts an answer compressed with gzip. */
export const takesGzip = (acceptEncoding: string | string[] | undefined): boolean => /\bgzip\b/.test(String(acceptEncoding))

/** Returns the quality of each media range of an Accept header, from 0 to 1 (RFC 9110, 12.5.1). A malformed quality counts as 1. */
function qualities (accept: string): Map<string, number> {
  return new Map(accept.split(',').map((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const q = Number(parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? 1)
    return [type, Number.isFinite(q) ? q : 1]
  }))
}

/**
 * True if the client is a browser that opens a page: its header `Accept` gives HTML a higher quality than JSON. False without the header.
 */
export function acceptsPage (accept: string | undefined): boolean {
  const ranges = qualities(accept ?? '')
  const html = ranges.get('text/html') ?? 0
  const json = ranges.get('application/json') ?? ranges.get('application/*') ?? ranges.get('*/*') ?? 0
  return html > json
}

const unzip = promisify(gunzip)

/**
 * Reads a file from the pack, compressed with gzip or not. Returns undefined if the pack has no such file, or if
 * the service runs from its sources.
 */
export async function packedFile (name: string, takesGzip: boolean): Promise<StaticFile | undefined> {
  const pack = openPack()
  if (pack === undefined || !Object.hasOwn(pack.index, name)) return undefined
  const zipped = readPacked(name)!
  const vary = 'Origin, accept-encoding'
  return takesGzip
    ? { body: zipped, headers: { vary, 'content-encoding': 'gzip' } }
    : { body: await unzip(zipped), headers: { vary } }
}
