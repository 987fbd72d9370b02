import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { effects } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { misbehavingWorkers } from '../services/tasks/workers.ts'
import { tasksOf } from '../harness/tasks.ts'

const TERMINAL = ['task:complete', 'task:error']
const WORKS = ['running', 'pending_approval']
const RESTS: Record<string, string[]> = {
  one_shot: ['planned', 'paused', 'completed', 'failed', 'cancelled'],
  triggered: ['planned', 'scheduled', 'paused', 'cancelled'],
  recurring: ['planned', 'scheduled', 'paused', 'cancelled']
}

const below = (n: number) => Math.floor(Math.random() * n)
const pick = <T>(all: readonly T[]): T => all[below(all.length)]

/** Tasks whose runs end while everything else is asked of them, in any order: always in a legal state, each run with one end. */
export async function race (t: Test, rounds: number) {
  const workers = misbehavingWorkers(t)
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const done = new Map<string, number>()
  const doubtful = new Map<string, number>()

  async function round (n: number) {
    const taskType = pick(['one_shot', 'triggered', 'recurring'] as const)
    const { id } = await tasks.create(`run \`sleep 0.0${below(9)}; echo ${n} >> effects.log\``, {
      taskType,
      approval: { mode: pick(['never', 'never', 'always']) },
      ...(taskType === 'recurring' && { schedule: { interval: 'monthly' } })
    })
    const asked: string[] = []
    let deleted = false
    const ask = async (verb: string, body?: object, method = 'POST') => {
      const { status, body: answer } = await tasks.call(method, `/${id}${verb && `/${verb}`}`, body)
      asked.push(`${verb || 'delete'} ${status}`)
      if (status > 202 && status !== 409 && !(status === 404 && (deleted || verb.startsWith('runs')))) {
        t.fail(`${asked} of a ${taskType} task`, answer)
      }
    }
    const newest = async () => (await tasks.runs(id))?.[0]
    const verbs: Array<() => Promise<unknown>> = [
      () => ask('pause'),
      () => ask('pause'),
      () => ask('resume'),
      () => ask('cancel'),
      () => ask('start'),
      () => ask('run'),
      () => ask('steer', { comment: 'be quick', runNow: true }),
      () => ask('approve', { approved: Math.random() < 0.8 }),
      async () => ask(`runs/${(await newest())?.runId ?? id}/cancel`)
    ]
    await ask('start')
    if (taskType !== 'one_shot') await ask('run')
    // At some point of its run, mostly.
    const moment = events.events.length + below(12)
    await Promise.race([events.beyond(moment), wait(300)])
    await Promise.all(Array.from({ length: 1 + below(5) }, async () => {
      await wait(below(3) * below(30))
      await pick(verbs)()
    }))
    if (Math.random() < 0.1) {
      deleted = true
      await Promise.all([ask('', undefined, 'DELETE'), pick(verbs)()])
      return { id, asked, taskType, deleted }
    }
    return { id, asked, taskType, deleted }
  }

  /** Lets it come to its end, and looks whether all is as it should be. */
  async function look ({ id, asked, taskType, deleted }: Awaited<ReturnType<typeof round>>) {
    const name = `${taskType}: ${asked.join(', ')}`
    if (!deleted) {
      for (;;) {
        const seen = events.events.length
        const { status, waitingFor } = await tasks.get(`/${id}`)
        if (status === 'paused') await tasks.post(`/${id}/resume`)
        else if (waitingFor !== undefined) await tasks.post(`/${id}/approve`, { approved: true })
        else if (status === 'running') await events.beyond(seen)
        else break
      }
      const { status, totalRuns } = await tasks.get(`/${id}`)
      if (!RESTS[taskType].includes(status)) t.fail(`${status} is no state to end in, ${name}`)
      const runs = await tasks.runs(id)
      if (runs.length !== totalRuns || runs.some(({ completedAt, status }: any) => completedAt === undefined || WORKS.includes(status))) {
        t.fail(`a run has no end, ${name}`, { runs })
      }
      for (const { runId, toolCalls, status } of runs) {
        const ends = events.events.filter((event) => event.runId === runId && TERMINAL.includes(event.type))
        if (ends.length !== 1 || ends[0].status !== status) t.fail(`${ends.length} ends of a run that is ${status}, ${name}`, { ends })
        for (const { toolName, status, input } of toolCalls) {
          if (toolName !== 'runCommand' || status === 'denied' || status === 'pending') continue
          const [, mark] = /echo (\d+)/.exec(input.command)!
          const map = status === 'completed' ? done : doubtful
          map.set(mark, (map.get(mark) ?? 0) + 1)
        }
      }
    }
    const mine = events.events.filter(({ taskId }) => taskId === id)
    const runIds = new Set(mine.flatMap(({ runId }) => runId ?? []))
    for (const runId of runIds) {
      const told = mine.filter((event) => event.runId === runId)
      const end = told.findIndex(({ type }) => TERMINAL.includes(type))
      if (end !== told.length - 1) t.fail(`${end === -1 ? 'no end was told' : 'something was told after the end'}, ${name}`, { told })
      if (told.filter(({ type }) => type === 'task:start').length > 1) t.fail(`it began twice, ${name}`)
    }
    if (!deleted) await tasks.call('DELETE', `/${id}`)
  }

  const SIDE_BY_SIDE = 4
  for (let n = 0; n < rounds; n += SIDE_BY_SIDE) {
    const made = await Promise.all(Array.from({ length: SIDE_BY_SIDE }, (_, at) => round(n + at)))
    await Promise.all(made.map(look))
  }
  const happened = new Map<string, number>()
  for (const mark of effects(app.cwd).split('\n').filter(Boolean)) happened.set(mark, (happened.get(mark) ?? 0) + 1)
  const deletedOnes = [...happened.keys()].filter((mark) => !done.has(mark) && !doubtful.has(mark))
  for (const mark of done.keys()) {
    const [times, sure, maybe] = [happened, done, doubtful].map((map) => map.get(mark) ?? 0)
    if (times < sure || times > sure + maybe) t.fail(`${mark} happened ${times} times; ${sure} calls are done, ${maybe} in doubt`)
  }
  t.comment(
    `${rounds} rounds, ${
      events.events.filter(({ type }) => TERMINAL.includes(type)).length
    } runs, ${deletedOnes.length} effects of deleted tasks`
  )
  t.equal(app.tasks.live, 0, 'nothing works or waits')
  t.equal(workers.living.size, 0, 'no worker is left')
  for await (const [key] of app.store.list('task')) t.fail(`${key} is left`)
}
