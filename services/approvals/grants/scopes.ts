import { isDeepStrictEqual } from 'node:util'
import type { Tool } from '../../contracts/tool.ts'
import type { OfferedScope, Scope } from '../../../schemas/grants.ts'
import { extensionOf, isBelow, isProtected, pathOf } from './file-place.ts'
import type { CallFacts, Grant } from '../../contracts/grant-record.ts'

const INPUT_SHOWN = 300
const quoted = (value: unknown) => {
  const text = JSON.stringify(value)
  return text.length > INPUT_SHOWN ? `${text.slice(0, INPUT_SHOWN)}…` : text
}
const filesIn = ({ places = [] }: CallFacts) => {
  const extension = extensionOf(places[0])
  return `${extension === '' ? 'files without an extension' : `*${extension} files`} in or below ${quoted(places[0].folder)}`
}

/** Returns what a grant of that scope for a call covers, in words. */
export function scopeText (scope: Grant['scope'], facts: CallFacts): string {
  const { toolName, input, folder: { path } } = facts
  switch (scope) {
    case 'exact':
      return `${toolName} with exactly ${quoted(input)}, in ${quoted(path)}`
    case 'file':
      return `${toolName} of ${facts.places?.map((place) => quoted(pathOf(place))).join(' and ')}, with any content`
    case 'folder':
      return `${toolName} of ${filesIn(facts)}`
    case 'tool':
      return `every call of ${toolName} as it is described now, with any input`
  }
}

/** Whether one folder and extension hold all files of the call, none of them protected. */
const fitsFolder = ({ places }: CallFacts): boolean =>
  places !== undefined && places.every((place) =>
    !isProtected(place) && extensionOf(place) === extensionOf(places[0]) && isBelow(places[0].folder, place))

/**
 * Returns the scopes that an approval of the call may have, the narrowest first. Without a token a command has `once` alone: every
 * program of the computer could answer the request.
 */
export function offeredScopes (tool: Tool | undefined, facts: CallFacts, hasToken: boolean): OfferedScope[] {
  const once: OfferedScope = { scope: 'once', text: 'This call alone.' }
  if (tool === undefined || (tool.isCommand && !hasToken)) return [once]
  const wider: Array<Exclude<Scope, 'once'>> = ['exact']
  if (fitsFolder(facts)) wider.push('folder')
  if (tool.widestScope === 'tool') wider.push('tool')
  return [once, ...wider.map((scope) => ({ scope, text: `Also later, unasked: ${scopeText(scope, facts)}.` }))]
}

/** Whether the grant covers a call with these facts, apart from how long it lasts. */
export function covers (grant: Grant, facts: CallFacts): boolean {
  if (grant.toolName !== facts.toolName || grant.identity !== facts.identity) return false
  switch (grant.scope) {
    case 'tool':
      return true
    case 'exact':
      return grant.digest === facts.digest && isSamePlace(grant, facts) && isDeepStrictEqual(grant.places, facts.places)
    case 'file':
      return grant.places !== undefined && facts.places !== undefined && grant.places.length === facts.places.length &&
        facts.places.every((place, at) => pathOf(place) === pathOf(grant.places![at]))
    case 'folder':
      return grant.places !== undefined && facts.places !== undefined && facts.places.every((place) =>
        !isProtected(place) && extensionOf(place) === extensionOf(grant.places![0]) && isBelow(grant.places![0].folder, place))
  }
}

const isSamePlace = ({ folder: a }: Pick<CallFacts, 'folder'>, { folder: b }: CallFacts): boolean =>
  a.path === b.path && a.dev === b.dev && a.ino === b.ino
