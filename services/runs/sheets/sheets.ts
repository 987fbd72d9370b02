import type { AcceptedSheet, Sheet, SheetAnswer } from '../../../schemas/sheets.ts'
import type { Grants } from '../../approvals/index.ts'
import { ownerOf } from '../../contracts/approval-record.ts'
import { isId } from '../../lib/ids.ts'
import { createKeyedLock } from '../../lib/keyed-lock.ts'
import type { ToolHost } from '../../tools/index.ts'
import { withRunTools } from '../options/with-run-options.ts'
import { isOver, type RunRecord, type TaskRun } from '../run-record.ts'
import { kindOf, putRun, type RunRepository } from '../run-repository.ts'
import { acceptLines, NoRehearsal, type Rehearsed, SheetVoid, sheetView } from './sheet-lines.ts'

export type Sheets = ReturnType<typeof createSheets>

/** The sheets of all rehearsals, of tasks and of conversations. */
export function createSheets ({ runs, grants, host, tasks, shown }: {
  runs: Pick<RunRepository, 'get' | 'events'>,
  grants: Pick<Grants, 'addAll' | 'views'>,
  host: ToolHost,
  tasks: {
    /** Returns why no line of a task's sheet can be accepted any more; undefined if lines can be accepted. */
    whyVoid(run: Rehearsed<TaskRun>): Promise<string | undefined>,
    /** Runs `work` while the task does not change. */
    locked<T>(taskId: string, work: () => Promise<T>): Promise<T>
  },
  /** Returns the value with the paths of existing copies replaced by the paths of the copied folders. */
  shown: <T>(value: T) => T
}) {
  const locked = createKeyedLock()
  const read = async (runId: string): Promise<RunRecord | undefined> => isId(runId) ? runs.get(runId) : undefined
  const toolsOf = ({ options }: RunRecord) => withRunTools(host, options)

  /** Returns a rehearsal, and why its sheet is void. Throws NoRehearsal (404). */
  async function find (runId: string): Promise<{ run: Rehearsed<RunRecord>, isVoid?: string }> {
    const run = await read(runId)
    if (run?.sheet === undefined) throw new NoRehearsal(runId)
    const rehearsed = { ...run, sheet: run.sheet }
    return { run: rehearsed, isVoid: rehearsed.taskId === undefined ? undefined : await tasks.whyVoid(rehearsed) }
  }

  return {
    /** Returns the sheet of a rehearsal, with the lines so far. Throws NoRehearsal (404). */
    async sheet (runId: string): Promise<Sheet> {
      const { run, isVoid } = await find(runId)
      return shown(sheetView({ run, sheet: run.sheet, isVoid }, toolsOf(run)))
    },

    /** Makes grants for the lines that a person accepts; see `acceptLines`. Throws NoRehearsal (404) and SheetVoid (409). */
    async accept ({ sheet: runId, lines }: SheetAnswer): Promise<AcceptedSheet> {
      const { run: { taskId } } = await find(runId)
      const accept = async () => {
        const { run, isVoid } = await find(runId)
        if (isVoid !== undefined && isOver(run)) throw new SheetVoid(isVoid)
        const events = () => runs.events(kindOf(run), runId)
        return acceptLines(run, lines, ownerOf(run), { grants, tools: toolsOf(run), events, put: (accepted) => [putRun(accepted)] })
      }
      return taskId === undefined ? locked(runId, accept) : tasks.locked(taskId, accept)
    },

    /**
     * Returns the value with the paths of a copy replaced by the paths of the copied folder. The copy is the one in which the run works, or
     * in which the rehearsal worked.
     */
    async shown<T> (runId: string, value: T): Promise<T> {
      const { cwd, sheet } = await read(runId) ?? {}
      if (cwd === undefined || sheet === undefined) return shown(value)
      const quoted = (path: string) => JSON.stringify(path).slice(1, -1)
      return shown(JSON.parse(JSON.stringify(value).replaceAll(quoted(cwd), () => quoted(sheet.cwd))))
    }
  }
}
