/* eslint-disable no-control-regex -- these are bytes */
/** The kinds of binary files by a pattern for their first bytes (as latin1). The names fit into a sentence. */
const KINDS: Array<[kind: string, begins: RegExp]> = [
  ['a Word, Excel, PowerPoint or other Office document (a ZIP archive)', /^PK\x03\x04[^]{0,4000}(?:word|xl|ppt)\//],
  ['an OpenDocument file (a ZIP archive)', /^PK\x03\x04[^]{26}mimetypeapplication\/vnd\.oasis/],
  ['a ZIP archive', /^PK(?:\x03\x04|\x05\x06)/],
  ['a gzip archive', /^\x1f\x8b/],
  ['a 7-Zip archive', /^7z\xbc\xaf/],
  ['a RAR archive', /^Rar!/],
  ['an xz archive', /^\xfd7zXZ/],
  ['a Zstandard archive', /^\x28\xb5\x2f\xfd/],
  ['a bzip2 archive', /^BZh/],
  ['a tar archive', /^[^]{257}ustar/],
  ['an SQLite database', /^SQLite format 3\0/],
  ['a program (ELF)', /^\x7fELF/],
  ['a program (Mach-O)', /^(?:\xcf\xfa\xed\xfe|\xca\xfe\xba\xbe)/],
  ['a Windows program', /^MZ/],
  ['a WebAssembly module', /^\0asm/],
  ['an old Office document', /^\xd0\xcf\x11\xe0/],
  ['a TIFF image', /^(?:II\*\0|MM\0\*)/],
  ['a BMP image', /^BM[^]{4}\0\0\0\0/],
  ['an icon', /^\0\0\x01\0/],
  ['an HEIC or AVIF image', /^[^]{4}ftyp(?:hei|mif|avi)/],
  ['an MP4 or QuickTime video', /^[^]{4}ftyp/],
  ['an MP3 sound', /^ID3/],
  ['an Ogg sound', /^OggS/],
  ['a WAV sound', /^RIFF[^]{4}WAVE/],
  ['a font', /^(?:wOFF|wOF2|OTTO|\0\x01\0\0)/],
  ['text in UTF-32', /^\xff\xfe\0\0/]
]
/** The number of bytes at the beginning of a file that are examined. */
const HEAD_BYTES = 4096

/** Returns the kind of a binary file with its article, such as "a ZIP archive"; "a binary file" if the kind is unknown. */
export function kindOf (head: Uint8Array): string {
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1')
  return KINDS.find(([, begins]) => begins.test(start))?.[0] ?? 'a binary file'
}

/** An image in a format that models accept. */
interface ImageFormat {
  mimeType: 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'
  width: number
  height: number
}

/** Returns the format of an image and its size in pixels; undefined for other bytes, and for an image whose size cannot be read. */
export function imageFormat (bytes: Buffer): ImageFormat | undefined {
  try {
    const found = read(bytes)
    return found !== undefined && found.width > 0 && found.height > 0 ? found : undefined
  } catch {
    // The file ends before the field that contains the size.
    return undefined
  }
}

function read (bytes: Buffer): ImageFormat | undefined {
  const text = (start: number, end: number) => bytes.toString('latin1', start, end)
  if (text(0, 8) === '\x89PNG\r\n\x1a\n') return { mimeType: 'image/png', width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  if (/^GIF8[79]a/.test(text(0, 6))) return { mimeType: 'image/gif', width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }
  if (text(0, 4) === 'RIFF' && text(8, 12) === 'WEBP') return webp(bytes, text(12, 16))
  return text(0, 3) === '\xff\xd8\xff' ? jpeg(bytes) : undefined
}

/** Reads the size in a WebP chunk: https://developers.google.com/speed/webp/docs/riff_container */
function webp (bytes: Buffer, chunk: string): ImageFormat | undefined {
  const size = (width: number, height: number): ImageFormat => ({ mimeType: 'image/webp', width, height })
  if (chunk === 'VP8X') return size(bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1)
  if (chunk === 'VP8 ') return size(bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff)
  if (chunk !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return size((bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1)
}

/** Walks through the segments of a JPEG to the frame header, which contains the size. */
function jpeg (bytes: Buffer): ImageFormat | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (isFrame) return { mimeType: 'image/jpeg', width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
  }
  return undefined
}
