import type { TSchema } from '@sinclair/typebox'
import { isObject, readJson } from '../lib/json.ts'

// Corrects the input that a model wrote for a call, but only where it has a single possible meaning. Nothing is guessed.

type Schema = Record<string, any>

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/
/** The most levels of an input that are corrected. */
const MOST_LEVELS = 8

/** Groups of names that tools of other agents use for the same parameter. */
const SAME: readonly string[][] = [
  ['path', 'file', 'filename', 'filepath', 'pathname', 'directory', 'dir', 'folder', 'directorypath', 'dirpath', 'folderpath', 'targetfile',
    'targetpath', 'absolutepath', 'relativepath', 'relativeworkspacepath', 'filetoread', 'target'],
  ['content', 'contents', 'text', 'data', 'body', 'filecontent', 'filecontents', 'filetext', 'newcontent', 'value'],
  ['command', 'cmd', 'shellcommand', 'bashcommand', 'commandline', 'script', 'code'],
  ['cwd', 'workdir', 'workingdirectory', 'workingdir', 'directory', 'dir', 'folder'],
  ['url', 'uri', 'link', 'href', 'address', 'website', 'pageurl', 'weburl'],
  ['query', 'q', 'search', 'searchquery', 'searchterm', 'term', 'keywords', 'question', 'text'],
  ['pattern', 'regex', 'regexp', 'query', 'search', 'searchterm', 'glob', 'searchpattern', 'expression'],
  ['old', 'oldtext', 'oldstring', 'oldstr', 'search', 'find', 'original'],
  ['new', 'newtext', 'newstring', 'newstr', 'replace', 'replacement', 'replacewith', 'updated'],
  ['from', 'source', 'src', 'sourcepath', 'oldpath', 'origin'],
  ['to', 'destination', 'dest', 'destinationpath', 'newpath', 'target'],
  ['limit', 'max', 'count', 'maxresults', 'numresults', 'topk', 'k', 'n', 'maxlines', 'lines'],
  ['offset', 'start', 'startline', 'from', 'line']
]
/** Names of a property that wraps the whole input. */
const WRAPPERS = ['input', 'inputs', 'arguments', 'args', 'parameters', 'params', 'kwargs', 'toolinput', 'actioninput', 'data']
/** Names of properties that can occur beside a wrapper. */
const BESIDE = ['name', 'tool', 'toolname', 'function', 'functionname', 'type', 'id', 'action']

const plain = (name: string): string => name.replace(/[\s_.-]/g, '').toLowerCase()

const MENDS = Symbol('mends')

/** Returns the schema with a function that corrects an input which does not fit the schema, if the input has only one possible meaning. */
export const withMending = <S extends TSchema>(schema: S, mend: (input: unknown) => unknown): S => ({ ...schema, [MENDS]: mend })

/**
 * Returns the input, corrected to fit a schema where it has only one possible meaning. Unwraps a wrapper or a list of one item. Renames
 * parameters to the names of the schema. Removes a null from an optional property. Converts a quoted number or boolean, and JSON text where
 * an object or list is required. Returns the input itself if nothing needs correction.
 */
export const mendInput = (schema: Schema & { [MENDS]?: (input: unknown) => unknown }, input: unknown): unknown =>
  mendValue(schema, unwrap(schema, schema[MENDS]?.(input) ?? input), 0)

/**
 * Returns the content of a wrapper, or the item of a list of one. A string becomes an input with the only required parameter, if that is a
 * string.
 */
function unwrap (schema: Schema, input: unknown): unknown {
  if (Array.isArray(input) && input.length === 1 && isObject(input[0])) return unwrap(schema, input[0])
  const properties: Schema = isObject(schema.properties) ? schema.properties : {}
  if (typeof input === 'string') {
    const required: string[] = Array.isArray(schema.required) ? schema.required : []
    const [only, ...more] = required.length > 0 ? required : Object.keys(properties)
    return only !== undefined && more.length === 0 && properties[only]?.type === 'string' ? { [only]: input } : input
  }
  if (!isObject(input)) return input
  const unknown = Object.keys(input).filter((name) => !Object.hasOwn(properties, name))
  const wrapper = unknown.find((name) => WRAPPERS.includes(plain(name)))
  if (wrapper === undefined || Object.keys(input).some((name) => name !== wrapper && !BESIDE.includes(plain(name)))) return input
  const inner = typeof input[wrapper] === 'string' ? readJson(input[wrapper]) : input[wrapper]
  return isObject(inner) ? inner : input
}

function mendValue (schema: Schema, input: unknown, level: number): unknown {
  if (level > MOST_LEVELS) return input
  const types: unknown[] = [schema.type].flat()
  const mayBe = (type: string) => types.includes(type)
  if (typeof input === 'string' && !mayBe('string')) {
    const value = valueOf(input, mayBe) ?? input
    return value === input || typeof value !== 'object' ? asListed(schema, value) : mendValue(schema, value, level + 1)
  }
  if (typeof input === 'string') return namedValue(schema, input)
  if (Array.isArray(input)) {
    if (schema.type !== undefined && !mayBe('array') && input.length === 1) return mendValue(schema, input[0], level + 1)
    return isObject(schema.items) ? withChanges(input, (each) => mendValue(schema.items, each, level + 1)) : input
  }
  if (types.length === 1 && mayBe('array') && isObject(input)) return asListed(schema, mendValue(schema.items ?? {}, input, level + 1))
  return isObject(input) && isObject(schema.properties) ? mendObject(schema, input, level) : input
}

function mendObject (schema: Schema, input: Schema, level: number): Schema {
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
  const named = withItems(schema.properties, required, withOwnNames(schema.properties, input))
  let changed = named !== input
  const mended = Object.entries(named).flatMap(([name, value]): Array<[string, unknown]> => {
    const rules = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined
    if (!isObject(rules)) return [[name, value]]
    if (!required.includes(name) && isNothing(rules, value)) {
      changed = true
      return []
    }
    const better = mendValue(rules, value, level + 1)
    changed ||= better !== value
    return [[name, better]]
  })
  return changed ? Object.fromEntries(mended) : input
}

/** True if a value means that an optional property is absent. Where strings are allowed, a string always counts as itself. */
function isNothing (rules: Schema, value: unknown): boolean {
  const types = [rules.type].flat()
  if (value === null) return rules.type !== undefined && !types.includes('null')
  if (typeof value !== 'string' || types.includes('string') || rules.type === undefined) return false
  return /^\s*(?:null|none|undefined|nil)?\s*$/i.test(value)
}

/**
 * Returns the input with property names of the schema. A name is replaced if it differs only in spelling, or if it is a known synonym of
 * exactly one absent parameter.
 */
function withOwnNames (properties: Schema, input: Schema): Schema {
  const own = Object.keys(properties)
  const taken = new Set(Object.keys(input).filter((name) => Object.hasOwn(properties, name)))
  let changed = false
  const entries = Object.entries(input).map(([name, value]): [string, unknown] => {
    if (Object.hasOwn(properties, name)) return [name, value]
    const free = own.filter((each) => !taken.has(each))
    const alike = free.filter((each) => plain(each) === plain(name))
    const groups = SAME.filter((group) => group.includes(plain(name)))
    const meant = alike.length > 0 ? alike : free.filter((each) => groups.some((group) => group.includes(plain(each))))
    if (meant.length !== 1) return [name, value]
    taken.add(meant[0])
    changed = true
    return [meant[0], value]
  })
  return changed ? Object.fromEntries(entries) : input
}

/** If exactly one required list is missing, returns the input with the unknown properties moved into that list, as its single item. */
function withItems (properties: Schema, required: unknown[], input: Schema): Schema {
  const due = required.filter((name) => typeof name === 'string' && !Object.hasOwn(input, name))
  const items = due.length === 1 ? properties[due[0] as string]?.items : undefined
  if (!isObject(items) || !isObject(items.properties)) return input
  const beside = Object.entries(input).filter(([name]) => !Object.hasOwn(properties, name))
  const item = withOwnNames(items.properties, Object.fromEntries(beside))
  if (beside.length === 0 || !Object.keys(item).every((name) => Object.hasOwn(items.properties, name))) return input
  return { ...Object.fromEntries(Object.entries(input).filter(([name]) => Object.hasOwn(properties, name))), [due[0] as string]: [item] }
}

/** Returns the value of an enumeration that a text spells differently; otherwise the text itself. */
function namedValue (schema: Schema, input: string): string {
  if (!Array.isArray(schema.enum) || schema.enum.includes(input)) return input
  const meant = schema.enum.filter((each) => typeof each === 'string' && plain(each) === plain(input))
  return meant.length === 1 ? meant[0] : input
}

/** Returns a list that contains the value, where the schema requires a list and the value cannot be several items. */
function asListed (schema: Schema, value: unknown): unknown {
  if (schema.type !== 'array' || !isObject(schema.items) || Array.isArray(value)) return value
  const { type } = schema.items
  if (typeof value === 'string') return type === 'string' && /^[^,;\n]*\S[^,;\n]*$/.test(value) ? [value] : value
  return type === 'object' && isObject(value) ? [value] : value
}

function withChanges (list: unknown[], change: (value: unknown) => unknown): unknown[] {
  const changed = list.map(change)
  return changed.some((value, at) => value !== list[at]) ? changed : list
}

function valueOf (text: string, mayBe: (type: string) => boolean): unknown {
  const trimmed = text.trim()
  if ((mayBe('number') || mayBe('integer')) && NUMBER.test(trimmed)) return Number(trimmed)
  if (mayBe('boolean') && /^(?:true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === 'true'
  if (!(mayBe('object') || mayBe('array')) || !/^[{[]/.test(trimmed)) return undefined
  const value: unknown = readJson(trimmed)
  return mayBe(Array.isArray(value) ? 'array' : 'object') ? value : undefined
}
