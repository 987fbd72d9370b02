import { chmodSync, mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { setTimeout as after } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { FiringList } from '../../schemas/triggers.ts'
import { build } from '../harness/helper.ts'
import { HOUR, scheduling, SECOND } from '../harness/schedules.ts'
import { tasksOf } from '../harness/tasks.ts'
import { prepareDirectory } from './dying-service.ts'
import { liveThroughTriggers } from './trigger-kill.ts'

t.test('killed at any write, the service neither loses nor doubles what fired', async (t) => {
  const prepared = await prepareDirectory(t, [{ text: 'done' }])
  const calm = await liveThroughTriggers(t, prepared, 'count')
  t.comment(`${calm.writes} writes`)
  for (let n = 0; n < calm.writes; n++) {
    for (const when of ['before', 'after']) {
      const { died, ofFirst, ofSecond, runs, totals } = await liveThroughTriggers(t, prepared, `${n} ${when}`)
      const name = `${when} write ${n} of ${calm.writes}`
      t.ok(died, name)
      t.match([ofFirst, ofSecond], [[{ fate: 'run', changed: 3 }], [{ fate: 'run', ends: [{ on: 'completed' }] }]], name)
      t.equal(ofFirst.length + ofSecond.length, 2, name)
      t.same([runs, totals], [['completed', 'completed'], [1, 1]], name)
    }
  }
})

/** A service under the real clock with a folder of so many files, and a task that watches it. */
async function watched (t: Test, count: number) {
  const app = await build(t)
  const folder = `${app.cwd}/many`
  mkdirSync(folder)
  for (let n = 0; n < count; n++) {
    if (n % 1_000 === 0) mkdirSync(`${folder}/${n / 1_000}`)
    writeFileSync(`${folder}/${Math.floor(n / 1_000)}/${n}`, '')
  }
  const tasks = await tasksOf(t, app)
  const begun = performance.now()
  const { id } = await tasks.create('system info', { triggers: [{ type: 'files', path: 'many' }], start: true })
  const until = async (isThere: (found: FiringList) => boolean): Promise<FiringList> => {
    for (;;) {
      const found = await tasks.get(`/${id}/firings`)
      if (isThere(found)) return found
      await after(20)
    }
  }
  return { app, folder, tasks, id, until, begun }
}

t.test('a folder of 100,000 files is not watched, says so, and holds up nothing', async (t) => {
  const { tasks, id, begun } = await watched(t, 100_000)
  let longest = 0
  let found: FiringList = await tasks.get(`/${id}/firings`)
  while (found.triggers[0].state === 'starting') {
    const sent = performance.now()
    found = await tasks.get(`/${id}/firings`)
    longest = Math.max(longest, performance.now() - sent)
  }
  t.match(found, { triggers: [{ state: 'too_large', text: /20000 files/ }], firings: [] })
  t.comment(`said after ${Math.round(performance.now() - begun)} ms; the slowest answer meanwhile took ${Math.round(longest)} ms`)
})

t.test('of 19,000 files a thousand change within a second: one firing; and the looks cost little', async (t) => {
  const { folder, until, begun, tasks, id } = await watched(t, 19_000)
  t.match(await until(({ triggers: [{ state }] }) => state === 'watching'), { triggers: [{ files: 19_000 }] })
  t.comment(`watched after ${Math.round(performance.now() - begun)} ms`)
  const changing = performance.now()
  for (let n = 0; n < 1_000; n++) writeFileSync(`${folder}/${n % 19}/${n * 19}`, 'changed')
  const changed = performance.now()
  const { firings } = await until((found) => found.firings.length > 0)
  t.comment(`1,000 changes in ${Math.round(changed - changing)} ms, fired ${Math.round(performance.now() - changed)} ms later`)
  t.ok(firings[0].changed! >= 1_000)
  await after(5_000)
  t.equal((await tasks.get(`/${id}/firings`)).firings.length, 1)
})

t.test('a folder below that cannot be read for a while fires nothing', { skip: process.getuid?.() === 0 }, async (t) => {
  const { folder, until } = await watched(t, 2_000)
  await until(({ triggers: [{ state }] }) => state === 'watching')
  chmodSync(`${folder}/1`, 0)
  writeFileSync(`${folder}/0/new`, 'new')
  const { firings: [fired] } = await until((found) => found.firings.length > 0)
  t.match(fired, { changed: 1, files: [{ path: '0/new' }] })
  chmodSync(`${folder}/1`, 0o755)
  utimesSync(`${folder}/1/1000`, 1, 1)
  t.match((await until((found) => found.firings.length > 1)).firings[0], { changed: 1, files: [{ path: '1/1000', kind: 'changed' }] })
})

t.test('what commands of its runs change fires nothing', async (t) => {
  const command = 'date +%N > many/0/stamp; rm -f many/0/1; mkdir -p many/x; touch many/x/y'
  const script = [{ toolCalls: [{ toolName: 'runCommand', input: { command } }] }, { text: 'done' }]
  const app = await build(t, { config: { model: 'offline/scripted', offline: { script } } })
  mkdirSync(`${app.cwd}/many/0`, { recursive: true })
  writeFileSync(`${app.cwd}/many/0/1`, '1')
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('go', { triggers: [{ type: 'files', path: 'many' }], start: true })
  while ((await tasks.get(`/${id}/firings`)).triggers[0].state !== 'watching') await after(20)
  await tasks.post(`/${id}/run`)
  await events.until('task:complete', { taskId: id })
  await after(6_000)
  t.same((await tasks.get(`/${id}/firings`)).firings, [])
  t.equal((await tasks.get(`/${id}/firings`)).triggers[0].files, 2, 'they were seen')
  rmSync(`${app.cwd}/many/x`, { recursive: true })
  while ((await tasks.get(`/${id}/firings`)).firings.length === 0) await after(20)
})

t.test('triggers begin 20 runs an hour; what fires beyond is one entry', async (t) => {
  const given = await scheduling(t)
  const { tasks, events, clock } = given
  const first = await tasks.create('system info', { taskType: 'triggered', start: true })
  const { id } = await tasks.create('system info', { triggers: [{ type: 'task', taskId: first.id, on: 'completed' }], start: true })
  const firings = (): Promise<FiringList> => tasks.get(`/${id}/firings`)
  /** Lets the first task run, and the second one fire. */
  async function again () {
    const before = JSON.stringify((await firings()).firings)
    await tasks.post(`/${first.id}/run`)
    await events.until('task:complete', { taskId: first.id })
    while (JSON.stringify((await firings()).firings) === before) await clock.advance(2 * SECOND)
  }
  for (let n = 0; n < 23; n++) {
    await again()
    if (n < 20) await events.until('task:complete', { taskId: id })
  }
  const found = (await firings()).firings
  t.match(found[0], { fate: 'limit', count: 3, ends: [{ taskId: first.id }] })
  t.same(found.slice(1).map(({ fate }) => fate), Array.from({ length: 20 }, () => 'run'))
  t.match((await tasks.get(`/digest?since=${clock.now() - HOUR}`)).text, /Triggers that fired without a run: 1 time/)
  await clock.advance(HOUR)
  await again()
  t.match((await firings()).firings[0], { fate: 'run' })
})

t.test('a failing task is tried less often by its triggers, too, and each firing in between is skipped', async (t) => {
  const given = await scheduling(t)
  const { tasks, events, clock } = given
  const first = await tasks.create('system info', { taskType: 'triggered', start: true })
  const { id } = await tasks.create('delete missing.txt', {
    triggers: [{ type: 'task', taskId: first.id, on: 'completed' }],
    start: true
  })
  for (let n = 0; n < 6; n++) {
    await tasks.post(`/${first.id}/run`)
    while ((await tasks.get(`/${first.id}`)).successfulRuns <= n);
    while ((await tasks.get(`/${id}/firings`)).firings.length <= n) await clock.advance(2 * SECOND)
    if (n < 5) await events.until('task:error', { taskId: id })
  }
  t.match((await tasks.get(`/${id}/firings`)).firings[0], { fate: 'skipped', reason: 'failing' })
  t.match(await tasks.get(`/${id}`), { health: { state: 'failing', failures: 5, nextTryAt: Number } })
})
