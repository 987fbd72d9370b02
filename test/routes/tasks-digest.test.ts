import t from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { heldModel } from '../harness/held-model.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'

const HOUR = 3_600_000

t.test('who was away is told what completed, failed and was passed over, what waits for them, and what comes next', async (t) => {
  const clock = fakeClock()
  const tasks = await tasksOf(t, await build(t, { clock }))
  const events = await tasks.watch()
  const since = clock.now()
  const schedule = { interval: '1h', timezone: 'UTC' }
  const recurring = { taskType: 'recurring', schedule }
  const good = await tasks.create('system info', recurring)
  const bad = await tasks.create('delete missing.txt', { ...recurring, approval: { mode: 'never' } })
  const asking = await tasks.create('write "tea" to list.txt', { ...recurring, approval: { mode: 'always' } })
  const skipping = await tasks.create('list the files here', { ...recurring, schedule: { ...schedule, missed: 'skip' } })
  const { text: quiet } = await tasks.get(`/digest?since=${since}`)
  t.match(quiet, /nothing ran\.$/, 'nothing is said of what is not there')
  for (const { id } of [good, bad, asking, skipping]) await tasks.post(`/${id}/start`)

  await clock.advance(HOUR)
  await events.until('task:approval')
  await events.ended(3)
  await clock.advance(HOUR)
  await events.ended(6)

  const digest = await tasks.get(`/digest?since=${since}`)
  t.match(digest, { since, until: since + 2 * HOUR - 1_000 })
  t.same(
    digest.completed.items.map(({ taskId, runNumber }: any) => [taskId, runNumber]).sort(),
    [[good.id, 1], [good.id, 2], [skipping.id, 1], [skipping.id, 2]].sort()
  )
  t.match(digest.completed.items[0], {
    status: 'completed',
    trigger: 'schedule',
    output: String,
    judge: 'none',
    evidence: 'unchecked',
    text: /^Run 2 of “.*” completed \(not judged\): /
  })
  t.match(digest.failed, {
    more: 0,
    items: [{ taskId: bad.id, runNumber: 2, error: /deleteFile "missing.txt" failed/, text: /^Run 2 of “delete missing.txt” failed: / }, {
      runNumber: 1
    }]
  })
  t.match(digest.notRun, {
    more: 0,
    items: [{
      taskId: asking.id,
      slot: { at: since + 2 * HOUR, fate: 'skipped', reason: 'waiting', since: Number },
      text: /“write "tea" to list.txt” did not run at .*: it has waited for you since /
    }]
  })
  t.match(digest.waiting, {
    more: 0,
    items: [{
      taskId: asking.id,
      kind: 'tool',
      toolName: 'writeFile',
      about: /list\.txt.*tea/,
      expiresAt: Number,
      text: /asks whether it may use writeFile with /
    }]
  })
  t.same(digest.next.items.map(({ at }: any) => at), Array(4).fill(since + 3 * HOUR))
  t.match(
    digest.text,
    /: 4 runs completed, 2 runs failed\. Passed without a run: 1 planned time\. Waiting for your answer: 1 question\. Next: “/
  )

  await clock.advance(2)
  t.match(await tasks.post(`/${asking.id}/approve`, { approved: false, approvalId: digest.waiting.items[0].approvalId }), { ok: true })
  await events.until('task:error', { taskId: asking.id })
  const later = await tasks.get(`/digest?since=${digest.until + 1_001}`)
  t.match(later, {
    completed: { items: [] },
    failed: { items: [] },
    stopped: { items: [{ taskId: asking.id, status: 'rejected', text: /was rejected: The user denied writeFile/ }] },
    notRun: { items: [] },
    waiting: { items: [] }
  }, 'only what is newer')

  const short = await tasks.get('/digest?since=0&limit=1')
  t.same(
    [short.completed, short.failed, short.next].map(({ items, more }: any) => [items.length, more]),
    [[1, 3], [1, 1], [1, 3]],
    'what is left out is counted'
  )
  await tasks.call('DELETE', `/${good.id}`)
  const without = await tasks.get('/digest?since=0')
  t.equal(without.completed.items.length, 2, 'a deleted task is told of no more')
})

t.test('five failures in a row are told of until a run is well again', async (t) => {
  const clock = fakeClock()
  const model = await heldModel(t)
  const tasks = await tasksOf(t, await build(t, { clock, ...model.parts }))
  const events = await tasks.watch()
  const { id } = await tasks.create('try', { taskType: 'triggered', plan: { phases: [{ description: 'try' }] } })
  for (let n = 0; n < 5; n++) {
    await tasks.post(`/${id}/run`)
    await model.begun(n + 1)
    model.fail(n)
    await events.until('task:error')
  }
  await clock.advance(24 * HOUR)

  const digest = await tasks.get(`/digest?since=${clock.now()}`)
  t.match(digest.failing, { more: 0, items: [{ taskId: id, failures: 5, error: /the model/i, text: /“try”.*the model/i }] })
  t.match(digest.text, /Failing five times in a row or more: 1 task\./)
  await tasks.post(`/${id}/run`)
  await model.begun(6)
  model.finish(5)
  await events.until('task:complete')
  t.same((await tasks.get('/digest?since=0')).failing.items, [])
})

t.test('what cannot be a time is refused', async (t) => {
  const tasks = await tasksOf(t, await build(t))
  for (
    const query of [
      '',
      '?since=',
      '?since=yesterday',
      '?since=-1',
      '?since=1.5',
      '?since=9e99',
      '?since=0&limit=0',
      '?since=0&limit=101',
      '?since=0&from=1'
    ]
  ) {
    const { status, body } = await tasks.call('GET', `/digest${query}`)
    t.equal(status, 400, query)
    t.match(body.error, query.includes('limit') ? /limit/ : query.includes('from') ? /from/ : /since/)
  }
})
