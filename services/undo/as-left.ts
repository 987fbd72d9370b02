import type { PathPolicy } from '../tools/index.ts'
import { chainsOf } from './plan-undo.ts'
import { uncoveredCalls } from './run-changes.ts'
import { inBatches, lookAt } from './survey.ts'
import { type Entry, isSame } from './undo-entry.ts'

/** What a run has left. */
export interface AsLeft {
  /** Real paths that are as the run left them. */
  paths: Set<string>
  /** The run made calls of which not all changes are known. */
  isUncovered: boolean
  /** Some of it is under way. */
  isOpen: boolean
}

/** Returns which of these real paths hold what a run, with these entries, has left there, or nothing where it deleted what was there. */
export async function pathsAsLeft (
  entries: Array<[id: string, entry: Entry]>,
  among: readonly string[],
  { paths }: { paths: PathPolicy }
): Promise<AsLeft> {
  const ended = entries.filter(([, entry]) => entry.ended)
  const chains = chainsOf(ended)
  const known = among.filter((path) => chains.has(path))
  const isLeft = await inBatches(known, async (path) => {
    const { left } = chains.get(path)!
    return isSame(await lookAt(path, left, { paths }).catch(() => undefined), left)
  })
  const isOpen = ended.length < entries.length
  return { paths: new Set(known.filter((_, at) => isLeft[at])), isUncovered: isOpen || uncoveredCalls(entries).length > 0, isOpen }
}
