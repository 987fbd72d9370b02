import { isRecord } from './values.tsx'

/** Fields of an input that say what a call is about, the most telling first. */
const TARGETS = ['path', 'command', 'url', 'query', 'from', 'pattern', 'goal', 'text', 'key']
/** Characters of the target in the line of a closed call. */
const TARGET_SHOWN = 160

/** What a call is about in one line; undefined when its input has no such field. */
export function targetOf (input: unknown): string | undefined {
  if (typeof input === 'string') return oneLine(input)
  if (!isRecord(input)) return undefined
  const target = TARGETS.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '')
  return typeof target === 'string' ? oneLine(target) : undefined
}

function oneLine (text: string): string {
  const line = text.slice(0, TARGET_SHOWN).replace(/\s+/g, ' ').trim()
  return text.length > TARGET_SHOWN ? `${line}…` : line
}
