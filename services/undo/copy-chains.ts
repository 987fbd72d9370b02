import { join } from 'node:path'
import type { PathPolicy } from '../tools/index.ts'
import type { Chain } from './plan-undo.ts'
import { inBatches, lookAt } from './survey.ts'
import { isSame, type Place } from './undo-entry.ts'

/**
 * Returns what has to be done to a folder so that it is as its copy at the paths, which are relative to both. A path that is not as it
 * was copied is left alone unless it is as in the copy.
 */
export async function chainsOfCopy (
  differences: ReadonlyArray<{ path: string, isAsCopied: boolean }>,
  { folder, real, paths }: { folder: string, real: string, paths: Pick<PathPolicy, 'owns'> }
): Promise<Chain[]> {
  return inBatches(differences, async ({ path, isAsCopied }): Promise<Chain> => {
    const from = join(folder, path)
    const to = join(real, path)
    const before = await lookAt(from, undefined, { paths })
    const left = isAsCopied ? await lookAt(to, undefined, { paths }).catch((): Place | undefined => undefined) : undefined
    return {
      ...{ path: to, cwd: real, left, before, isBroken: false, isParent: false, isShared: false },
      isOfModes: isSame(left, before),
      source: { id: '', from, ...before?.kind === 'other' && { notKept: 'gone' as const } }
    }
  })
}
