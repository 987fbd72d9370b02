import type { Tool } from '../../contracts/tool.ts'
import { extensionOf, isProtected } from './file-place.ts'
import type { FilePlace } from '../../contracts/approval-record.ts'
import type { CallFacts, Grant } from '../../contracts/grant-record.ts'

/**
 * Returns the scope that an approved call teaches: of tools for files the same file with any content, or its folder and extension
 * once approved runs wrote another name in it; of other tools the same input in the same folder.
 */
export function learnedScope (tool: Tool | undefined, facts: CallFacts, known: readonly Grant[]): Grant['scope'] {
  if (tool?.widestScope !== 'folder' || facts.places === undefined) return 'exact'
  const [place] = facts.places
  const isNeighbour = (other: FilePlace) =>
    other.folder === place.folder && extensionOf(other) === extensionOf(place) && other.name !== place.name
  const isAlike = ({ toolName, scope, places = [] }: Grant) =>
    toolName === facts.toolName && scope === 'file' && places.length === 1 && isNeighbour(places[0])
  const isFolder = facts.places.length === 1 && !isProtected(place) && known.some(isAlike)
  return isFolder ? 'folder' : 'file'
}
