/* eslint-disable no-control-regex -- these are bytes */
/** Kinds of binary files by their first bytes (as latin1), for a sentence that says what a file is. */
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
/** Bytes that are looked at. */
const HEAD_BYTES = 4096

/** Returns what a binary file is, with its article: "a ZIP archive"; "a binary file" when it is not known. */
export function kindOf (head: Uint8Array): string {
  const start = Buffer.from(head.subarray(0, HEAD_BYTES)).toString('latin1')
  return KINDS.find(([, begins]) => begins.test(start))?.[0] ?? 'a binary file'
}
