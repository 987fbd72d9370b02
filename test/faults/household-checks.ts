import type { Test } from 'tap'
import { simulateHousehold, tally } from './household.ts'

const ended = (runs: Array<{ status: string, failure?: { reason: string } }>) =>
  tally(runs.map(({ status, failure }) => [failure === undefined ? status : `${status}: ${failure.reason}`, 1]))

/** Lives through the twelve weeks and checks what became of every planned time, what was asked, and what the digests tell. */
export async function checkHousehold (t: Test, options: { watchEvery: number }) {
  const { tasks, digests, files, crashes } = await simulateHousehold(t, options)
  t.equal(crashes, 11, 'each week but the one in which the laptop is closed')
  for (const [name, { due, fates, runs, asked }] of Object.entries(tasks)) {
    t.comment(`${name}: ${due} due ${JSON.stringify(fates)}, runs ${JSON.stringify(ended(runs))}, asked ${JSON.stringify(asked)}`)
    t.equal(Object.values(fates).reduce((sum, each) => sum + each, 0), due, `${name}: every planned time has one fate`)
    t.same(runs.filter(({ status }) => status === 'running' || status === 'queued' || status === 'interrupted'), [], `${name}: all ended`)
  }
  const { reader, writer, watcher, weekly, monthly, quarterly, reminder, careful } = tasks
  const dueTimes = Object.fromEntries(Object.entries(tasks).map(([name, { due }]) => [name, due]))
  t.match(dueTimes, { reader: 84, writer: 84, weekly: 12, monthly: 2, quarterly: 1, reminder: 1, careful: 12 })

  // Only what changes something asks; what has been approved three times asks no more.
  for (const task of [reader, watcher, monthly, quarterly, reminder]) t.same(task.asked, {})
  t.ok(writer.asked.tool <= 4 && writer.asked.result === 3, 'the writer asks for three runs, one of them twice: nobody answered a week')
  t.same(weekly.asked, { tool: 3, result: 3 })
  t.equal(careful.asked.tool, careful.runs.length, 'each run, as its mode says')

  // The laptop is closed for 13 days: what is older than the grace is missed, and nothing else.
  t.same(reader.fates, { run: 74, missed: 10 })
  t.same(ended(reader.runs), { completed: 68, 'failed: goal': 5, 'failed: provider': 1 })
  t.match(reader.health, { state: 'ok', failures: 0 })
  t.same(writer.fates, { run: 66, missed: 10, 'skipped: waiting': 8 }, 'a question that waits a week holds its own task up, and says so')
  t.same(ended(writer.runs), { completed: 64, 'failed: provider': 1, rejected: 1 })
  t.same(ended(weekly.runs), { completed: 11 }, 'an hour without a provider is made up for')
  t.same(ended(monthly.runs), { completed: 2 })
  t.match([quarterly.runs, reminder.runs], [[{ trigger: 'catch_up' }], [{ trigger: 'catch_up' }]], 'made up for, two days late and five')
  t.equal(reminder.status, 'completed')
  t.same(Object.values(tasks).filter(({ status }) => status !== 'scheduled' && status !== 'completed'), [], 'nothing stopped for good')
  t.ok(files.filter((name) => name.startsWith('log/')).length >= 60)

  // The one run of the quarter that found something stands first among those of its task, with the others as a number.
  const watched = digests.flatMap(({ tasks }) => tasks.items.filter(({ goal }) => goal.startsWith('Watch')))
  const told = watched.flatMap(({ runs }) => runs.items.flatMap(({ output }) => output ?? []))
  t.same(told.filter((output) => output.includes('price')), ['The price changed: it is 9 now.'])
  t.ok(watched.reduce((sum, { nothingToDo }) => sum + nothingToDo, 0) >= 30, 'all others are a number')
}
