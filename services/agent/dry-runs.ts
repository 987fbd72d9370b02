import type { AcceptedSheet, Sheet, SheetAnswer } from '../../schemas/sheets.ts'
import type { Rehearsed as Port } from '../contracts/sheet-record.ts'
import { isId, newId } from '../lib/ids.ts'
import { createKeyedLock } from '../lib/keyed-lock.ts'
import {
  acceptLines,
  type ActiveRun,
  NoRehearsal,
  putRun,
  type Rehearsed,
  sheetView,
  type ThreadRun,
  withLine,
  withRunOptions
} from '../runs/index.ts'
import type { AgentDeps } from './agent-deps.ts'

/**
 * Rehearsals of conversations (`dryRun` of POST /run): runs that work on a copy of the folder and reach nothing else. The thread and the
 * state of the conversation are not changed by them. Lines of a sheet that a person accepts become grants of the conversation.
 */
export function createDryRuns (deps: Pick<AgentDeps, 'runs' | 'grants' | 'registry' | 'host' | 'config' | 'store' | 'clock' | 'usage'>) {
  const { runs, grants } = deps
  const locked = createKeyedLock()

  async function find (runId: string): Promise<Rehearsed<ThreadRun>> {
    const run = isId(runId) ? await runs.get<ThreadRun>(runId) : undefined
    if (run?.threadId === undefined || run.sheet === undefined) throw new NoRehearsal(runId)
    return { ...run, sheet: run.sheet }
  }

  const toolsOf = ({ options }: ThreadRun) => withRunOptions(deps as AgentDeps, options).host

  return {
    /** Returns the sheet of a rehearsal. Throws NoRehearsal (404). */
    async sheet (runId: string): Promise<Sheet> {
      const run = await find(runId)
      return sheetView({ run, sheet: run.sheet }, toolsOf(run))
    },

    /** Makes grants of the conversation from the lines that a person accepts, see `acceptLines`. Throws NoRehearsal (404). */
    accept: ({ sheet: runId, lines }: SheetAnswer): Promise<AcceptedSheet> =>
      locked(runId, async () => {
        const run = await find(runId)
        return acceptLines<ThreadRun>(run, lines, { threadId: run.threadId }, {
          grants,
          tools: toolsOf(run),
          events: () => runs.events('thread', runId),
          put: (accepted) => [putRun(accepted)]
        })
      })
  }
}

/** Returns the sheet to which the engine adds the lines of an active rehearsal. It is stored with the next write of the run. */
export function dryRun ({ run }: ActiveRun): Port {
  return {
    cwd: run.record.sheet!.cwd,
    isOnCopy: run.record.options?.workspace === 'copy',
    note (line) {
      const { sheet, steps } = run.record
      run.record = { ...run.record, sheet: { ...sheet!, lines: withLine(sheet!.lines, line, steps) } }
    }
  }
}

/** Begins a run in its own copy of the folder. Throws as `Copies.openOwn` does (409). */
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
