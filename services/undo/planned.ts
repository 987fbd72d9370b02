import { relative } from 'node:path'
import type { PathChange } from '../../schemas/undo.ts'
import { unifiedDiff } from '../tools/index.ts'
import type { KeepParts } from './keep-call.ts'
import type { Chain } from './plan-undo.ts'
import { keptText, presentText, shapeOf } from './run-changes.ts'
import { inBatches } from './survey.ts'
import { isSame } from './undo-entry.ts'

/** Changes that a plan shows, and differences among them. */
const MOST_SHOWN = 200
const MOST_DIFFS = 50

/** Returns what steps would do to their paths, as the changes of a run are shown. A move is one change. */
export async function plannedChanges (steps: readonly Chain[], parts: Pick<KeepParts, 'paths' | 'folder'>): Promise<PathChange[]> {
  const named = steps.filter(({ isParent }) => !isParent)
  const going = named.filter(({ before, left }) => before === null && left?.kind === 'file' && left.size > 0)
  const sources = new Map<Chain, Chain>()
  for (const step of named) {
    if (step.left !== null || step.before?.kind !== 'file') continue
    const source = going.find((each) => isSame(each.left, step.before))
    if (source === undefined) continue
    sources.set(step, source)
    going.splice(going.indexOf(source), 1)
  }
  const moved = new Set(sources.values())
  const shown = named.filter((step) => !moved.has(step)).slice(0, MOST_SHOWN)
  const compared = new Set(shown.slice(0, MOST_DIFFS))
  return inBatches(shown, async (step): Promise<PathChange> => {
    const { path, left, before } = step
    const from = sources.get(step)?.path
    const diff = from === undefined && compared.has(step) ? await diffOf(step, parts) : undefined
    return { path, ...shapeOf(left, before), ...from !== undefined && { kind: 'moved', from }, ...diff !== undefined && { diff } }
  })
}

async function diffOf (
  { path, cwd, left, before, source }: Chain,
  parts: Pick<KeepParts, 'paths' | 'folder'>
): Promise<string | undefined> {
  if (isSame(left, before)) return undefined
  const old = await presentText(path, left, { ...parts, id: '' })
  const next = source?.from === undefined
    ? await keptText(before, source?.copy, { ...parts, id: source?.id ?? '', key: source?.key })
    : await presentText(source.from, before, { ...parts, id: '' })
  if (old === undefined || next === undefined || (old === null && next === null)) return undefined
  return unifiedDiff(relative(cwd, path), old, next ?? '')
}
