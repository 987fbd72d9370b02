/** How a document is read: as a page, as plain text, as a PDF, or not at all. */
export type Readable = 'html' | 'text' | 'pdf' | 'binary'

const TEXT = new RegExp(
  String.raw`^text\/|[/+](?:json|xml|yaml|javascript|ecmascript|graphql|sql|toml|x-sh|x-httpd-php|x-ndjson|ndjson|jsonl|jsonlines|` +
    String.raw`json-seq|x-javascript|x-yaml|xml-dtd|x-www-form-urlencoded|rtf|x-tex|x-subrip|mbox|x-perl|typescript|x-typescript)$`
)
/** Types that do not tell what the content is. */
const VAGUE = ['', 'application/octet-stream', 'application/unknown', 'unknown/unknown', 'binary/octet-stream']
/** Bytes that are examined to tell whether a document of a vague type is text. */
const SNIFFED_BYTES = 1024

export interface ContentType {
  /** Such as `text/html`; "" when the header is missing. */
  type: string
  charset?: string
}

export function parseContentType (header: string | undefined): ContentType {
  const [type, ...parameters] = (header ?? '').split(';')
  const charset = parameters.map((parameter) => /^\s*charset\s*=\s*["']?\s*([^\s"']+)/i.exec(parameter)?.[1]).find((label) =>
    label !== undefined
  )
  return { type: type.trim().toLowerCase().slice(0, 100), ...charset && { charset } }
}

/** Returns how a document of a type is read; undefined when only its bytes can tell. */
export function readableAs (type: string): Readable | undefined {
  if (VAGUE.includes(type)) return undefined
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html'
  if (type === 'application/pdf' || type === 'application/x-pdf') return 'pdf'
  return TEXT.test(type) ? 'text' : 'binary'
}

/** Returns how a document of unknown type is read, judging by its first bytes. */
export function sniff (bytes: Uint8Array): Readable {
  const head = bytes.subarray(0, SNIFFED_BYTES)
  const start = new TextDecoder().decode(head)
  if (/^\s*<(?:!doctype\s+html|html|head|body|title)\b/i.test(start)) return 'html'
  if (start.startsWith('%PDF-')) return 'pdf'
  const utf16 = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)
  if (!utf16 && head.includes(0)) return 'binary'
  // The last character may be incomplete.
  return utf16 || !start.slice(0, -4).includes('\uFFFD') ? 'text' : 'binary'
}
