import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'
import { checkSlots, everySecond, history } from './schedule-lives.ts'

/** Stops the built service as a debugger or a container would, lets it go on, and looks at what became of the seconds between. */
export async function stopAndGoOn (t: Test, ms: number) {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  const { id, first } = await everySecond(tasks, 'a')
  for (;;) {
    await events.until('task:complete')
    process.kill(service.pid, 'SIGSTOP')
    const stopped = Date.now()
    await wait(ms)
    const wentOn = Date.now()
    process.kill(service.pid, 'SIGCONT')
    const { runNumber } = await events.until('task:start')
    await events.until('task:complete', { runNumber })

    const past = await history(tasks, id)
    const between = past.slots.filter(({ at }) => at > stopped && at <= wentOn)
    // The next run was under way already: nothing is to be made up for.
    if (between.some(({ reason }) => reason === 'overlap')) continue
    t.ok(between.reduce((sum, { count = 1 }) => sum + count, 0) >= Math.floor(ms / 1_000) - 1, 'they all are there')
    t.equal(new Set(between.map(({ runId }) => runId)).size, 1, 'and are one run')
    t.match(past.runs.find(({ runId }) => runId === between[0].runId), { trigger: 'catch_up' })
    break
  }
  await tasks.post(`/${id}/pause`)
  checkSlots(t, first, await history(tasks, id))
  t.match(await service.stop(), { code: 0 })
}

/** So many tasks are overdue when the built service starts; some of them are waited for. */
export async function overdue (t: Test, count: number, waitedFor: number) {
  const dir = t.testdir({ home: {}, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const then = await build(t, { ...where, clock: fakeClock(Date.now() - 3 * 3_600_000) })
  const post = (url: string, payload?: object) => then.inject({ method: 'POST', url, payload })
  const body = {
    goal: 'system info',
    taskType: 'recurring',
    schedule: { interval: '1h' },
    approval: { mode: 'never' },
    plan: { phases: [{ description: 'look' }] }
  }
  for (let made = 0; made < count; made += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - made) }, async () => post(`/tasks/${(await post('/tasks', body)).json().id}/start`))
    )
  }
  await then.close()

  const service = await startService(t, where)
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  let slowest = 0
  let mostAtWork = 0
  const over = new AbortController()
  const looking = (async () => {
    while (!over.signal.aborted) {
      const asked = performance.now()
      const { status } = await fetch(`${service.url}/health`)
      slowest = Math.max(slowest, performance.now() - asked)
      if (status !== 200) t.fail(`/health answered ${status}`)
      const { working } = await tasks.get('/digest?since=0&limit=100')
      mostAtWork = Math.max(mostAtWork, working.items.filter(({ status }: { status: string }) => status === 'running').length)
      await wait(20)
    }
  })()
  await events.ended(waitedFor)
  over.abort()
  await looking
  const memory = Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))![1]) / 1024
  t.comment(`/health took ${Math.round(slowest)} ms at most, ${Math.round(memory)} MiB at most`)
  t.ok(mostAtWork <= 2, `${mostAtWork} at work at once`)
  t.ok(memory < 512, `${Math.round(memory)} MiB`)
  t.match(await service.stop(), { code: 0 })

  const again = await startService(t, where)
  const later = await tasksOf(t, again)
  const all = [
    ...(await later.get('?limit=500')).tasks,
    ...(count > 500 ? (await later.get(`?limit=500&cursor=${(await later.get('?limit=500')).nextCursor}`)).tasks : [])
  ]
  t.equal(all.length, count)
  t.same(all.filter(({ totalRuns }) => totalRuns !== 1), [], 'each has its one run, in this life and the next')
  t.match(await again.stop(), { code: 0 })
}
