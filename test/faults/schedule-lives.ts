import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import type { Slot } from '../../schemas/schedule.ts'
import type { TaskRun } from '../../schemas/task-runs.ts'
import { effects } from '../harness/effects.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

type Calls = Awaited<ReturnType<typeof tasksOf>>
const SECOND = 1_000

/** A task of the built service that leaves its mark in effects.log every second. */
export async function everySecond (tasks: Calls, mark: string): Promise<{ id: string, first: number }> {
  const { id } = await tasks.create(`run \`echo ${mark} >> effects.log\``, {
    taskType: 'recurring',
    schedule: { interval: '1s', missed: 'run_once' }
  })
  const { nextRunAt } = await tasks.post(`/${id}/start`)
  return { id, first: nextRunAt }
}

/** What became of every second, the oldest first, and all runs, the newest first. */
export async function history (tasks: Calls, id: string): Promise<{ slots: Slot[], runs: TaskRun[] }> {
  const all = async <T>(path: string, name: string): Promise<T[]> => {
    const found: T[] = []
    for (let cursor = ''; ;) {
      const page = await tasks.get(`/${id}${path}?limit=500${cursor}`)
      found.push(...page[name])
      if (page.nextCursor === undefined) return found
      cursor = `&cursor=${page.nextCursor}`
    }
  }
  return { slots: (await all<Slot>('/schedule', 'slots')).reverse(), runs: await all<TaskRun>('/runs', 'runs') }
}

/**
 * Every second from the first on has one fate, every run that the schedule began is that of one of them, and says for
 * how many it stands.
 */
export function checkSlots (t: Test, first: number, { slots, runs }: { slots: Slot[], runs: TaskRun[] }) {
  let expected = first
  const wrong: unknown[] = []
  for (const { from, at, count = 1 } of slots) {
    if ((from ?? at) !== expected || at !== expected + (count - 1) * SECOND) wrong.push({ expected, from, at, count })
    expected = at + SECOND
  }
  t.same(wrong.slice(0, 3), [], `${slots.length} planned times: none is without a fate, none has two`)
  t.same(
    slots.filter(({ fate, reason, runId }) =>
      (fate === 'skipped') !== (reason !== undefined) || (fate === 'run' || fate === 'coalesced') !== (runId !== undefined)
    ),
    [],
    'what was skipped says why, what ran says where'
  )

  const begun = slots.filter(({ fate }) => fate === 'run').map(({ runId }) => runId)
  t.same(
    runs.filter(({ trigger }) => trigger === 'schedule' || trigger === 'catch_up').map(({ runId }) => runId).reverse(),
    begun,
    'no run is lost or doubled'
  )
  for (const { runId, trigger, standsFor = 1 } of runs) {
    const times = slots.filter((slot) => slot.runId === runId).reduce((sum, { count = 1 }) => sum + count, 0)
    if (trigger !== 'manual' && times !== standsFor) t.fail(`${runId} stands for ${standsFor} times, ${times} say so`)
  }
  t.same(runs.map(({ runNumber }) => runNumber), runs.map((_, n) => runs.length - n), 'run numbers have no gaps')
}

/** Kills the built service so often, at random moments, while tasks run every second. Returns how many planned times there were. */
export async function killSchedules (t: Test, kills: number): Promise<number> {
  const dir = t.testdir({ home: {}, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const marks = ['a', 'b', 'c']
  const known: Array<{ id: string, first: number }> = []

  for (let life = 0; life < kills; life++) {
    const service = await startService(t, where)
    const tasks = await tasksOf(t, service)
    while (known.length < marks.length) known.push(await everySecond(tasks, marks[known.length]))
    // Whose outcome is unknown has failed. A task that is failing is tried at its next time when it was resumed.
    for (const { id, health } of (await tasks.get('?status=scheduled')).tasks) {
      if (health.state === 'ok') continue
      await tasks.post(`/${id}/pause`)
      await tasks.post(`/${id}/resume`)
    }
    await wait(Math.random() * 1_500)
    await service.stop('SIGKILL')
  }

  const service = await startService(t, where)
  const tasks = await tasksOf(t, service)
  let times = 0
  for (const [n, { id, first }] of known.entries()) {
    await tasks.call('POST', `/${id}/pause`)
    await tasks.post(`/${id}/resume`)
    await tasks.post(`/${id}/cancel`)
    const past = await history(tasks, id)
    times += past.slots.reduce((sum, { count = 1 }) => sum + count, 0)
    checkSlots(t, first, past)
    t.same(past.runs.filter(({ status }) => !['completed', 'failed', 'interrupted', 'cancelled'].includes(status)), [], 'every run is over')
    const calls = past.runs.flatMap(({ toolCalls }) => toolCalls)
    const [done, doubtful] = [
      calls.filter(({ status }) => status === 'completed').length,
      calls.filter(({ status }) => status !== 'completed').length
    ]
    const happened = effects(where.cwd).split('\n').filter((line) => line === marks[n]).length
    t.ok(happened >= done && happened <= done + doubtful, `${happened} effects of ${done} calls that are done and ${doubtful} in doubt`)
    t.ok(past.runs.every(({ toolCalls }) => toolCalls.length <= 1), 'no run called twice')
  }
  t.match(await service.stop(), { code: 0 })
  return times
}
