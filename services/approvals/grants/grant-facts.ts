import { inputDigest } from '../../lib/canonical-json.ts'
import { lstat, opendir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { OfferedScope, Scope } from '../../../schemas/grants.ts'
import type { FilePlace } from '../../contracts/approval-record.ts'
import type { Boundary } from '../../contracts/boundary.ts'
import type { CallFacts, Grant } from '../../contracts/grant-record.ts'
import { type ChangedPath, isSourceTool, type Tool, type WorkFolder } from '../../contracts/tool.ts'
import { readAddress } from '../../lib/find-addresses.ts'
import { sayFields, sayTool } from '../../tools/index.ts'
import { extensionOf, isCovered, pathOf } from './file-place.ts'

/** What grants need to know of the tools. */
export interface GrantTools {
  find: (name: string) => Tool | undefined
  identity: (name: string) => string | undefined
  /** Returns where a command that works in `folder` would run; `cwd` is the working folder of its run. */
  boundary: (call: { name: string, input: unknown, cwd: string, folder: WorkFolder }) => Promise<Boundary | undefined>
}

/** The folder that a call works in, and the working folder of its run. */
export interface CallPlace {
  folder: WorkFolder
  cwd: string
}

/**
 * Returns the facts of a call. Relative paths of its input are resolved against `folder`. `largestKept` is the size in bytes up to which a
 * deleted file is kept for undo. If the tool cannot say which files the call would change, the facts name none, so no grant for files
 * covers the call.
 */
export async function factsOf (
  tools: GrantTools,
  { toolName, input }: Pick<CallFacts, 'toolName' | 'input'>,
  { folder, cwd }: CallPlace,
  largestKept: number
): Promise<CallFacts> {
  const tool = tools.find(toolName)
  const identity = tools.identity(toolName)
  const files = await tool?.effects?.files?.(input, { cwd: folder.path, givenCwd: folder.path }).catch(() => undefined)
  const changed = files?.changed
  const places = placesOf(changed)
  const hosts = hostsOf(tool, input)
  const uncopied = tool?.effects?.proves === 'deletion' ? await uncopiedIn(changed, largestKept) : undefined
  const boundary = await tools.boundary({ name: toolName, input, cwd, folder })
  const found = { ...(boundary && { boundary }), ...(hosts.length > 0 && { hosts }), ...(uncopied !== undefined && { uncopied }) }
  const isProgram = changed && (await Promise.all(changed.map(({ path }) => mayBeExecuted(path)))).some(Boolean)
  const does = sayTool(toolName, tool)
  return { toolName, does, input, digest: inputDigest(input), identity, folder, places, ...found, isProgram }
}

/** Returns the hosts of the addresses that a call requests or passes to others, without duplicates. */
export const hostsOf = (tool: Pick<Tool, 'effects'> | undefined, input: unknown): string[] =>
  [...new Set(tool?.effects?.addresses?.(input).flatMap((text) => readAddress(text)?.host ?? []))]

/** The most entries of a folder that are searched for a large file. */
const MOST_ENTRIES = 20_000

/**
 * Returns the size in bytes of the first file that the call would delete and that is too large to be kept for undo; undefined if there is
 * none.
 */
async function uncopiedIn (changed: readonly ChangedPath[] = [], largestKept: number): Promise<number | undefined> {
  for (const { path } of changed) {
    const stat = await lstat(path).catch(() => undefined)
    if (stat?.isFile() && stat.size > largestKept) return stat.size
    if (!stat?.isDirectory()) continue
    let seen = 0
    const entries = await opendir(path, { recursive: true }).catch(() => [])
    for await (const entry of entries) {
      if (++seen > MOST_ENTRIES) break
      const size = entry.isFile() ? (await lstat(join(entry.parentPath, entry.name)).catch(() => undefined))?.size : undefined
      if (size !== undefined && size > largestKept) return size
    }
  }
  return undefined
}

const mayBeExecuted = (path: string): Promise<boolean> =>
  lstat(path).then((stat) => stat.isFile() && (stat.mode & 0o111) !== 0, () => false)

/**
 * Returns the folder and the name of each file that the call would change; undefined if the call removes whole folders, or if the tool
 * refuses the call.
 */
function placesOf (changed: ChangedPath[] | undefined): FilePlace[] | undefined {
  if (changed?.some(({ withContents }) => withContents)) return undefined
  return changed?.map(({ path }) => ({ folder: dirname(path), name: basename(path) }))
}

const INPUT_SHOWN = 300
const shortened = (text: string) => text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN).toWellFormed()}…` : text
const quoted = (value: string) => shortened(JSON.stringify(value))
const filesIn = ({ places = [] }: CallFacts) => `*${extensionOf(places[0])} files in or below ${quoted(places[0].folder)}`

/** Describes in words what a grant of this scope covers if it is made for a call with these facts. */
export function scopeText (scope: Grant['scope'], facts: CallFacts): string {
  const { does, input, folder: { path } } = facts
  switch (scope) {
    case 'exact':
      return `${does}, with exactly “${shortened(sayFields(input))}”, in ${quoted(path)}`
    case 'file':
      return `${does}: ${facts.places?.map((place) => quoted(pathOf(place))).join(' and ')}, with any content`
    case 'beside':
      return `${does}: new *${extensionOf(facts.places![0])} files in ${quoted(facts.places![0].folder)}`
    case 'folder':
      return `${does}: ${filesIn(facts)}`
    case 'host':
      return `${does} at ${facts.hosts?.join(' and ')}, whatever the address says`
    case 'sandbox': {
      const box = facts.boundary?.is === 'confined' ? facts.boundary.folder.path : path
      return `${does}: every one in the box of ${quoted(box)}: it can write there alone, sees of your other files ` +
        'installed tools only and has no network'
    }
    case 'tool':
      return `${does}, as it is described now, with any input`
  }
}

/**
 * Whether all files of the call have the extension of `first` and are in its folder or below, and none of them is protected or a program.
 */
const areLike = ([first]: readonly FilePlace[] = [], { places, isProgram }: CallFacts): boolean =>
  first !== undefined && !isProgram && places !== undefined &&
  places.every((place) => extensionOf(place) === extensionOf(first) && isCovered(first.folder, place))

/**
 * Returns the scopes that an approval of the call can have, the narrowest first. If the service has no token, a command gets only `once`,
 * and `sandbox` if it runs in a box (a sandbox), because every program on the computer could answer the approval request. `isAddress`: the
 * call asks only because of its address.
 */
export function offeredScopes (tool: Tool | undefined, facts: CallFacts, hasToken: boolean, isAddress = false): OfferedScope[] {
  const once: OfferedScope = { scope: 'once', text: 'This call alone.' }
  if (tool === undefined || facts.uncopied !== undefined || typeof tool.policy.permission === 'object') return [once]
  const wider: Array<Exclude<Scope, 'once'>> = tool.effects?.command !== undefined && !hasToken ? [] : ['exact']
  if (areLike(facts.places, facts)) wider.push('folder')
  if (facts.hosts !== undefined) wider.push('host')
  // The scope `sandbox` needs no token: processes in the box cannot reach this service.
  if (facts.boundary?.is === 'confined' && !isAddress) wider.push('sandbox')
  // A call that asks because of its address does not get this scope: other inputs have other addresses.
  if (isSourceTool(tool) && !isAddress) wider.push('tool')
  return [once, ...wider.map((scope) => ({ scope, text: `Also later, unasked: ${scopeText(scope, facts)}.` }))]
}

/** Whether the grant covers a call with these facts; its duration is not considered. */
export function covers (grant: Grant, facts: CallFacts): boolean {
  if (grant.toolName !== facts.toolName || grant.identity !== facts.identity) return false
  if (grant.isConfined && facts.boundary?.is !== 'confined') return false
  switch (grant.scope) {
    case 'tool':
      return true
    case 'host':
      return facts.hosts !== undefined && facts.hosts.every((host) => grant.hosts?.includes(host))
    case 'sandbox':
      return facts.boundary?.is === 'confined' && isSamePlace(grant, facts.boundary)
    case 'exact':
      return grant.digest === facts.digest && isSamePlace(grant, facts) && isDeepStrictEqual(grant.places, facts.places)
    case 'file':
      return grant.places !== undefined && facts.places !== undefined && grant.places.length === facts.places.length &&
        facts.places.every((place, at) => pathOf(place) === pathOf(grant.places![at]))
    case 'beside':
      return facts.places?.length === 1 && facts.places[0].folder === grant.places?.[0].folder && areLike(grant.places, facts)
    case 'folder':
      return areLike(grant.places, facts)
  }
}

const isSamePlace = ({ folder: a }: Pick<CallFacts, 'folder'>, { folder: b }: Pick<CallFacts, 'folder'>): boolean =>
  a.path === b.path && a.dev === b.dev && a.ino === b.ino
