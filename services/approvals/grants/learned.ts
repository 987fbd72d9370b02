import type { CallFacts, Grant, LearnedPlace } from '../../contracts/grant-record.ts'
import type { ShownPlace, Tool } from '../../contracts/tool.ts'
import { fileIn, isNothing } from '../../tools/index.ts'
import { extensionOf, isCovered, isObeyed } from './file-place.ts'
import { scopeText } from './grant-facts.ts'

/**
 * What is at the paths that a call would change. `others` are the paths with something that the task did not make or that others have
 * changed since.
 */
export interface Found {
  shown: readonly ShownPlace[]
  others: readonly string[]
}

/** What an approved call teaches the later runs of its task. */
export type Lesson = Pick<Grant, 'scope' | 'text' | 'meets'>

/**
 * Returns what an approved call teaches; undefined if an approval can cover only one call, or if it is unknown what was at the paths that
 * the call changed. `known` are the grants of the task. Writing or editing one file teaches the same file with any content. The second new
 * file of one kind in one folder teaches further new files there. Any other call, also for a file that programs execute or obey, teaches
 * the same call only.
 */
export function lessonOf (
  tool: Tool | undefined,
  facts: CallFacts,
  found: Found | undefined,
  known: readonly Grant[]
): Lesson | undefined {
  if (typeof tool?.policy.permission === 'object') return undefined
  const meets = tool?.effects?.files === undefined ? undefined : metBy(found)
  if (tool?.effects?.files !== undefined && meets === undefined) return undefined
  const scope = learnedScope(tool, facts, found, known)
  return { scope, text: learnedText(scope, facts, meets), ...(meets && { meets }) }
}

function metBy (found: Found | undefined): LearnedPlace[] | undefined {
  if (found === undefined || found.shown.length === 0) return undefined
  return found.shown.map(({ path, state }) => ({
    path,
    ...(isNothing(state) && { isNew: true as const }),
    ...(found.others.includes(path) && { others: true as const })
  }))
}

function learnedScope (
  tool: Tool | undefined,
  { toolName, places = [] }: CallFacts,
  found: Found | undefined,
  known: readonly Grant[]
): Lesson['scope'] {
  const [place] = places
  // With other content, a file that programs obey has another effect.
  if (tool?.effects?.proves !== 'file' || places.length !== 1 || isObeyed(place) || found!.shown.some(isProgram)) return 'exact'
  const isNeighbour = ({ toolName: name, scope, places: [other] = [], meets = [] }: Grant) =>
    name === toolName && scope === 'file' && meets.some(({ isNew }) => isNew) && other.folder === place.folder &&
    extensionOf(other) === extensionOf(place) && other.name.toLowerCase() !== place.name.toLowerCase()
  const isNew = found!.shown.every(({ state }) => isNothing(state))
  return isNew && isCovered(place.folder, place) && known.some(isNeighbour) ? 'beside' : 'file'
}

const isProgram = ({ state }: ShownPlace): boolean => ((fileIn(state)?.mode ?? 0) & 0o111) !== 0

/**
 * Whether what is at the paths of a call meets the conditions of a learned grant that covers the call. At each path there must be nothing,
 * or a file that the task made and nobody has changed since. If approved runs changed a file of others at a path, anything can be there.
 * `found` is undefined for calls whose changes are unknown.
 */
export function meetsPlaces ({ scope, meets }: Pick<Grant, 'scope' | 'meets'>, found: Found | undefined): boolean {
  if (meets === undefined || found === undefined) return meets === undefined && found === undefined
  const { shown, others } = found
  if (scope !== 'exact' && shown.some(isProgram)) return false
  if (scope === 'beside') return shown.length > 0 && others.length === 0
  return shown.length === meets.length && shown.every(({ path }, at) => path === meets[at].path) &&
    others.every((path) => meets.some((place) => place.path === path && place.others))
}

/** Merges the allowed paths of two lessons (what approved runs taught) about the same paths: what either lesson allows is allowed. */
export const joinPlaces = (before: LearnedPlace[] | undefined, now: LearnedPlace[]): LearnedPlace[] =>
  now.map((place, at) => ({ ...before?.[at]?.path === place.path && before[at], ...place }))

const LEFT = 'this task made and nobody has changed since'

/** Describes in words what a learned grant covers. */
export function learnedText (scope: Lesson['scope'], facts: CallFacts, meets: readonly LearnedPlace[] | undefined): string {
  const text = scopeText(scope, facts)
  if (meets === undefined) return text
  if (scope === 'beside') return `${text}, and again of those that ${LEFT}`
  const others = meets.filter((place) => place.others)
  if (others.length === meets.length) return `${text}, whatever is there then`
  const elsewhere = `where there is nothing, or what ${LEFT}`
  if (others.length === 0) return `${text}, ${elsewhere}`
  const named = (places: readonly LearnedPlace[]) => places.map(({ path }) => JSON.stringify(path)).join(' and ')
  return `${text}, whatever ${named(others)} is then, and at ${named(meets.filter((place) => !place.others))} ${elsewhere}`
}
