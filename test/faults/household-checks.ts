import type { Test } from 'tap'
import { simulateHousehold, tally, type Timeline } from './household.ts'

/** Runs of a task that are kept. */
const MOST_KEPT = 1_000

const ended = (runs: Array<{ status: string, failure?: { reason: string } }>) =>
  tally(runs.map(({ status, failure }) => [failure === undefined ? status : `${status}: ${failure.reason}`, 1]))

/** The days of a daily task at about 06:00 UTC whose times are over a day old when the laptop is opened again. */
function missedDays ({ closed }: Timeline): number {
  const hours = closed.map(([from, to]) => Math.max(Math.ceil(to - 1 - 1 / 24) - Math.ceil(from - 1 / 24), 0))
  return hours.reduce((sum, each) => sum + each, 0)
}

/** Lives through the weeks, and checks what became of every planned time, what was asked, and what the digests tell. */
export async function checkHousehold (t: Test, timeline: Timeline) {
  const { tasks, digests, files, crashes } = await simulateHousehold(t, timeline)
  const days = timeline.weeks * 7
  t.ok(crashes >= timeline.weeks - 1, 'killed each week but while the laptop is closed')
  for (const [name, { due, fates, runs, asked }] of Object.entries(tasks)) {
    t.comment(`${name}: ${due} due ${JSON.stringify(fates)}, runs ${JSON.stringify(ended(runs))}, asked ${JSON.stringify(asked)}`)
    t.equal(Object.values(fates).reduce((sum, each) => sum + each, 0), due, `${name}: every planned time has one fate`)
    t.same(runs.filter(({ status }) => status === 'running' || status === 'queued' || status === 'interrupted'), [], `${name}: all ended`)
  }
  for (const { text } of digests) t.comment(text)
  const { reader, writer, watcher, weekly, monthly, quarterly, reminder, careful } = tasks
  t.same([reader, writer, weekly, quarterly, reminder].map(({ due }) => due), [days, days, timeline.weeks, 1, 1])

  // Only what changes something asks, and what has been approved three times asks no more.
  for (const task of [reader, watcher, monthly, quarterly, reminder]) t.same(task.asked, {})
  for (const { asked } of [writer, weekly]) {
    t.equal(asked.result, 3)
    t.ok(asked.tool <= 4, 'three, and one that nobody answered for a week')
  }
  t.equal(careful.asked.tool, careful.runs.length, 'each run, as its mode says')

  // What is missed is older than its grace: nothing else kept a task from running, neither an outage nor what waits for a person.
  const missed = missedDays(timeline)
  t.same(reader.fates, { run: days - missed, missed })
  t.same(ended(reader.runs), { completed: days - missed - 6, 'failed: goal': 5, 'failed: provider': 1 }, 'an outage of a day ends one run')
  t.match(reader.health, { state: 'ok', failures: 0 })
  const held = writer.fates['skipped: waiting']
  t.same(writer.fates, { run: days - missed - held, missed, 'skipped: waiting': held })
  t.ok(held > 0 && held <= 9, 'a question that waits holds up its own task, for a week at most, and says so')
  t.same(ended(writer.runs), { completed: writer.runs.length - 2, 'failed: provider': 1, rejected: 1 })
  t.same(ended(weekly.runs), { completed: weekly.runs.length }, 'an hour without a provider is made up for')
  t.same(ended(monthly.runs), { completed: monthly.due })
  t.match([quarterly.runs, reminder.runs], [[{ trigger: 'catch_up' }], [{ trigger: 'catch_up' }]], 'made up for, days later')
  t.equal(reminder.status, 'completed')
  t.same(Object.values(tasks).filter(({ status }) => status !== 'scheduled' && status !== 'completed'), [], 'nothing stopped for good')
  const logs = files.filter((name) => name.startsWith('log/')).length
  t.ok(logs >= ended(writer.runs).completed - timeline.closed.length, 'a file a day; a day with a run that makes up has two in one')

  // The one run that found something is shown, and all others are a number.
  const watched = digests.flatMap(({ tasks }) => tasks.items.filter(({ goal }) => goal.startsWith('Watch')))
  const told = watched.flatMap(({ runs }) => runs.items.flatMap(({ output }) => output ?? []))
  t.same(told.filter((output) => output.includes('price')), ['The price changed: it is 9 now.'])
  const idle = watched.reduce((sum, { nothingToDo }) => sum + nothingToDo, 0)
  if (watcher.runs.length < MOST_KEPT) t.equal(idle, ended(watcher.runs).completed - 1)
  // The newest runs alone are kept; their numbers go on.
  const digested = watched.reduce((sum, { nothingToDo, runs: { items, more } }) => sum + nothingToDo + items.length + more, 0)
  t.equal(digested, Math.max(...watcher.runs.map(({ runNumber }) => runNumber)), 'each run is in one digest')
}
