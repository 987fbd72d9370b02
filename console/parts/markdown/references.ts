import type { Block } from './split-blocks.ts'

/** A footnote. Its number is the order of its first reference in the text; notes without a reference come last. */
export interface Footnote {
  label: string
  number: number
  text: string
}

/** A block together with the definitions that it refers to, or all footnotes of the text. */
export type ResolvedBlock = Block & { notes?: Footnote[] } | { kind: 'notes', text: string, notes: Footnote[] }

/** The definitions and references in one block, by label. */
interface Scan {
  /** The text without its footnotes. */
  text: string
  links: Map<string, string>
  notes: Map<string, string>
  /** Labels of links, and labels of footnotes with `^` before them. */
  mentioned: string[]
}

const DEFINITION = /^ {0,3}\[(\^?)((?:\\.|[^\]\\])+)\]:[ \t]*(.*)$/
const MENTION = /\[(\^?(?:\\.|[^[\]\\])+)\]/g

/** Normalizes a label: case and white space do not matter. */
const labelOf = (text: string) => text.trim().replace(/\s+/g, ' ').toLowerCase()

/**
 * Creates the function that resolves references between the blocks of a text, because each block is rendered on its own. It adds the link
 * addresses and footnotes that other blocks define, and a last block with all footnotes. A block with the same references stays the same
 * object.
 */
export function createReferences (): (blocks: Block[]) => ResolvedBlock[] {
  const scans = new WeakMap<Block, Scan>()
  const known = new WeakMap<Block, ResolvedBlock>()
  let knownNotes: ResolvedBlock | undefined

  function scanOf (block: Block): Scan {
    const scan = scans.get(block) ?? scanned(block)
    scans.set(block, scan)
    return scan
  }

  return (blocks) => {
    const all = blocks.map(scanOf)
    const links = firstOf(all.map((scan) => scan.links))
    const notes = firstOf(all.map((scan) => scan.notes))
    if (links.size === 0 && notes.size === 0) return blocks

    const mentions = all.flatMap(({ mentioned }) => mentioned).filter((label) => label[0] === '^').map((label) => label.slice(1))
    const order = new Set([...mentions.filter((label) => notes.has(label)), ...notes.keys()])
    const footnotes = new Map([...order].map((label, at) => [label, { label, number: at + 1, text: notes.get(label)! }]))

    const made = blocks.flatMap((block): ResolvedBlock[] => {
      if (block.kind === 'code') return [block]
      const { text, links: own, mentioned } = scanOf(block)
      if (text.trim() === '') return []
      const addresses = mentioned.flatMap((label) => !own.has(label) && links.has(label) ? `[${label}]: ${links.get(label)}` : [])
      const mentions = mentioned.flatMap((label) => label[0] === '^' ? footnotes.get(label.slice(1)) ?? [] : [])
      // The Markdown parser ignores a footnote reference without a definition, so a stub definition is added.
      const stubs = mentions.map(({ label }) => `[^${label}]: …`)
      const added = [...addresses, ...stubs].map((line) => `\n\n${line}`).join('')
      const same = ifEqual(known.get(block), { ...block, text: text + added, ...mentions.length > 0 && { notes: mentions } })
      known.set(block, same)
      return [same]
    })
    if (footnotes.size === 0) return made
    knownNotes = ifEqual(knownNotes, { kind: 'notes', text: '', notes: [...footnotes.values()] })
    return [...made, knownNotes]
  }
}

/** Merges maps; the first definition of a label wins. */
const firstOf = (maps: Array<Map<string, string>>): Map<string, string> => {
  const joined = new Map<string, string>()
  for (const [label, value] of maps.flatMap((map) => [...map])) if (!joined.has(label)) joined.set(label, value)
  return joined
}

const ifEqual = (known: ResolvedBlock | undefined, made: ResolvedBlock): ResolvedBlock =>
  known !== undefined && JSON.stringify(known) === JSON.stringify(made) ? known : made

const NOTHING: Scan = { text: '', links: new Map(), notes: new Map(), mentioned: [] }

function scanned ({ kind, text }: Block): Scan {
  if (kind === 'code' || !text.includes('[')) return { ...NOTHING, text }
  const links = new Map<string, string>()
  const notes = new Map<string, string>()
  const kept: string[] = []
  /** The footnote to which the current lines belong. */
  let note: string | undefined
  let isParagraph = false
  for (const line of text.split('\n')) {
    const [, mark, label, rest] = DEFINITION.exec(line) ?? []
    if (mark === '^') {
      note = labelOf(label)
      notes.set(note, rest)
    } else if (note !== undefined) notes.set(note, `${notes.get(note)}\n${line.trim()}`)
    else {
      // A link definition cannot interrupt a paragraph.
      if (mark === '' && !isParagraph && rest !== '' && !links.has(labelOf(label))) links.set(labelOf(label), rest)
      isParagraph = line.trim() !== '' && mark === undefined
      kept.push(line)
    }
  }
  const mentions = [...kept, ...notes.values()].flatMap((line) => [...line.matchAll(MENTION)])
  return { text: kept.join('\n'), links, notes, mentioned: [...new Set(mentions.map(([, label]) => labelOf(label)))] }
}
