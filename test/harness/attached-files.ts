import { strToU8, zipSync } from 'fflate'
import { makePdf } from './pdf.ts'

/** A file that a user may attach. */
export interface SampleFile {
  mediaType: string
  name: string
  bytes: Buffer
}

function zipped (parts: Record<string, string | Uint8Array>): Buffer {
  const bytes = Object.entries(parts).map(([name, part]) => [name, typeof part === 'string' ? strToU8(part) : part])
  return Buffer.from(zipSync(Object.fromEntries(bytes)))
}

const OOXML = 'application/vnd.openxmlformats-officedocument.'
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
const paragraphs = (text: string, tag: string, inner: string) =>
  text.split('\n').map((line) => `<${tag}><${inner}>${escaped(line)}</${inner}></${tag}>`).join('')

const wordParagraph = (line: string) => `<w:p><w:r><w:t xml:space="preserve">${escaped(line)}</w:t></w:r></w:p>`
const wordRow = (cells: string[]) => `<w:tr>${cells.map((cell) => `<w:tc>${wordParagraph(cell)}</w:tc>`).join('')}</w:tr>`

/** Makes office documents with a text; `parts` are further entries of the archive, such as macros. */
export const makeOffice = {
  docx: (text: string, { parts = {}, table = [] }: { parts?: Record<string, Uint8Array>, table?: string[][] } = {}) =>
    zipped({
      '[Content_Types].xml': '<Types/>',
      'word/document.xml': `<?xml version="1.0"?><w:document><w:body>${text.split('\n').map(wordParagraph).join('')}` +
        `<w:tbl>${table.map(wordRow).join('')}</w:tbl><w:del><w:r><w:t>deleted words</w:t></w:r></w:del></w:body></w:document>`,
      ...parts
    }),
  xlsx: (rows: string[][], parts: Record<string, string> = {}) =>
    zipped({
      'xl/workbook.xml': '<workbook><sheets><sheet name="Costs &amp; more" sheetId="1" r:id="rId1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels': '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
      'xl/sharedStrings.xml': `<sst>${rows.flat().map((cell) => `<si><t>${escaped(cell)}</t></si>`).join('')}</sst>`,
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${
        rows.map((row, r) =>
          `<row r="${r + 1}">${
            row.map((_, c) =>
              `<c r="${String.fromCharCode(65 + c)}${r + 1}" t="s"><v>${r * rows[0].length + c}</v></c>`
            ).join('')
          }<c r="E${r + 1}"><v>${r + 0.5}</v></c></row>`
        ).join('')
      }</sheetData></worksheet>`,
      ...parts
    }),
  pptx: (slides: string[], parts: Record<string, string> = {}) =>
    zipped(Object.fromEntries([
      ['ppt/presentation.xml', '<p:presentation/>'],
      ...slides.map((text, n) => [`ppt/slides/slide${n + 1}.xml`, `<p:sld>${paragraphs(text, 'a:p', 'a:t')}</p:sld>`]),
      ...Object.entries(parts)
    ])),
  odt: (text: string, { manifest = '<manifest:manifest/>', deleted = '' } = {}) =>
    zipped({
      mimetype: 'application/vnd.oasis.opendocument.text',
      'META-INF/manifest.xml': manifest,
      'content.xml': '<office:document-content><office:body><office:text><text:tracked-changes><text:changed-region><text:deletion>' +
        `<text:p>${deleted}</text:p></text:deletion></text:changed-region></text:tracked-changes>${
        text.split('\n').map((line) => `<text:p>${escaped(line).replaceAll(' ', '<text:s/>')}</text:p>`).join('')
      }</office:text></office:body></office:document-content>`
    })
}

/** Returns a document that unpacks to a megabyte, but whose archive directory states this many bytes. */
export function officeBomb (bytes: number): Buffer {
  const bomb = zipped({ 'word/document.xml': new Uint8Array(1024 * 1024).fill(0x20) })
  bomb.writeUInt32LE(bytes, bomb.indexOf('PK\x01\x02') + 24)
  return bomb
}

const padded = (...begin: Array<string | number>): Buffer =>
  Buffer.concat([...begin.map((part) => typeof part === 'number' ? Buffer.alloc(part) : Buffer.from(part, 'latin1')), Buffer.alloc(64, 7)])

/** Returns a file of this many bytes that looks like a JPEG only in its first bytes; `n` makes such files differ. */
export function makePhoto (bytes: number, n = 0): Buffer {
  const photo = Buffer.alloc(bytes, 0x5a)
  photo.write('\xff\xd8\xff\xe0', 'latin1')
  photo.writeUInt32BE(n, 8)
  return photo
}

export const WORDS = 'The word is heron.'

/** Twenty types of files that users attach. Those that hold text contain WORDS. */
export const SAMPLES: SampleFile[] = [
  { mediaType: 'text/plain', name: 'a.txt', bytes: Buffer.from(WORDS) },
  { mediaType: 'text/markdown', name: 'a.md', bytes: Buffer.from(`# ${WORDS}`) },
  { mediaType: 'text/csv', name: 'a.csv', bytes: Buffer.from(`n,words\n1,${WORDS}\n`) },
  { mediaType: 'text/html', name: 'a.html', bytes: Buffer.from(`<p>${WORDS}</p>`) },
  { mediaType: 'application/json', name: 'a.json', bytes: Buffer.from(JSON.stringify({ words: WORDS })) },
  { mediaType: 'application/xml', name: 'a.xml', bytes: Buffer.from(`<words>${WORDS}</words>`) },
  { mediaType: 'text/x-python', name: 'a.py', bytes: Buffer.from(`print(${JSON.stringify(WORDS)})`) },
  { mediaType: 'image/svg+xml', name: 'a.svg', bytes: Buffer.from(`<svg><text>${WORDS}</text></svg>`) },
  { mediaType: 'application/pdf', name: 'a.pdf', bytes: makePdf([WORDS]) },
  { mediaType: `${OOXML}wordprocessingml.document`, name: 'a.docx', bytes: makeOffice.docx(WORDS) },
  { mediaType: `${OOXML}spreadsheetml.sheet`, name: 'a.xlsx', bytes: makeOffice.xlsx([['words', WORDS]]) },
  { mediaType: `${OOXML}presentationml.presentation`, name: 'a.pptx', bytes: makeOffice.pptx([WORDS]) },
  { mediaType: 'application/vnd.oasis.opendocument.text', name: 'a.odt', bytes: makeOffice.odt(WORDS) },
  { mediaType: 'image/png', name: 'a.png', bytes: padded('\x89PNG\r\n\x1a\n') },
  { mediaType: 'image/jpeg', name: 'a.jpg', bytes: makePhoto(100) },
  { mediaType: 'image/gif', name: 'a.gif', bytes: padded('GIF89a') },
  { mediaType: 'image/webp', name: 'a.webp', bytes: padded('RIFF', 4, 'WEBP') },
  { mediaType: 'audio/mpeg', name: 'a.mp3', bytes: padded('ID3') },
  { mediaType: 'video/mp4', name: 'a.mp4', bytes: padded(4, 'ftypisom') },
  { mediaType: 'application/zip', name: 'a.zip', bytes: zipped({ 'a.txt': WORDS }) }
]
