import { lstat } from 'node:fs/promises'
import { type Changes, sourceOf } from './chains.ts'
import { isSame, modeOf } from './places.ts'
import { type Chain, isModeAlone, type Skipped, usedSince } from './plan-restore.ts'
import { completeFolders, isIndependent, restoreStep, type RestoreParts } from './restore-step.ts'
import { inBatches } from './survey.ts'
import { type Unit, wasUsed } from './whole-units.ts'

interface StepsDone {
  restored: Chain[]
  refused: Skipped[]
  /** The error that ended the work, such as a full disk. */
  failure?: unknown
}

type Parts = RestoreParts & {
  /** True if a unit (git directory or database) that somebody has used since the run's last call is left unchanged. */
  isChecked: boolean
}

/** Returns the steps that would change the permissions of files with further hard links that do not get the same permissions. */
async function linkedFiles (steps: readonly Chain[]): Promise<Set<Chain>> {
  const found = await inBatches(steps.filter(isModeAlone), async (step) => ({ step, stat: await lstat(step.path).catch(() => undefined) }))
  const files = found.filter(({ stat }) => stat?.isFile() && stat.nlink > 1)
  const groups = Map.groupBy(files, ({ step, stat }) => `${stat!.dev}:${stat!.ino}:${modeOf(step.before)}`)
  return new Set([...groups.values()].flatMap((group) => group[0].stat!.nlink > group.length ? group.map(({ step }) => step) : []))
}

/** Executes the steps of a plan, in their order. If one step of a unit fails, the unit is put back to its `kept` state before the steps. */
export async function restore (
  steps: Chain[],
  kept: Pick<Changes, 'items' | 'contents'>,
  { isChecked, ...parts }: Parts
): Promise<StepsDone> {
  const found = new Map(kept.items.map((item) => [item.path, item]))
  const linked = await linkedFiles(steps)
  const done: StepsDone = { restored: [], refused: [] }
  const failed = new Map<Unit, Skipped>()

  async function takeBack (step: Chain): Promise<void> {
    const { unit, path } = step
    if (unit !== undefined && failed.has(unit)) return
    const { before, notKept } = found.get(path)!
    const ofModes = isModeAlone(step)
    const skipped: Skipped | undefined = notKept !== undefined && !ofModes
      ? { path, reason: notKept }
      : ofModes || isSame(before, step.left)
        ? await restoreStep(step, { ...parts, isLinked: linked.has(step) })
        : { path, reason: 'changed_since' }
    if (skipped === undefined) done.restored.push(step)
    else if (unit !== undefined) failed.set(unit, { ...skipped, path: unit.path })
    else if (!step.isParent) done.refused.push(skipped)
  }

  /** Puts back what was restored of the units that failed, the last step first. */
  async function putBack (): Promise<void> {
    for (const step of done.restored.filter(({ unit }) => unit !== undefined && failed.has(unit)).reverse()) {
      const item = found.get(step.path)!
      const skipped = await restoreStep({ ...step, left: step.before, before: item.before, source: sourceOf(item, kept) }, parts)
      if (skipped === undefined) done.restored.splice(done.restored.indexOf(step), 1)
    }
    done.refused.push(...failed.values())
  }

  try {
    for (const unit of isChecked ? new Set(steps.flatMap(({ unit }) => unit ?? [])) : []) {
      if (await wasUsed(unit, parts.paths)) failed.set(unit, { path: unit.path, reason: usedSince(unit) })
    }
    for (let at = 0, next = 0; at < steps.length; at = next) {
      next = at + 1
      while (next < steps.length && isIndependent(steps[at]) && isIndependent(steps[next])) next++
      await inBatches(steps.slice(at, next), takeBack)
    }
    await putBack()
    for (const step of await completeFolders(done.restored)) {
      done.restored.splice(done.restored.indexOf(step), 1)
      done.refused.push({ path: step.path, reason: 'not_allowed' })
    }
  } catch (error) {
    done.failure = error
  }
  return done
}
