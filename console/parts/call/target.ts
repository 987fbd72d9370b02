import facts from '../../lib/tool-facts.json'
import { isRecord } from './values.tsx'

/** The input fields of the service's own tools that say what a call is about. */
const ABOUT: Record<string, string[] | undefined> = facts.about
/** The fields of the input that can name the object of a call of any other tool, most descriptive first. */
const TARGETS = ['path', 'command', 'url', 'query', 'from', 'pattern', 'goal', 'text', 'key']
/** The maximum number of characters of the target in a collapsed call. */
const TARGET_SHOWN = 160

/** Returns what a call is about, in one line; undefined if its input has no such field. */
export function targetOf (toolName: string, input: unknown): string | undefined {
  if (typeof input === 'string') return oneLine(input)
  if (!isRecord(input)) return undefined
  const textsOf = (fields: string[]) => fields.map((name) => input[name]).filter((value) => typeof value === 'string' && value !== '')
  const target = ABOUT[toolName] === undefined ? textsOf(TARGETS)[0] : textsOf(ABOUT[toolName]).join(' → ')
  return typeof target === 'string' && target !== '' ? oneLine(target) : undefined
}

function oneLine (text: string): string {
  const line = text.slice(0, TARGET_SHOWN).replace(/\s+/g, ' ').trim()
  return text.length > TARGET_SHOWN ? `${line}…` : line
}
