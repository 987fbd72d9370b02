import { isObject, readJson } from '../lib/json.ts'

// What models write is read leniently where only one meaning is possible, and never guessed.

type Schema = Record<string, any>

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
/** Levels of an input that are looked at. */
const MOST_LEVELS = 8

/**
 * Returns the input with what a schema allows one reading of: no null where a property may be absent, a number or boolean in quotes as
 * such, and JSON in a text as what it says where an object or a list is due. The input itself when there is nothing of the kind.
 */
export function mendInput (schema: Schema, input: unknown, level = 0): unknown {
  if (level > MOST_LEVELS) return input
  const types: unknown[] = [schema.type].flat()
  const mayBe = (type: string) => types.includes(type)
  if (typeof input === 'string' && !mayBe('string')) return valueOf(input, mayBe) ?? input
  if (Array.isArray(input) && isObject(schema.items)) return withChanges(input, (each) => mendInput(schema.items, each, level + 1))
  if (!isObject(input) || !isObject(schema.properties)) return input
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
  let changed = false
  const mended = Object.entries(input).flatMap(([name, value]): Array<[string, unknown]> => {
    const rules = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (!isObject(rules)) return [[name, value]]
    if (value === null && !required.includes(name) && ![rules.type].flat().includes('null') && rules.type !== undefined) {
      changed = true
      return []
    }
    const better = mendInput(rules, value, level + 1)
    changed ||= better !== value
    return [[name, better]]
  })
  return changed ? Object.fromEntries(mended) : input
}

function withChanges (list: unknown[], change: (value: unknown) => unknown): unknown[] {
  const changed = list.map(change)
  return changed.some((value, at) => value !== list[at]) ? changed : list
}

function valueOf (text: string, mayBe: (type: string) => boolean): unknown {
  const trimmed = text.trim()
  if ((mayBe('number') || mayBe('integer')) && NUMBER.test(trimmed)) return Number(trimmed)
  if (mayBe('boolean') && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  if (!(mayBe('object') || mayBe('array')) || !/^[{[]/.test(trimmed)) return undefined
  const value: unknown = readJson(trimmed)
  return mayBe(Array.isArray(value) ? 'array' : 'object') ? value : undefined
}

/** What templates and other agents write before and behind a name: a namespace, a number, brackets, tokens. */
const BEFORE_NAME = /^(?:\s|["'`]|<[|｜][^|｜>]*[|｜]>|(?:functions?|tools?|default_api|assistant|commentary)[.:/]|to=)+/
const BEHIND_NAME = /(?:\s|["'`]|<[|｜].*|:\d+|\.call|\(\)?|\[ARGS\].*)+$/s

/**
 * Returns the name of the tool that a model means: the name itself when there is such a tool, else, without what templates add, the only
 * one that differs in case, in blanks, underscores, dashes and dots, or in a prefix that ends with such a mark. Undefined when none or
 * several do.
 */
export function nameMeant (name: string, names: readonly string[]): string | undefined {
  if (names.includes(name)) return name
  const bare = name.replace(BEFORE_NAME, '').replace(BEHIND_NAME, '')
  const plain = (text: string) => text.replace(/[\s_.-]/g, '').toLowerCase()
  const isEnd = (long: string, short: string) => {
    const rest = long.toLowerCase().slice(0, -short.length)
    return long.length > short.length && long.toLowerCase().endsWith(short.toLowerCase()) && /^[\w.:/-]*[_.:/-]$/.test(rest)
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
