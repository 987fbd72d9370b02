import { basename, dirname } from 'node:path'
import type { Tool, WorkFolder } from '../../contracts/tool.ts'
import { inputDigest } from '../input-digest.ts'
import type { FilePlace } from '../../contracts/approval-record.ts'
import type { CallFacts } from '../../contracts/grant-record.ts'

/** What grants need of the tool host. */
export interface GrantTools {
  find: (name: string) => Tool | undefined
  identity: (name: string) => string | undefined
}

/** Returns the facts of a call in the folder that it works in. Relative paths of its input start from there. */
export async function factsOf (
  tools: GrantTools,
  { toolName, input }: Pick<CallFacts, 'toolName' | 'input'>,
  folder: WorkFolder
): Promise<CallFacts> {
  const tool = tools.find(toolName)
  const identity = tools.identity(toolName)
  const places = tool?.widestScope === 'folder' ? await placesOf(tool, input, folder) : undefined
  return {
    toolName,
    input,
    digest: inputDigest(input),
    ...(identity !== undefined && { identity }),
    folder,
    ...(places && { places })
  }
}

/** Returns where the files lie that the tool would change; undefined for a call that removes whole folders, or that the tool refuses. */
async function placesOf (tool: Tool, input: unknown, { path: cwd }: WorkFolder): Promise<FilePlace[] | undefined> {
  const changed = await tool.willChange?.(input, { cwd, givenCwd: cwd }).catch(() => undefined)
  if (changed?.some(({ withContents }) => withContents)) return undefined
  return changed?.map(({ path }) => ({ folder: dirname(path), name: basename(path) }))
}
