import type { Call } from '../../contracts/call.ts'
import type { WorkFolder } from '../../contracts/tool.ts'
import { within } from '../../tools/index.ts'
import type { CallPorts } from './call-ports.ts'

/** A call that changes nothing but the copy of a folder, and the working folder of its box, if it is a command. */
export interface CopiedCall {
  /** Real path of the copy. */
  copy: string
  confinedTo?: WorkFolder
}

/** Finds out whether a call changes nothing but the copy that its run works in. */
export async function copiedCall (
  { toolName: name, input }: Call,
  { tools, run: { cwd, signal } }: Pick<CallPorts, 'tools' | 'run'>
): Promise<CopiedCall | undefined> {
  const copy = tools.copyAt(cwd)?.folder
  const tool = tools.find(name)
  if (copy === undefined || (tool?.willChange === undefined && !tool?.isCommand)) return undefined
  const folder = await tools.folders.of(name, input, cwd)
  if (folder === undefined) return undefined
  if (tool.isCommand) {
    const boundary = await tools.boundary({ name, input, cwd, folder })
    return boundary?.is === 'confined' && within(boundary.folder.path, copy) ? { copy, confinedTo: boundary.folder } : undefined
  }
  const seen = await tools.foresee({ name, input, cwd, folder, signal })
  // The tool refuses the call, and says why.
  if (seen?.refused !== undefined) return { copy }
  return seen?.places.every(({ path }) => within(path, copy)) ? { copy } : undefined
}
