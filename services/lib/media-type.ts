/** How the text of a file is read: as it stands, from the parts of an office document, or from the pages of a PDF. */
type TextKind = 'plain' | 'office' | 'pdf'

export const OCTETS = 'application/octet-stream'
/** Types that say nothing: curl and browsers send them when they do not know the type. */
const UNSAID = new Set(['', OCTETS, 'application/x-www-form-urlencoded', 'binary/octet-stream', 'application/x-download'])

const OOXML = 'application/vnd.openxmlformats-officedocument.'
export const OFFICE_TYPES: Record<string, 'docx' | 'xlsx' | 'pptx' | 'odt'> = {
  [`${OOXML}wordprocessingml.document`]: 'docx',
  'application/vnd.ms-word.document.macroenabled.12': 'docx',
  [`${OOXML}spreadsheetml.sheet`]: 'xlsx',
  'application/vnd.ms-excel.sheet.macroenabled.12': 'xlsx',
  [`${OOXML}presentationml.presentation`]: 'pptx',
  'application/vnd.ms-powerpoint.presentation.macroenabled.12': 'pptx',
  'application/vnd.oasis.opendocument.text': 'odt'
}

/** Extensions of programs and settings, which have no types of their own that all agree on. */
const PLAIN =
  'bat c cc cfg conf cpp cs diff go graphql h hpp ini java kt less lua patch php proto ps1 r rb rs scss swift tex vue'.split(' ')

const BY_EXTENSION = new Map<string | undefined, string>(Object.entries({
  ...Object.fromEntries(PLAIN.map((extension) => [extension, 'text/plain'])),
  txt: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  html: 'text/html',
  htm: 'text/html',
  css: 'text/css',
  js: 'text/javascript',
  mjs: 'text/javascript',
  ts: 'text/x-typescript',
  tsx: 'text/x-typescript',
  py: 'text/x-python',
  sh: 'text/x-sh',
  json: 'application/json',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  toml: 'application/toml',
  sql: 'application/sql',
  svg: 'image/svg+xml',
  docx: `${OOXML}wordprocessingml.document`,
  docm: 'application/vnd.ms-word.document.macroenabled.12',
  xlsx: `${OOXML}spreadsheetml.sheet`,
  xlsm: 'application/vnd.ms-excel.sheet.macroenabled.12',
  pptx: `${OOXML}presentationml.presentation`,
  pptm: 'application/vnd.ms-powerpoint.presentation.macroenabled.12',
  odt: 'application/vnd.oasis.opendocument.text'
}))

const begins = (bytes: Buffer, text: string, at = 0) => bytes.toString('latin1', at, at + text.length) === text

/** The types that the first bytes of a file reveal. https://mimesniff.spec.whatwg.org */
const SIGNATURES: Array<[mediaType: string, matches: (bytes: Buffer) => boolean]> = [
  ['image/png', (bytes) => begins(bytes, '\x89PNG\r\n\x1a\n')],
  ['image/jpeg', (bytes) => begins(bytes, '\xff\xd8\xff')],
  ['image/gif', (bytes) => begins(bytes, 'GIF87a') || begins(bytes, 'GIF89a')],
  ['image/webp', (bytes) => begins(bytes, 'RIFF') && begins(bytes, 'WEBP', 8)],
  ['image/bmp', (bytes) => begins(bytes, 'BM') && bytes.length > 14 && bytes.readUInt32LE(2) === bytes.length],
  ['image/tiff', (bytes) => begins(bytes, 'II*\0') || begins(bytes, 'MM\0*')],
  ['image/heic', (bytes) => begins(bytes, 'ftyp', 4) && /^(?:heic|heix|mif1|msf1)/.test(bytes.toString('latin1', 8, 12))],
  ['image/avif', (bytes) => begins(bytes, 'ftypavif', 4)],
  ['application/pdf', (bytes) => bytes.subarray(0, 1024).includes('%PDF-')],
  ['audio/wav', (bytes) => begins(bytes, 'RIFF') && begins(bytes, 'WAVE', 8)],
  ['audio/mpeg', (bytes) => begins(bytes, 'ID3') || (bytes[0] === 0xff && (bytes[1] & 0xe6) === 0xe2)],
  ['audio/ogg', (bytes) => begins(bytes, 'OggS')],
  ['audio/flac', (bytes) => begins(bytes, 'fLaC')],
  ['video/mp4', (bytes) => begins(bytes, 'ftyp', 4)],
  ['video/webm', (bytes) => begins(bytes, '\x1aE\xdf\xa3')]
]

/** True if a picture of this type ends too early. */
export function isDamagedPicture (bytes: Buffer, mediaType: string): boolean {
  switch (mediaType) {
    case 'image/png':
      return !isWholePng(bytes)
    case 'image/jpeg':
      return bytes.lastIndexOf(Buffer.from([0xff, 0xd9])) === -1
    case 'image/gif':
      return bytes.lastIndexOf(0x3b) < 13
    case 'image/webp':
      return bytes.length < 12 || bytes.readUInt32LE(4) > bytes.length - 8
    default:
      return false
  }
}

/** Whether a PNG has its header, data and end: each chunk has a length, a type of four letters, data and a checksum (W3C PNG, 5.3). */
function isWholePng (bytes: Buffer): boolean {
  let hasData = false
  for (let at = 8; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    if (at === 8 && type !== 'IHDR') return false
    hasData ||= type === 'IDAT'
    if (type === 'IEND') return hasData
  }
  return false
}

const ZIP = (bytes: Buffer) => begins(bytes, 'PK\x03\x04') || begins(bytes, 'PK\x05\x06')
/** Matches the container of older Office documents, and of newer ones with a password. */
const OLE = (bytes: Buffer) => begins(bytes, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')
const IN_ZIP: Array<[mediaType: string, name: string]> = [
  [`${OOXML}wordprocessingml.document`, 'word/document.xml'],
  [`${OOXML}spreadsheetml.sheet`, 'xl/workbook.xml'],
  [`${OOXML}presentationml.presentation`, 'ppt/presentation.xml'],
  ['application/vnd.oasis.opendocument.text', 'mimetypeapplication/vnd.oasis.opendocument.text']
]
/** The bytes at the beginning of a file in which a zero byte means that the file is not text. */
const LOOKED_AT = 8_192

const hasByteOrder = (bytes: Buffer) => (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)
const looksLikeText = (bytes: Buffer) => hasByteOrder(bytes) || !bytes.subarray(0, LOOKED_AT).includes(0)

/** True if the beginning of a file is UTF-8 without control characters that only programs write. */
function isSurelyText (bytes: Buffer): boolean {
  const start = bytes.subarray(0, LOOKED_AT)
  if (start.length === 0 || start.some((byte) => byte < 9 || (byte > 13 && byte < 32 && byte !== 27))) return false
  // The last character can be cut off.
  return !new TextDecoder().decode(start, { stream: true }).includes('\ufffd')
}

/** Returns a media type in lower case and without parameters; '' for none. */
export function plainType (mediaType: string | undefined): string {
  const type = (mediaType ?? '').split(';', 1)[0].trim().toLowerCase()
  return type === 'image/jpg' ? 'image/jpeg' : type
}

/** Returns how the text of a file of this type is read; undefined for a type without text. */
export function textKindOf (mediaType: string): TextKind | undefined {
  const type = plainType(mediaType)
  if (type === 'application/pdf') return 'pdf'
  if (Object.hasOwn(OFFICE_TYPES, type)) return 'office'
  const isText = type.startsWith('text/') || /[+/](?:json|xml|yaml|x-yaml|toml|sql|javascript|x-javascript|x-sh|x-ndjson|jsonl)$/.test(type)
  return isText ? 'plain' : undefined
}

/**
 * Returns the media type of a file. The bytes decide; where they reveal nothing, the sender's type, then the extension of the name. A file
 * whose bytes contradict its type, such as a damaged picture, is OCTETS: a provider would refuse the whole conversation because of it.
 */
export function mediaTypeOf (bytes: Buffer, { declared, name }: { declared?: string, name?: string }): string {
  const found = SIGNATURES.find(([, matches]) => matches(bytes))?.[0]
  const said = plainType(declared)
  const named = BY_EXTENSION.get(name?.split('.').at(-1)?.toLowerCase())
  const isNamedText = named !== undefined && textKindOf(named) === 'plain'
  const type = UNSAID.has(said) || (said === 'text/plain' && named !== undefined) ? named ?? said : said
  if (found !== undefined) return found === 'video/mp4' && /^(?:audio|video)\//.test(type) ? type : found
  // Browsers call a.ts a video and d.csv an Excel document. The name and the bytes are more reliable.
  if (textKindOf(type) !== 'plain' && isNamedText && looksLikeText(bytes) && !OLE(bytes)) return named
  if (textKindOf(type) === 'office') return ZIP(bytes) || OLE(bytes) ? type : OCTETS
  if (ZIP(bytes)) return IN_ZIP.find(([, part]) => bytes.includes(part))?.[0] ?? 'application/zip'
  if (OLE(bytes)) return 'application/x-ole-storage'
  if (textKindOf(type) === 'plain') return looksLikeText(bytes) ? type : OCTETS
  if (/^(?:image|application\/pdf$)/.test(type)) return OCTETS
  if (!UNSAID.has(type)) return /^(?:audio|video)\//.test(type) && isSurelyText(bytes) ? 'text/plain' : type
  return looksLikeText(bytes) ? 'text/plain' : OCTETS
}
