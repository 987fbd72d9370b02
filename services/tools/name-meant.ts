import type { Tool } from '../contracts/tool.ts'
import { readInput, type Validation } from './input-validator.ts'

const plain = (name: string): string => name.replace(/[\s_.-]/g, '').toLowerCase()

/**
 * Matches what chat templates and other agents add before a name: a namespace, quotes, special tokens. BEHIND_NAME matches what they add
 * after it.
 */
const BEFORE_NAME = /^(?:\s|["'`]|<[|｜][^|｜>]*[|｜]>|(?:functions?|tools?|default_api|assistant|commentary)[.:/]|to=)+/
const BEHIND_NAME = /(?:\s|["'`]|<[|｜].*|:\d+|\.call|\(\)?|\[ARGS\].*)+$/s

const bareName = (name: string): string => name.replace(BEFORE_NAME, '').replace(BEHIND_NAME, '')

/**
 * Returns the name of the tool that a model means. This is the name itself if there is such a tool. Otherwise additions of chat templates
 * are removed, and the only tool is returned whose name differs just in case and separators (spaces, underscores, dashes, dots) or by a
 * prefix that ends with a separator. Returns undefined if there are none or several, or if the name is that of a tool which exists but is
 * `isWithheld` from this run: a call of a denied tool must not become a call of a similar one.
 */
export function nameMeant (
  name: string,
  names: readonly string[],
  isWithheld: (name: string) => boolean = () => false
): string | undefined {
  if (names.includes(name)) return name
  const bare = bareName(name)
  if (!names.includes(bare) && isWithheld(bare)) return undefined
  const isEnd = (long: string, short: string) => {
    const rest = long.toLowerCase().slice(0, -short.length)
    if (long.length <= short.length || !long.toLowerCase().endsWith(short.toLowerCase())) return false
    // A path such as runCommand/../readFile names no tool.
    return /^[\w.:/-]*[_.:/-]$/.test(rest) && !rest.includes('..')
  }
  const readings: Array<(known: string) => boolean> = [
    (known) => plain(known) === plain(bare),
    (known) => isEnd(bare, known) || isEnd(known, bare)
  ]
  for (const isMeant of readings) {
    const meant = plain(bare) === '' ? [] : names.filter(isMeant)
    if (meant.length > 0) return meant.length === 1 ? meant[0] : undefined
  }
  return undefined
}

interface Offered {
  names: readonly string[]
  find: (name: string) => Tool | undefined
  validate: (name: string, input: unknown) => Validation
}

/**
 * Returns the only tool that other agents call by this name, if the input, as JSON text, fits the tool; undefined if there are none or
 * several.
 */
export function otherNameMeant (written: string, text: string, { names, find, validate }: Offered): string | undefined {
  const name = plain(bareName(written))
  const fitting = names.filter((each) => find(each)?.says?.otherNames?.includes(name) && readInput(each, text, validate).ok)
  return fitting.length === 1 ? fitting[0] : undefined
}
