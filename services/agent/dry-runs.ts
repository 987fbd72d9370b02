import type { Rehearsed } from '../contracts/sheet-record.ts'
import { newId } from '../lib/ids.ts'
import { type ActiveRun, withLine } from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'

/**
 * Returns the sheet (the list of the calls that the run would make) to which the engine adds the lines of an active rehearsal. The sheet is
 * stored with the next write of the run.
 */
export function dryRun ({ run }: ActiveRun): Rehearsed {
  return {
    cwd: run.record.sheet!.cwd,
    isOnCopy: run.record.options?.workspace === 'copy',
    note (line) {
      const { sheet, steps } = run.record
      run.record = { ...run.record, sheet: { ...sheet!, lines: withLine(sheet!.lines, line, steps) } }
    }
  }
}

/**
 * Begins a run in a copy of the folder that is made for this run only. If `begin` fails, the copy is removed. Throws what `Copies.openOwn`
 * throws (409).
 */
export async function onOwnCopy<T> (
  folder: string,
  { copies }: Pick<AgentDeps, 'copies'>,
  begin: (place: { runId: string, cwd: string }) => Promise<T>
): Promise<T> {
  const runId = newId()
  try {
    return await begin({ runId, cwd: await copies.openOwn(runId, folder) })
  } catch (error) {
    await copies.removeOwn(runId)
    throw error
  }
}
