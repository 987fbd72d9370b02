import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const REPORTS = ['No news today.', 'Keine neuen Scans, nichts umbenannt.', '新しい請求書はありません。', 'Nada nuevo: no se ha enviado ningún aviso.']
/** A look that finds nothing, by a command that ends with code 1, and a file that is not there. */
const LOOKS = [
  { toolName: 'runCommand', input: { command: 'grep -c invoice inbox.txt' } },
  { toolName: 'readFile', input: { path: 'gone.md' } }
]

/** Lets a schedule begin so many runs that have nothing to do and say so: each is completed, and the schedule goes on. */
export async function findsNothing (t: Test, runs: number) {
  const clock = fakeClock()
  const { app } = await withGateway(
    t,
    ({ body: { prompt } }, nth) => prompt.at(-1).role === 'tool' ? { text: REPORTS[nth % REPORTS.length] } : { toolCalls: LOOKS },
    {
      clock,
      structured: (name) => ({
        object: name === 'evaluation'
          ? { outcome: 'nothing_to_do', claims: [], satisfied: true, score: 0.9, issues: ['One file could not be read.'] }
          : { findings: [], decisions: [] }
      })
    }
  )
  writeFileSync(`${app.cwd}/inbox.txt`, 'nothing of that kind')
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('file new invoices', {
    plan: { phases: [{ description: 'Look for invoices' }] },
    taskType: 'recurring',
    schedule: { interval: '1h', timezone: 'UTC' }
  })
  await tasks.post(`/${id}/start`)
  for (let n = 1; n <= runs; n++) {
    // Not an hour: the clock has gone on during the last run, and must not go on alone during this one.
    await clock.advance((await tasks.get(`/${id}`)).nextRunAt - clock.now())
    // The end of a command is polled by the clock.
    const pump = setInterval(() => void clock.advance(20), 10)
    await events.ended(n).finally(() => clearInterval(pump))
  }
  t.equal(events.of('task:error').length, 0)
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', totalRuns: runs, successfulRuns: runs })
  t.equal(events.of('task:eval').length, runs, 'no run is refined')
  t.match((await tasks.get('/digest?since=0')).tasks.items, [{ nothingToDo: runs, runs: { items: [] } }])
}
