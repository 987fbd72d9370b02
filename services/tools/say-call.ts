import { aboutOf, type Tool } from '../contracts/tool.ts'
import { isObject, readJson } from '../lib/json.ts'

/** Characters shown of what a call is about. */
const ABOUT_SHOWN = 160
/** Fields of an input that are shown where its tool names no target. */
const FIELDS_SHOWN = 3
/** Fields whose values may be secrets. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|session|pin$/i

/** Says what a tool does, for sentences about more than one call; a tool of others is used by its name. */
export function sayTool (name: string, tool: Pick<Tool, 'says'> | undefined): string {
  const label = tool?.says?.en.label
  return label === undefined ? `use ${name}` : label[0].toLowerCase() + label.slice(1)
}

/** A call in the words of people. */
export interface SaidCall {
  /** The whole, without a subject: `write the file “notes.md”`. */
  text: string
  /** What the call is about: a path, a command, host and path of an address, or the first fields of an input; '' for nothing. */
  about: string
}

/** Says what a call does. `server` is the tool server whose tool it is. */
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

/** The first texts of an input that is kept as JSON, and shortened: the last may be cut off. */
function fieldsIn (json: string): unknown {
  if (!json.startsWith('{')) return json
  const fields = [...json.matchAll(/"((?:[^"\\]|\\.)*)":("(?:[^"\\]|\\.)*)/g)]
  return Object.fromEntries(fields.slice(0, 20).map(([, name, value]) => [name, readJson(`${value}"`) ?? value.slice(1)]))
}

/** An address is said by its host and its path, without what may be a secret. */
function withoutSecrets (target: string): string {
  const address = /^https?:/i.test(target) && URL.canParse(target) ? new URL(target) : undefined
  return address === undefined ? target : `${address.host}${address.pathname === '/' ? '' : address.pathname}${address.search && '?…'}`
}

/** Says the fields of an input: `title: Broken link, labels: bug, urgent`. */
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
