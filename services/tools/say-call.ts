import type { Tool } from '../contracts/tool.ts'
import { readJson } from '../lib/json.ts'

/** Characters shown of what a call is about. */
const ABOUT_SHOWN = 160
/** Fields of an input that are shown where its tool names no target. */
const FIELDS_SHOWN = 3
/** Fields whose values may be secrets. */
const SECRET = /key|token|secret|passw|passphrase|credential|auth|cookie|session|pin$/i

/** What built-in tools do, in the words of people; what a call is about follows. */
const DOES: Record<string, string> = {
  askUser: 'ask you',
  changeTask: 'change the task',
  click: 'click',
  createTask: 'make the task',
  deleteFile: 'delete',
  editFile: 'edit the file',
  fetchUrl: 'read the page',
  findFiles: 'find files in',
  findTools: 'find a tool for',
  forget: 'forget',
  investigate: 'investigate',
  listDirectory: 'list the folder',
  listResources: 'list what tool servers offer to read',
  listTasks: 'list the tasks',
  moveFile: 'move',
  notifyUser: 'tell you',
  readAttachment: 'read the attachment',
  readCommand: 'read what a command has written',
  readFile: 'read the file',
  readResource: 'read of a tool server',
  readSkill: 'read the skill',
  remember: 'remember',
  runCommand: 'run the command',
  screenshot: 'take a screenshot',
  scroll: 'scroll',
  searchFiles: 'search the files in',
  stopCommand: 'stop a command',
  systemInfo: 'look at this computer',
  type: 'type',
  updatePlan: 'change its plan',
  useTool: 'use a tool',
  webSearch: 'search the web for',
  writeFile: 'write the file'
}

/** What tools do whose calls are asked for, or read what an address may give away, whatever a call is about. */
const DOES_ANY: Record<string, string> = {
  changeTask: 'change a task',
  click: 'click',
  createTask: 'make a task',
  deleteFile: 'delete a file',
  editFile: 'edit a file',
  fetchUrl: 'read a web page',
  findFiles: 'find files',
  listDirectory: 'list a folder',
  moveFile: 'move a file',
  readAttachment: 'read an attachment',
  readCommand: 'read what a command has written',
  readFile: 'read a file',
  readResource: 'read of a tool server',
  readSkill: 'read a skill',
  runCommand: 'run a command',
  screenshot: 'take a screenshot',
  scroll: 'scroll',
  searchFiles: 'search files',
  stopCommand: 'stop a command',
  systemInfo: 'look at this computer',
  type: 'type',
  webSearch: 'search the web',
  writeFile: 'write a file'
}

/** Says what a tool does, for sentences about more than one call; a tool of others is used by its name. */
export const sayTool = (name: string): string => DOES_ANY[name] ?? `use ${name}`

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
  { tool, server }: { tool?: Pick<Tool, 'target'>, server?: string } = {}
): SaidCall {
  const about = aboutOf(input, tool)
  if (toolName === 'listDirectory' && about === '.') return { text: 'list this folder', about }
  const does = DOES[toolName]
  const verb = does ?? `use ${toolName}${server === undefined ? '' : ` of ${server}`}`
  return { text: about === '' ? verb : `${verb}${does === undefined ? ' with' : ''} “${about}”`, about }
}

function aboutOf (input: unknown, tool: Pick<Tool, 'target'> | undefined): string {
  const fields = typeof input === 'string' ? fieldsIn(input) : input
  const isObject = typeof fields === 'object' && fields !== null
  const target = isObject ? tool?.target?.(fields) : undefined
  return inLine(typeof target === 'string' ? withoutSecrets(target) : sayFields(fields, FIELDS_SHOWN))
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
