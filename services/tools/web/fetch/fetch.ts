import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../../lib/clock.ts'
import { withDeadline } from '../../../lib/deadline.ts'
import { createSemaphore } from '../../../lib/semaphore.ts'
import type { Transform } from '../../transform/transform.ts'
import { readBody, send, AddressRefused, FetchFailed, reasonOf } from './send.ts'
import type { ToolContext } from '../../../contracts/tool.ts'
import { decode } from './charset.ts'
import type { HtmlPage, ReadablePage } from './to-text.ts'
import type { AddressPolicy } from './address-policy.ts'

/** The time limit in milliseconds for lookups, redirects and the body together. */
const DEADLINE_MS = 15_000
/** The most bytes of the decompressed body. */
const MAX_BYTES = 5 * 1024 * 1024
/** The most bytes of a picture. */
const MAX_PICTURE = 20 * 1024 * 1024
const MAX_REDIRECTS = 5
/** The most concurrent fetches, because each can hold some megabytes, and the most fetches that can wait for them. */
const MOST_AT_ONCE = 6
const MOST_WAITING = 64
const LONGEST_URL = 8192
const TEXT_DEADLINE_MS = 5_000
const ACCEPT = 'text/html,application/xhtml+xml,text/markdown;q=0.9,application/json;q=0.9,text/plain;q=0.9,*/*;q=0.5'

/** The answer from an address, as text. */
interface FetchResult extends ReadablePage {
  /** The final address, after redirects. */
  url: string
  status: number
  contentType: string
  /** True if the body is longer than the part that was read. */
  cut?: true
  /** True if the page could not be converted to markdown, so that `content` is bare text. */
  plain?: true
  /** True if the document is not text. */
  binary?: true
  /** The size in bytes that the server declares for a binary document. */
  size?: number
  /** The number of pages of a PDF, and if only some were read, their number. */
  pages?: number
  pagesRead?: number
}

interface RawResponse extends Omit<FetchResult, 'content' | 'contentType'> {
  type: ContentType
  bytes: Buffer
}

interface Parts {
  policy: AddressPolicy
  transform: Transform
  clock: Clock
}

type MayRedirect = NonNullable<ToolContext['mayRedirect']>

interface Reach {
  mayRedirect: MayRedirect
  ports: readonly number[]
}

export type Web = ReturnType<typeof createWeb>

/** Fetches documents from the web: HTML pages as markdown, other documents as text. */
export function createWeb ({ policy, transform, clock }: Parts) {
  const slots = createSemaphore({
    limit: MOST_AT_ONCE,
    maxQueued: MOST_WAITING,
    busy: () => new FetchFailed('Too many pages are being fetched at once; try again in a moment.')
  })

  return {
    /**
     * Fetches an address. `mayRedirect` is called before a redirect is followed. `ports` are allowed ports of this machine. A response of
     * any status is a result. Throws AddressRefused, FetchFailed, TransformFailed, TransformBusy or the signal's abort reason.
     */
    async fetch (
      address: string,
      signal: AbortSignal,
      mayRedirect: MayRedirect = async () => true,
      ports: readonly number[] = []
    ): Promise<FetchResult> {
      const start = parseAddress(address)
      return slots.run(signal, () => fetch(start, signal, { mayRedirect, ports }))
    },

    /** Fetches a picture. Throws AddressRefused, FetchFailed or the signal's abort reason. */
    async picture (address: string, signal: AbortSignal): Promise<{ bytes: Buffer, mediaType: string }> {
      const start = parseAddress(address)
      const reach: Reach = { mayRedirect: async () => true, ports: [] }
      const { bytes, type, status, cut } = await slots.run(signal, () => answerOf(start, signal, reach, readPicture))
      if (status !== 200) throw new FetchFailed(`${start.href} answered with status ${status} instead of a picture.`)
      if (bytes.length === 0) throw new FetchFailed(`${start.href} is no picture, but ${type.type || 'of an unknown type'}.`)
      if (cut) throw new FetchFailed(`The picture at ${start.href} has more than ${MAX_PICTURE / 1024 / 1024} MiB.`)
      return { bytes, mediaType: type.type }
    }
  }

  async function fetch (start: URL, signal: AbortSignal, reach: Reach): Promise<FetchResult> {
    const { type, bytes, ...got } = await answerOf(start, signal, reach, read)
    const answer = { ...got, contentType: type.type }
    if (got.binary) return { ...answer, content: '' }
    const kind = readableAs(type.type) ?? sniff(bytes)
    if (kind === 'text') return { ...answer, content: decode(bytes, type.charset) }
    if (kind === 'pdf') return { ...answer, ...await pdf(bytes, start.href, signal) }
    return { ...answer, ...await readable({ bytes, charset: type.charset, url: got.url }, signal) }
  }

  /** Follows redirects to the final response, and reads that response. */
  async function answerOf (start: URL, signal: AbortSignal, reach: Reach, readAs: typeof read): Promise<RawResponse> {
    try {
      return await withDeadline({ clock, ms: DEADLINE_MS, signal }, (limit) => followRedirects(start, limit, reach, readAs))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof AddressRefused || error instanceof FetchFailed) throw error
      if ((error as { kind?: string } | undefined)?.kind === 'timeout') {
        throw new FetchFailed(`${start.href} did not give its whole answer within ${DEADLINE_MS / 1000} s.`)
      }
      throw new FetchFailed(`${start.href} cannot be read: ${reasonOf(error)}.`)
    }
  }

  /** Returns the text of a PDF. Throws FetchFailed if it cannot be read. */
  async function pdf (
    bytes: Buffer,
    url: string,
    signal: AbortSignal
  ): Promise<Pick<FetchResult, 'content' | 'title' | 'pages' | 'pagesRead'>> {
    const request = { bytes: new Uint8Array(bytes), firstPage: 1, mostPages: Infinity, mostChars: MAX_BYTES }
    const { pages, totalPages, title } = await transform.run('pdf', request, { signal }).catch((error) => {
      signal.throwIfAborted()
      if ((error as { code?: string }).code !== 'ERR_TRANSFORM_FAILED') throw error
      throw new FetchFailed(`${url} is a PDF that cannot be read. ${(error as Error).message}`)
    })
    return {
      ...title !== undefined && { title },
      content: pages.join('\n\n'),
      pages: totalPages,
      ...pages.length < totalPages && { pagesRead: pages.length }
    }
  }

  /** Converts a page to markdown or, if that fails or takes too long, to plain text. */
  async function readable (page: HtmlPage, signal: AbortSignal): Promise<ReadablePage & { plain?: true }> {
    try {
      return await transform.run('markdown', page, { signal })
    } catch (error) {
      signal.throwIfAborted()
      if ((error as { code?: string }).code !== 'ERR_TRANSFORM_FAILED') throw error
      return { ...await transform.run('text', page, { signal, ms: TEXT_DEADLINE_MS }), plain: true }
    }
  }

  async function followRedirects (
    start: URL,
    signal: AbortSignal,
    { mayRedirect, ports }: Reach,
    readAs: typeof read
  ): Promise<RawResponse> {
    let url = start
    for (let redirects = 0; ; redirects++) {
      const addresses = await policy.addresses(url, ports)
      signal.throwIfAborted()
      const response = await send(url, { addresses, signal, headers: { accept: ACCEPT, 'accept-language': 'en,*;q=0.5' } })
      const target = redirection(response, url)
      if (!target) return readAs(response, url)
      response.destroy()
      if (redirects === MAX_REDIRECTS) throw new FetchFailed(`${start.href} redirects more than ${MAX_REDIRECTS} times.`)
      if (!await mayRedirect(url.href, target.href)) {
        throw new AddressRefused(`${url.href} redirects to another host, ${target.href}. Fetch that address if this is wanted.`)
      }
      url = target
    }
  }
}

function parseAddress (address: string): URL {
  // An address without a scheme, such as example.com:8080/page, gets https.
  const url = address.length <= LONGEST_URL
    ? URL.parse(/^[a-z][a-z0-9+.-]*:(?!\d)/i.test(address.trim()) ? address : `https://${address.trim()}`)
    : null
  if (!url) throw new FetchFailed(`${JSON.stringify(address.slice(0, 200))} is not an address such as https://example.com/page.`)
  if (!isWeb(url)) throw new AddressRefused(`Only http and https addresses can be fetched, not ${url.protocol}`)
  if (url.username || url.password) throw new AddressRefused('An address with a user name or password is not fetched. Leave them out.')
  url.hash = ''
  return url
}

const isWeb = ({ protocol }: URL) => protocol === 'http:' || protocol === 'https:'

/** Returns the target of a redirect; undefined if the response is not a redirect. Throws if the target must not be followed. */
function redirection (response: IncomingMessage, from: URL): URL | undefined {
  const { location } = response.headers
  if (![301, 302, 303, 307, 308].includes(response.statusCode!) || location === undefined) return undefined
  // Node.js decodes headers as latin1, but servers write UTF-8.
  const to = location.length <= LONGEST_URL ? URL.parse(Buffer.from(location, 'latin1').toString(), from.href) : null
  try {
    if (!to) throw new FetchFailed(`${from.href} redirects to something that is no address.`)
    if (!isWeb(to)) throw new AddressRefused(`${from.href} redirects to an address that is not on the web (${to.protocol}).`)
    to.username = to.password = to.hash = ''
    if (from.protocol === 'https:' && to.protocol === 'http:') {
      throw new AddressRefused(
        `${from.href} redirects from https to ${to.href}, where anybody on the way could change it. Fetch that address if this is wanted.`
      )
    }
    return to
  } catch (error) {
    response.destroy()
    throw error
  }
}

async function read (response: IncomingMessage, { href: url }: URL): Promise<RawResponse> {
  const type = parseContentType(response.headers['content-type'])
  const status = response.statusCode!
  const declared = Number(response.headers['content-length'])
  const size = Number.isSafeInteger(declared) ? { size: declared } : {}
  if (readableAs(type.type) === 'binary') {
    response.destroy()
    return { url, status, type, binary: true, ...size, bytes: Buffer.alloc(0) }
  }
  const { bytes, truncated } = await readBody(response, MAX_BYTES)
  if (readableAs(type.type) === undefined && sniff(bytes) === 'binary') {
    return { url, status, type, binary: true, ...size, bytes: Buffer.alloc(0) }
  }
  return { url, status, type, bytes, ...truncated && { cut: true as const } }
}

/** Reads a picture. For any other document, closes the response without reading it. */
async function readPicture (response: IncomingMessage, { href: url }: URL): Promise<RawResponse> {
  const type = parseContentType(response.headers['content-type'])
  const status = response.statusCode!
  if (status !== 200 || !type.type.startsWith('image/')) {
    response.destroy()
    return { url, status, type, bytes: Buffer.alloc(0) }
  }
  const { bytes, truncated } = await readBody(response, MAX_PICTURE)
  return { url, status, type, bytes, ...truncated && { cut: true as const } }
}

/** The way in which a document is read: as an HTML page, as plain text, as a PDF, or not at all. */
type Readable = 'html' | 'text' | 'pdf' | 'binary'

const TEXT = new RegExp(
  String.raw`^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|graphql|sql|toml|x-sh|x-httpd-php|x-ndjson|ndjson|jsonl|jsonlines|` +
    String.raw`json-seq|x-javascript|x-yaml|xml-dtd|x-www-form-urlencoded|rtf|x-tex|x-subrip|mbox|x-perl|typescript|x-typescript)$`
)
/** Content types that do not reveal what the content is. */
const VAGUE = ['', 'application/octet-stream', 'application/unknown', 'unknown/unknown', 'binary/octet-stream']
/** The number of bytes that decide whether a document of a vague type is text. */
const SNIFFED_BYTES = 1024

interface ContentType {
  /** The media type, such as `text/html`; "" if the header is missing. */
  type: string
  charset?: string
}

function parseContentType (header: string | undefined): ContentType {
  const [type, ...parameters] = (header ?? '').split(';')
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*["']?\s*([^\s"']+)/i.exec(parameter)?.[1]).find((label) =>
    label !== undefined
  )
  return { type: type.trim().toLowerCase().slice(0, 100), ...charset && { charset } }
}

/** Returns how a document of a content type is read; undefined if only its bytes can decide. */
function readableAs (type: string): Readable | undefined {
  if (VAGUE.includes(type)) return undefined
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  return TEXT.test(type) ? 'text' : 'binary'
}

/** Returns how a document of unknown type is read, judging by its first bytes. */
function sniff (bytes: Uint8Array): Readable {
  const head = bytes.subarray(0, SNIFFED_BYTES)
  const start = new TextDecoder().decode(head)
  if (/^\s*<(?:!doctype\s+html|html|head|body|title)\b/i.test(start)) return 'html'
  if (start.startsWith('%PDF-')) return 'pdf'
  const utf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  if (!utf16 && head.includes(0)) return 'binary'
  // The last character can be incomplete.
  return utf16 || !start.slice(0, -4).includes('\uFFFD') ? 'text' : 'binary'
}
