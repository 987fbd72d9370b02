import { within } from '../../../tools/index.ts'
import type { Call } from '../../../contracts/tool.ts'
import type { CallPolicy, CheckedCall, StepSoFar } from '../call-policy.ts'

/** Withdraws the concerns (reasons to ask a person) so far if a call changes only the copy in which its run works. */
export const workingCopy: CallPolicy = {
  name: 'workingCopy',
  async decide (checked, step, concerns) {
    if (concerns.length === 0 && step.rehearsal === undefined) return concerns
    checked.copied ??= await findCopied(checked.call, step)
    if (checked.copied === undefined) return concerns
    checked.takenBack = concerns
    return []
  }
}

async function findCopied (
  { toolName: name, input }: Call,
  { tools, run: { cwd, signal } }: StepSoFar
): Promise<CheckedCall['copied']> {
  const copy = tools.copyAt(cwd)?.folder
  const tool = tools.find(name)
  if (copy === undefined || tool === undefined || tool.execute.by !== undefined) return undefined
  if (tool.effects?.files === undefined && tool.effects?.command === undefined) return undefined
  const folder = await tools.folders.of(name, input, cwd)
  if (folder === undefined) return undefined
  if (tool.effects.command !== undefined) {
    const boundary = await tools.boundary({ name, input, cwd, folder })
    return boundary?.is === 'confined' && within(boundary.folder.path, copy) ? { copy, confinedTo: boundary.folder } : undefined
  }
  const seen = await tools.foresee({ name, input, cwd, folder, signal })
  // The call is allowed to run: the tool itself will refuse the call and give the reason.
  if (seen?.refused !== undefined) return { copy }
  return seen?.places.every(({ path }) => within(path, copy)) ? { copy } : undefined
}
