import type { Migration, Op } from './store-types.ts'

// Schema 2 kept the limits of a task's runs as `budget`; schema 3 keeps them in `options.budget`, beside other options of the runs.
// The shapes and values below are those of the two schemas; they do not follow later changes of the code.

interface OldTask {
  budget?: { maxTokensPerRun?: number, maxMinutesPerRun?: number }
  /** Absent in schema 2. */
  options?: object
}

const DEFAULT_MINUTES = 30
/** Tasks in one batch. */
const BATCH = 100

export const budgetToOptions: Migration = {
  to: 3,
  async * migrate (data) {
    const ops: Op[] = []
    for await (const [key, { budget = {}, ...task }] of data.list<OldTask>('task/')) {
      if (task.options !== undefined) continue
      const { maxTokensPerRun: tokens, maxMinutesPerRun: minutes = DEFAULT_MINUTES } = budget
      ops.push({ type: 'put', key, value: { ...task, options: { budget: { ...(tokens !== undefined && { tokens }), minutes } } } })
      if (ops.length >= BATCH) yield ops.splice(0)
    }
    yield ops
  }
}
