import { deflateSync } from 'node:zlib'

interface Pdf {
  title?: string
  /** How many times the content of pages is compressed. */
  layers?: number
}

/** Makes a PDF. Each page shows one text, line by line. */
export function makePdf (pages: string[], options: Pdf = {}): Buffer {
  return pdfOf(pages.map(contentOf).map((content) => Buffer.from(content, 'latin1')), options)
}

/** Makes a small PDF whose only page has this many megabytes of uncompressed content. */
export const pdfBomb = (megabytes: number): Buffer => pdfOf([Buffer.alloc(megabytes * 1024 * 1024, ' ')], { layers: 2 })

const escape = (text: string) => text.replace(/[\\()]/g, '\\$&')
const contentOf = (text: string) =>
  `BT /F 12 Tf 50 13950 Td ${text.split('\n').map((line, at) => `${at > 0 ? '0 -14 Td ' : ''}(${escape(line)}) Tj`).join('\n')} ET`

function pdfOf (contents: Buffer[], { title, layers = 1 }: Pdf): Buffer {
  const parts: Buffer[] = []
  const offsets: number[] = []
  let length = 0
  const add = (text: string | Buffer) => {
    parts.push(Buffer.from(text as string, 'latin1'))
    length += parts.at(-1)!.length
  }
  const object = (text: string | Buffer[]) => {
    offsets.push(length)
    add(`${offsets.length} 0 obj\n`)
    for (const part of [text].flat()) add(part)
    add('\nendobj\n')
  }
  add('%PDF-1.4\n')
  object('<< /Type /Catalog /Pages 2 0 R >>')
  const kids = contents.map((_content, at) => `${4 + 2 * at} 0 R`).join(' ')
  object(`<< /Type /Pages /Kids [${kids}] /Count ${contents.length} >>`)
  object('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>')
  for (const [at, content] of contents.entries()) {
    const place = '/Parent 2 0 R /MediaBox [0 0 2000 14000] /Resources << /Font << /F 3 0 R >> >>'
    object(`<< /Type /Page ${place} /Contents ${5 + 2 * at} 0 R >>`)
    let packed = content
    for (let layer = 0; layer < layers; layer++) packed = deflateSync(packed)
    const filters = Array(layers).fill('/FlateDecode').join(' ')
    object([Buffer.from(`<< /Length ${packed.length} /Filter [${filters}] >>\nstream\n`), packed, Buffer.from('\nendstream')])
  }
  if (title !== undefined) object(`<< /Title (${escape(title)}) >>`)
  const start = length
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const info = title === undefined ? '' : ` /Info ${offsets.length} 0 R`
  add(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}`)
  add(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R${info} >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}
