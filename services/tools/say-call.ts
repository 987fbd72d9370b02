import { aboutOf, type Tool } from '../contracts/tool.ts'
import { isObject, readJson } from '../lib/json.ts'

/** The most characters of a call's subject that are shown. */
const ABOUT_SHOWN = 160
/** The most input fields that are shown if the tool defines no subject. */
const FIELDS_SHOWN = 3
/** Matches names of fields whose values might be secrets. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|session|pin$/i

/**
 * Returns a description of what a tool does, for sentences about several calls. For a tool of a server or application it is `use <name>`.
 */
export function sayTool (name: string, tool: Pick<Tool, 'says'> | undefined): string {
  const label = tool?.says?.en.label
  return label === undefined ? `use ${name}` : label[0].toLowerCase() + label.slice(1)
}

/** A call described for people. */
export interface SaidCall {
  /** The whole description: the verb of the tool and the subject, as in `write the file “notes.md”`. */
  text: string
  /** The subject of the call alone: a path, a command, the host and path of an address, or the first input fields; '' for none. */
  about: string
}

/** Describes a call in words for people. `server` is the name of the tool server that the tool belongs to. */
export function sayCall (
  { toolName, input }: { toolName: string, input: unknown },
  { tool, server }: { tool?: Pick<Tool, 'says'>, server?: string } = {}
): SaidCall {
  const fields = typeof input === 'string' ? fieldsIn(input) : input
  const named = aboutOf(tool, fields)
  const about = inLine(named === undefined ? sayFields(fields, FIELDS_SHOWN) : withoutSecrets(named))
  const ofCall = isObject(fields) ? tool?.says?.en.ofCall?.(fields) : undefined
  if (ofCall !== undefined) return { text: inLine(ofCall), about }
  const does = tool?.says?.en.does
  const verb = does ?? `use ${toolName}${server === undefined ? '' : ` of ${server}`}`
  return { text: about === '' ? verb : `${verb}${does === undefined ? ' with' : ''} “${about}”`, about }
}

/** Returns the string fields of an input that is stored as shortened JSON. The last value can be cut off. */
function fieldsIn (json: string): unknown {
  if (!json.startsWith('{')) return json
  const fields = [...json.matchAll(/"((?:[^"\\]|\\.)*)":("(?:[^"\\]|\\.)*)/g)]
  return Object.fromEntries(fields.slice(0, 20).map(([, name, value]) => [name, readJson(`${value}"`) ?? value.slice(1)]))
}

/** Returns the host and path of an address, without the parts that might contain secrets. Returns any other text unchanged. */
function withoutSecrets (target: string): string {
  const address = /^https?:/i.test(target) && URL.canParse(target) ? new URL(target) : undefined
  return address === undefined ? target : `${address.host}${address.pathname === '/' ? '' : address.pathname}${address.search && '?…'}`
}

/** Returns the fields of an input as a text: `title: Broken link, labels: bug, urgent`. */
export function sayFields (input: unknown, most = Infinity): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input === undefined ? '' : sayValue(input)
  const fields = Object.entries(input).filter(([, value]) => value !== undefined)
  const said = fields.slice(0, most).map(([name, value]) => `${name}: ${SECRET.test(name) ? '…' : sayValue(value)}`)
  return [...said, ...fields.length > most ? ['…'] : []].join(', ')
}

function sayValue (value: unknown): string {
  if (Array.isArray(value)) return value.map(sayValue).join(', ')
  if (typeof value === 'object' && value !== null) return `(${sayFields(value)})`
  return typeof value === 'string' ? value : String(value)
}

function inLine (text: string): string {
  const line = text.slice(0, 2 * ABOUT_SHOWN).replace(/\s+/g, ' ').trim()
  return line.length < ABOUT_SHOWN && text.length <= 2 * ABOUT_SHOWN ? line : `${line.slice(0, ABOUT_SHOWN).toWellFormed()}…`
}
