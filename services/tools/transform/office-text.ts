import { type UnzipFileInfo, unzipSync, strFromU8 } from 'fflate'
import { decodeEntities } from '../web/fetch/to-text.ts'
import type { OfficeRequest } from './transform-rpc.ts'

// Reads the text of office documents: docx, xlsx and pptx (ECMA-376), odt (ISO/IEC 26300). Only the parts that hold text are unzipped: no
// macros, pictures or embedded files. Only the tags in their XML are parsed. Entities that a document defines itself are not replaced.

const MIB = 1024 * 1024
/** The most unpacked bytes of all parts of a document, according to its ZIP directory, and the most of the parts that are read. */
const MOST_UNPACKED = 100 * MIB
const MOST_READ = 32 * MIB
const MOST_PARTS = 10_000

const DAMAGED = 'it is damaged: its parts cannot be unpacked'
const OLD_OR_LOCKED = 'it is protected by a password, or was made by an Office before 2007'

class TooLarge extends Error {
  constructor (bytes: number) {
    super(`it would be larger than ${bytes / MIB} MiB when unpacked`)
  }
}

type Parts = Record<string, Uint8Array>

/** For each format, a pattern for the names of the parts that hold text. */
const TEXT_PARTS: Record<OfficeRequest['format'], RegExp> = {
  docx: /^word\/(?:document|footnotes|endnotes|comments)\.xml$/,
  xlsx: /^xl\/(?:workbook\.xml|sharedStrings\.xml|worksheets\/[^/]+\.xml|_rels\/workbook\.xml\.rels)$/,
  pptx: /^ppt\/(?:slides|notesSlides)\/(?:[^/]+\.xml|_rels\/[^/]+\.rels)$/,
  odt: /^(?:content\.xml|META-INF\/manifest\.xml)$/
}

/**
 * Returns the text of a document, at most `mostCharacters`. Throws for a document that is damaged, locked, or too large when unpacked. Its
 * unpacked size is checked before anything is unpacked.
 */
export function readOffice ({ bytes, format, mostCharacters }: OfficeRequest): string {
  if (bytes[0] === 0xd0 && bytes[1] === 0xcf) throw new Error(OLD_OR_LOCKED)
  const parts = unzip(bytes, TEXT_PARTS[format])
  if (Object.keys(parts).length === 0) throw new Error(`it is damaged: it holds nothing that a ${format} document needs`)
  const pieces: string[] = []
  let left = mostCharacters
  const add = (text: string) => {
    if (left > 0) pieces.push(text.slice(0, left))
    left -= text.length
  }
  READERS[format](parts, (text) => {
    add(text)
    return left > 0
  })
  return pieces.join('').replace(/[ \t]+\n/g, '\n').replace(/\n{3,}/g, '\n\n').trim().toWellFormed()
}

function unzip (bytes: Uint8Array, wanted: RegExp): Parts {
  let unpacked = 0
  let toRead = 0
  let count = 0
  const filter = ({ name, originalSize, compression }: UnzipFileInfo) => {
    unpacked += originalSize
    const isWanted = wanted.test(name) && (compression === 0 || compression === 8)
    if (isWanted) toRead += originalSize
    if (unpacked > MOST_UNPACKED) throw new TooLarge(MOST_UNPACKED)
    if (toRead > MOST_READ) throw new TooLarge(MOST_READ)
    if (++count > MOST_PARTS) throw new Error(DAMAGED)
    return false
  }
  try {
    // This call only reads the ZIP directory, so that all sizes are known before anything is unpacked.
    unzipSync(bytes, { filter })
    return unzipSync(bytes, { filter: ({ name }) => wanted.test(name) })
  } catch (error) {
    throw error instanceof TooLarge ? error : new Error(DAMAGED)
  }
}

interface Tag {
  name: string
  isEnd: boolean
  isEmpty: boolean
  attributes: string
}

/**
 * Calls `onTag` with each tag of an XML part, and `onText` with the text between two tags, in order, until one of them returns false. Takes
 * time linear in the length of the part.
 */
function walk (part: Uint8Array, onTag: (tag: Tag) => boolean | void, onText: (text: string) => boolean | void): void {
  const xml = strFromU8(part)
  for (let at = 0; at < xml.length;) {
    const open = xml.indexOf('<', at)
    const end = open === -1 ? xml.length : open
    if (end > at && onText(decodeEntities(xml.slice(at, end))) === false) return
    if (open === -1) return
    if (xml.startsWith('<!--', open)) {
      const close = xml.indexOf('-->', open)
      if (close === -1) return
      at = close + 3
      continue
    }
    const close = xml.indexOf('>', open)
    if (close === -1) return
    const inner = xml.slice(open + 1, close)
    at = close + 1
    if (inner.startsWith('?') || inner.startsWith('!')) continue
    const isEnd = inner.startsWith('/')
    const isEmpty = inner.endsWith('/')
    const body = inner.slice(isEnd ? 1 : 0, isEmpty ? -1 : undefined)
    const blank = body.search(/\s/)
    const tag = { name: blank === -1 ? body : body.slice(0, blank), isEnd, isEmpty, attributes: blank === -1 ? '' : body.slice(blank) }
    if (onTag(tag) === false) return
  }
}

const patterns = new Map<string, RegExp>()

function attribute ({ attributes }: Tag, name: string): string | undefined {
  const pattern = patterns.get(name) ?? new RegExp(String.raw`\s${name}\s*=\s*(?:"([^"]*)"|'([^']*)')`)
  patterns.set(name, pattern)
  const found = pattern.exec(attributes)
  return found === null ? undefined : decodeEntities(found[1] ?? found[2])
}

type Take = (text: string) => boolean

/** Elements with deleted text, or with a copy of text for older programs. */
const SKIPPED = new Set(['w:del', 'w:moveFrom', 'mc:Fallback'])

/**
 * Passes the texts in `textTag` elements to `take`. `standsFor` returns the text that another tag stands for, such as a line break. Returns
 * false once `take` does.
 */
function takeTexts (part: Uint8Array, textTag: string, standsFor: (tag: Tag) => string | undefined, take: Take): boolean {
  let isInside = false
  let skipped = 0
  let goesOn = true
  walk(part, (tag) => {
    if (SKIPPED.has(tag.name) && !tag.isEmpty) skipped += tag.isEnd ? -1 : 1
    if (tag.name === textTag && !tag.isEmpty) isInside = !tag.isEnd
    const text = skipped > 0 ? undefined : standsFor(tag)
    if (text !== undefined) goesOn = take(text)
    return goesOn
  }, (text) => {
    if (isInside && skipped <= 0) goesOn = take(text)
    return goesOn
  })
  return goesOn
}

const numberIn = (name: string) => Number(/(\d+)\.xml$/.exec(name)?.[1] ?? 0)

function readDocx (parts: Parts, take: Take) {
  const titles: Record<string, string> = { footnotes: 'Footnotes', endnotes: 'Endnotes', comments: 'Comments' }
  for (const name of ['document', 'footnotes', 'endnotes', 'comments']) {
    const part = parts[`word/${name}.xml`]
    if (part === undefined || (titles[name] && !take(`\n\n[${titles[name]}]\n`))) continue
    let cells = 0
    const goesOn = takeTexts(part, 'w:t', ({ name, isEnd, isEmpty }) => {
      if (name === 'w:tc' && !isEmpty) cells += isEnd ? -1 : 1
      if (name === 'w:tab' && isEmpty) return '\t'
      if (name === 'w:br' || name === 'w:cr') return '\n'
      if (name === 'w:noBreakHyphen') return '-'
      // A row of a table becomes a line.
      if ((name === 'w:p' || name === 'w:tr') && isEnd) return name === 'w:p' && cells > 0 ? ' ' : '\n'
      return name === 'w:tc' && isEnd ? '\t' : undefined
    }, take)
    if (!goesOn) return
  }
}

/** Returns the targets of the relationships in a part, by their ids. */
function relationsIn (part: Uint8Array | undefined): Map<string, string> {
  const targets = new Map<string, string>()
  if (part === undefined) return targets
  walk(part, (tag) => {
    const [id, target] = [attribute(tag, 'Id'), attribute(tag, 'Target')]
    if (id !== undefined && target !== undefined) targets.set(id, target)
  }, () => {})
  return targets
}

/** Returns the notes of a slide, which its relationships name: the numbers of notes are not those of slides. */
function notesOf (slide: string, parts: Parts): Uint8Array | undefined {
  const targets = relationsIn(parts[slide.replace(/[^/]+$/, '_rels/$&.rels')])
  const name = [...targets.values()].map((target) => /notesSlides\/[^/]+$/.exec(target)?.[0]).find((found) => found !== undefined)
  return name === undefined ? undefined : parts[`ppt/${name}`]
}

function readPptx (parts: Parts, take: Take) {
  const slides = Object.keys(parts).filter((name) => /^ppt\/slides\/[^/]+$/.test(name)).sort((a, b) => numberIn(a) - numberIn(b))
  for (const name of slides) {
    const n = numberIn(name)
    if (!take(`\n\n[Slide ${n}]\n`)) return
    const lines = ({ name: tag, isEnd }: Tag) => (tag === 'a:p' && isEnd) || tag === 'a:br' ? '\n' : undefined
    if (!takeTexts(parts[name], 'a:t', lines, take)) return
    const notes = notesOf(name, parts)
    if (notes !== undefined && !(take('\n[Notes]\n') && takeTexts(notes, 'a:t', lines, take))) return
  }
}

function readOdt (parts: Parts, take: Take) {
  const manifest = parts['META-INF/manifest.xml']
  if (manifest !== undefined && strFromU8(manifest).includes('encryption-data')) throw new Error('it is protected by a password')
  const content = parts['content.xml']
  if (content === undefined) throw new Error(DAMAGED)
  let depth = 0
  let cells = 0
  /** True within the record of tracked changes, which holds the deleted text. */
  let isDeleted = false
  let goesOn = true
  walk(content, ({ name, isEnd, isEmpty }) => {
    if (name === 'text:tracked-changes') isDeleted = !isEnd && !isEmpty
    if (isDeleted) return goesOn
    if (name === 'table:table-cell' && !isEmpty) cells += isEnd ? -1 : 1
    if (name === 'text:p' || name === 'text:h') {
      if (!isEmpty) depth += isEnd ? -1 : 1
      if (isEnd || isEmpty) goesOn = take(cells > 0 ? ' ' : '\n')
    } else if (name === 'table:table-row' && isEnd) goesOn = take('\n')
    else if (name === 'text:tab') goesOn = take('\t')
    else if (name === 'text:line-break') goesOn = take('\n')
    else if (name === 'text:s') goesOn = take(' ')
    else if (name === 'table:table-cell' && isEnd) goesOn = take('\t')
    return goesOn
  }, (text) => {
    if (depth > 0) goesOn = take(text)
    return goesOn
  })
}

/** Does the same as `walk`, for the parts of a spreadsheet: some programs write a prefix before all names, as in `x:row`. */
const walkSheet: typeof walk = (part, onTag, onText) =>
  walk(part, (tag) => {
    tag.name = tag.name.slice(tag.name.indexOf(':') + 1)
    return onTag(tag)
  }, onText)

/** The most empty cells between two cells of a row that are shown as tabs. */
const MOST_EMPTY = 256

/** Returns the column of a cell reference, counted from 0: 2 for "C7"; -1 for none. */
function columnOf (reference: string | undefined): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(reference ?? '')?.[0] ?? '') column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** Returns the shared strings of a workbook, to which cells refer by index. */
function sharedTexts (part: Uint8Array | undefined): string[] {
  const texts: string[] = []
  if (part === undefined) return texts
  let text = ''
  let isText = false
  let isPhonetic = false
  walkSheet(part, ({ name, isEnd, isEmpty }) => {
    if (name === 'rPh') isPhonetic = !isEnd
    if (name === 't' && !isEmpty) isText = !isEnd && !isPhonetic
    if (name === 'si' && (isEnd || isEmpty)) {
      texts.push(text)
      text = ''
    }
  }, (piece) => {
    if (isText) text += piece
  })
  return texts
}

/** Returns the sheets of a workbook with their names, in the order of the workbook. */
function sheetsOf (parts: Parts): Array<{ name: string, part: Uint8Array }> {
  const targets = relationsIn(parts['xl/_rels/workbook.xml.rels'])
  const sheets: Array<{ name: string, part: Uint8Array }> = []
  if (parts['xl/workbook.xml']) {
    walkSheet(parts['xl/workbook.xml'], (tag) => {
      const target = tag.name === 'sheet' ? targets.get(attribute(tag, 'r:id') ?? '') : undefined
      const part = target === undefined ? undefined : parts[target.replace(/^\/?(?:xl\/)?/, 'xl/')]
      if (part !== undefined) sheets.push({ name: attribute(tag, 'name') ?? '', part })
    }, () => {})
  }
  if (sheets.length > 0) return sheets
  return Object.keys(parts).filter((name) => name.startsWith('xl/worksheets/')).sort((a, b) => numberIn(a) - numberIn(b))
    .map((name) => ({ name: `Sheet ${numberIn(name)}`, part: parts[name] }))
}

function readXlsx (parts: Parts, take: Take) {
  const shared = sharedTexts(parts['xl/sharedStrings.xml'])
  for (const { name, part } of sheetsOf(parts)) {
    if (!take(`\n\n[Sheet ${JSON.stringify(name)}]\n`)) return
    let goesOn = true
    /** The column of the last cell in this row; -1 before the first one. */
    let column = -1
    let type: string | undefined
    let value = ''
    let isValue = false
    walkSheet(part, (tag) => {
      if (tag.name === 'row' && tag.isEnd) {
        goesOn = take('\n')
        column = -1
      } else if (tag.name === 'c' && !tag.isEnd) {
        type = attribute(tag, 't')
        value = ''
        // A cell without a reference stands behind the cell before it.
        const named = columnOf(attribute(tag, 'r'))
        const at = named === -1 ? column + 1 : Math.max(named, column)
        if (at > 0) goesOn = take('\t'.repeat(Math.min(at - Math.max(column, 0), MOST_EMPTY)))
        column = at
      } else if (tag.name === 'c') {
        const shown = type === 's' ? shared[Number(value)] ?? '' : type === 'b' ? (value === '1' ? 'TRUE' : 'FALSE') : value
        goesOn = take(shown.replace(/[\t\r\n]+/g, ' '))
      } else if ((tag.name === 'v' || tag.name === 't') && !tag.isEmpty) isValue = !tag.isEnd
      return goesOn
    }, (text) => {
      if (isValue) value += text
    })
    if (!goesOn) return
  }
}

const READERS: Record<OfficeRequest['format'], (parts: Parts, take: Take) => void> = {
  docx: readDocx,
  xlsx: readXlsx,
  pptx: readPptx,
  odt: readOdt
}
