import type { Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { append, effects } from '../harness/effects.ts'
import { insistentClient, prepareDirectory, startDying, writesIn } from './dying-service.ts'

/** A directory for the service, and a provider that is down when a run asks for its second step, until `state` says otherwise. */
export async function prepare (t: Test) {
  const state = { isDown: true, refused: 0 }
  const gateway = await startFakeGateway({
    reply ({ structured, body: { prompt } }) {
      if (structured !== undefined) return undefined
      if (!prompt.some(({ role }: { role: string }) => role === 'tool')) return { toolCalls: [append('a')] }
      if (!state.isDown) return { text: 'It is done.' }
      state.refused++
      // It asks for more patience than a call has.
      return { error: { status: 503, headers: { 'retry-after': '600' } } }
    }
  })
  t.teardown(() => gateway.close())
  const dir = await prepareDirectory(t, [], { model: 'test/model', analysis: false })
  return { dir, state, env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url } }
}

type Prepared = Awaited<ReturnType<typeof prepare>>

/**
 * Takes a task through an outage of its provider, and one death of the service at a durable write (see kill-at-write.ts): once its run
 * waits the provider is well, and somebody lets the run go on.
 */
async function liveThrough (t: Test, { dir, state, env }: Prepared, killAt: string) {
  Object.assign(state, { isDown: true, refused: 0 })
  const lives = await startDying(t, dir, killAt, env)
  const client = insistentClient(t, lives)
  const { insist } = client

  const body = { goal: 'go', approval: { mode: 'never' }, plan: { phases: [{ description: 'do it' }] } }
  const { id } = await insist((tasks) => tasks.post('', body, { 'idempotency-key': 'the task' }))
  /** The writes of the first life up to the first time that the run was seen waiting. */
  let untilItWaits: number | undefined
  const ends = await insist(async (tasks) => {
    const events = await tasks.watch()
    try {
      for (;;) {
        const count = events.events.length
        const task = await tasks.get(`/${id}`)
        if (task.status === 'planned') await tasks.post(`/${id}/start`)
        else if (task.status === 'scheduled') {
          const [run] = await tasks.runs(id)
          t.match(run, { status: 'queued', failure: { reason: 'provider' }, retryAt: Number }, 'it waits')
          t.equal(task.retryAt, run.retryAt)
          untilItWaits ??= writesIn(client.service.log())
          state.isDown = false
          await tasks.post(`/${id}/run`)
        } else if (task.status === 'running') await events.beyond(count)
        else return await events.ends(0)
      }
    } finally {
      events.leave()
    }
  })
  const [{ tasks: all }, task, runs] = await insist((tasks) => Promise.all([tasks.get(''), tasks.get(`/${id}`), tasks.runs(id)]))
  await client.service.stop()
  const writes = writesIn(client.service.log())
  const died = lives.died(client.service)
  return { died, writes, untilItWaits, ends, all, task, runs, refused: state.refused, effects: effects(lives.cwd) }
}

/** How many durable writes the whole takes when nothing happens, and how many until the run waits. */
export async function countWrites (t: Test, prepared: Prepared) {
  const { writes, untilItWaits, runs, effects } = await liveThrough(t, prepared, 'count')
  t.match(runs, [{ status: 'completed', attempts: 2 }])
  t.equal(effects, 'a')
  return { writes, untilItWaits: untilItWaits! }
}

/**
 * Kills at that write, `before` or `after` it: the run is neither lost nor doubled, nor is what it does, and it ends well. Returns how
 * often the provider refused it.
 */
export async function survives (t: Test, prepared: Prepared, killAt: string): Promise<number> {
  const { died, ends, all, task, runs: [run, ...others], refused, effects } = await liveThrough(t, prepared, killAt)
  t.ok(died, 'the service died once')
  t.equal(all.length, 1, 'the task is there once')
  t.same(others, [], 'there is one run')
  t.match(run, { runNumber: 1, status: 'completed', toolCount: 1, error: undefined, failure: undefined, retryAt: undefined })
  t.match(task, { status: 'completed', retryAt: undefined, totalRuns: 1, successfulRuns: 1, health: { failures: 0 } })
  t.ok(ends.length <= 1, 'its end was told at most once')
  const [call, ...more] = run.toolCalls
  t.same(more, [], 'its call is on record once')
  const isDoubtful = /outcome unknown/i.test(call.error)
  t.ok(effects === 'a' || (isDoubtful && effects === ''), `it happened once: ${effects}`)
  return refused
}
