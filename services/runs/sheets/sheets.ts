import type { AcceptedSheet, Sheet, SheetAnswer } from '../../../schemas/sheets.ts'
import { isId } from '../../lib/ids.ts'
import type { RunRecord } from '../run-record.ts'
import type { RunRepository } from '../run-repository.ts'

/** The sheets of the rehearsals of conversations, or of tasks. */
interface OwnSheets {
  sheet(runId: string): Promise<Sheet>
  accept(answer: SheetAnswer): Promise<AcceptedSheet>
}

export type Sheets = ReturnType<typeof createSheets>

/**
 * The sheets of all rehearsals, of tasks and of conversations. The operations throw NoRehearsal (404), and what those of the owners throw.
 */
export function createSheets ({ runs, ofTasks, ofThreads, shown }: {
  runs: Pick<RunRepository, 'get'>,
  ofTasks: OwnSheets,
  ofThreads: OwnSheets,
  /** Returns the value with the paths of existing copies replaced by those of the copied folders. */
  shown: <T>(value: T) => T
}) {
  const find = async (runId: string): Promise<RunRecord | undefined> => isId(runId) ? runs.get(runId) : undefined
  const ownOf = async (runId: string) => (await find(runId))?.threadId === undefined ? ofTasks : ofThreads

  return {
    /** Returns what a rehearsal has noted so far. */
    sheet: async (runId: string): Promise<Sheet> => shown(await (await ownOf(runId)).sheet(runId)),

    /** Makes grants of what a person accepts of a sheet. */
    accept: async (answer: SheetAnswer): Promise<AcceptedSheet> => (await ownOf(answer.sheet)).accept(answer),

    /**
     * Returns the value with the paths of a copy replaced by those of the copied folder. The copy is the one on which the run works, or on
     * which a rehearsal worked.
     */
    async shown<T> (runId: string, value: T): Promise<T> {
      const { cwd, sheet } = await find(runId) ?? {}
      if (cwd === undefined || sheet === undefined) return shown(value)
      const quoted = (path: string) => JSON.stringify(path).slice(1, -1)
      return shown(JSON.parse(JSON.stringify(value).replaceAll(quoted(cwd), () => quoted(sheet.cwd))))
    }
  }
}
