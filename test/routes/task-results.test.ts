import t, { type Test } from 'tap'
import { decide, waiting } from '../harness/approval-doors.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { fate, HOUR, scheduling } from '../harness/schedules.ts'
import { again, begin, plan, say, withModel, write } from '../harness/task-approvals.ts'
import { tasksOf } from '../harness/tasks.ts'

const DAY = 24 * HOUR

t.test('a task that says nothing of approvals asks about what changes something, until three such runs were approved', async (t) => {
  const { tasks, events } = await withModel(t, [
    [{ toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }, say('There is nothing to do.')],
    [write('a.txt'), say('I may not write it.')],
    ...Array.from({ length: 4 }, () => [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'echo x >> log' } }] }, say('Done.')])
  ])
  const body = { goal: 'keep a log', taskType: 'triggered', ...plan }
  t.match((await tasks.call('POST', '', { ...body, options: { interactive: false } })).body, { approval: { mode: 'granted' } })
  const { body: { id, approval } } = await tasks.call('POST', '', body)
  t.same(approval, { mode: 'changes', firstN: 3, approvedRuns: 0 })
  const approvedRuns = async () => (await tasks.get(`/${id}`)).approval.approvedRuns
  const run = () => tasks.post(`/${id}/run`)
  const answer = async (kind: string, approved: boolean) => {
    await events.until('task:approval', { kind })
    await tasks.post(`/${id}/approve`, { approved })
  }

  await run()
  t.match(await events.until('task:complete'), { output: 'There is nothing to do.' })
  await run()
  await answer('tool', false)
  t.match(await events.until('task:complete'), { output: 'I may not write it.' }, 'what was denied has changed nothing')
  t.equal(await approvedRuns(), 0, 'neither run counts')
  for (const count of [1, 2, 3]) {
    await run()
    await answer('tool', true)
    await answer('result', true)
    await events.until('task:complete')
    t.equal(await approvedRuns(), count)
  }
  await run()
  await events.until('task:complete')
  t.equal(events.of('task:approval').length, 7, 'the last run asked nothing: the call was learned')
  t.match(await tasks.runs(id), [{}, { review: 'approved' }, { review: 'approved' }, { review: 'approved' }, {}, {}])
})

t.test('a result that waits stops no later run, and the next result takes its place', async (t) => {
  const { app, clock, tasks, events, start, to, slots } = await scheduling(t)
  const from = clock.now()
  const { id } = await start('system info', { interval: '1h' }, { approval: { mode: 'first_n', firstN: 2 } })
  await to(from + HOUR)
  const first = await events.until('task:approval', { kind: 'result' })
  const open = ({ approvalId }: any) => ({ status: 'scheduled', waitingFor: [{ kind: 'result', id: approvalId }] })
  t.match(await tasks.get(`/${id}`), { ...open(first), nextRunAt: from + 2 * HOUR, totalRuns: 1, successfulRuns: 0 })
  t.match(await tasks.runs(id), [{ status: 'pending_approval', questions: [{ approvalId: first.approvalId }] }])

  await to(from + 2 * HOUR)
  t.match(await events.until('task:complete', { runId: first.runId }), { status: 'completed', runNumber: 1 })
  const second = await events.until('task:approval', { kind: 'result' })
  t.match(await tasks.get(`/${id}`), { ...open(second), successfulRuns: 1, approval: { approvedRuns: 0 } })
  t.match(await tasks.runs(id), [{ status: 'pending_approval', review: undefined }, { status: 'completed', review: 'superseded' }])
  t.same((await waiting(app)).map(({ approvalId }: any) => approvalId), [second.approvalId])
  const late = { status: 409, body: { code: 'ERR_APPROVAL_WITHDRAWN', error: /run 2 took its place: decide .*/ } }
  const answers = [await decide(app, first.approvalId, { approved: true }), await decide(app, first.approvalId, { approved: false })]
  for (const answer of answers) {
    t.match(answer, late)
    t.match(answer.body.error, second.approvalId, 'it names the newer one')
  }

  t.equal((await tasks.call('POST', `/${id}/run`)).status, 202, 'a run by hand is accepted, too')
  const third = await events.until('task:approval', { kind: 'result' })
  t.match(await tasks.get(`/${id}`), open(third))
  t.match((await decide(app, first.approvalId, { approved: true })).body.error, third.approvalId, 'of two newer ones the newest')
  t.match(await tasks.post(`/${id}/approve`, { approved: true }), { approvalId: third.approvalId, status: 'completed' })
  t.match(await tasks.get(`/${id}`), { status: 'scheduled', waitingFor: undefined, approval: { approvedRuns: 1 }, successfulRuns: 3 })
  t.match((await decide(app, first.approvalId, { approved: true })).body.error, /run 2 took its place, which does not wait any more/)
  t.same((await slots(id, 2)).map(fate), [[from + HOUR, 'run'], [from + 2 * HOUR, 'run']])
  t.match((await tasks.get('/digest?since=0')).completed.items.map(({ text }: any) => text), [
    /^Run 3 .* completed \(not judged\): /,
    /^Run 2 .* completed \(not judged\), its result unseen: /,
    /^Run 1 .* completed \(not judged\), its result unseen: /
  ])
})

t.test('a result that nobody answers is completed in the end, of a task that runs once too; a rejected one is not', async (t) => {
  const clock = fakeClock()
  const { tasks, events, app } = await begin(t, { clock, config: { tasks: { approvalTtl: DAY } } })
  const [once, triggered, rejected] = [
    await tasks.create('system info', { approval: { mode: 'always' } }),
    await tasks.create('system info', { taskType: 'triggered', approval: { mode: 'always' } }),
    await tasks.create('system info', { taskType: 'triggered', approval: { mode: 'always' } })
  ]
  await tasks.post(`/${once.id}/start`)
  const { approvalId } = await events.until('task:approval', { taskId: once.id })
  for (const { id } of [triggered, rejected]) {
    await tasks.post(`/${id}/run`)
    await events.until('task:approval', { taskId: id })
  }
  t.match(await tasks.get(`/${once.id}`), { status: 'pending_approval' }, 'it would be over, so it waits')
  t.equal((await tasks.call('POST', `/${once.id}/run`)).status, 409)
  t.match(await tasks.post(`/${rejected.id}/approve`, { approved: false, notes: 'no' }), { status: 'rejected' })
  const second = await again(t, app, { clock: fakeClock(clock.now() + 2 * DAY), config: { tasks: { approvalTtl: DAY } } })
  while ((await second.tasks.get(`/${triggered.id}`)).waitingFor !== undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  while ((await second.tasks.get(`/${once.id}`)).status !== 'completed') await new Promise((resolve) => setTimeout(resolve, 2))
  for (const { id } of [once, triggered]) {
    t.match(await second.tasks.runs(id), [{ status: 'completed', review: 'expired' }])
    t.match(await second.tasks.get(`/${id}`), { successfulRuns: 1, approval: { approvedRuns: 0 }, approvalHistory: [{ expired: true }] })
  }
  t.match(await decide(second.app, approvalId, { approved: true }), { status: 410, body: { error: /expired/ } })
  t.match(await second.tasks.runs(rejected.id), [{ status: 'rejected', review: 'rejected', error: /no/ }])
})

t.test('the last run of a schedule waits for its own result, or for that of an earlier one, before the task is completed', async (t) => {
  const { clock, tasks, events, start, to } = await scheduling(t)
  const from = clock.now()
  const always = { approval: { mode: 'always' } }
  const last = await start('system info', { interval: '1h', maxRuns: 1 }, always)
  const earlier = await start('system info', { interval: '1h', maxRuns: 2 }, always)
  await to(from + HOUR)
  await events.until('task:approval', { taskId: last.id })
  t.match(await tasks.get(`/${last.id}`), { status: 'pending_approval', nextRunAt: undefined })
  t.match(await tasks.post(`/${last.id}/approve`, { approved: true }), { status: 'completed' })
  t.match(await tasks.get(`/${last.id}`), { status: 'completed' })

  while ((await tasks.get(`/${earlier.id}`)).waitingFor === undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  await tasks.call('PUT', `/${earlier.id}`, { approval: { mode: 'never' } })
  await to(from + 2 * HOUR)
  await events.until('task:complete', { taskId: earlier.id })
  t.match(await tasks.get(`/${earlier.id}`), { status: 'pending_approval', waitingFor: [{ kind: 'result' }] })
  await tasks.post(`/${earlier.id}/pause`)
  t.match(await tasks.post(`/${earlier.id}/resume`), { status: 'pending_approval' })
  t.match(await tasks.post(`/${earlier.id}/cancel`), { status: 'cancelled' })
  t.match(await tasks.runs(earlier.id), [{ status: 'completed', review: undefined }, { status: 'cancelled', review: undefined }])
})

t.test('times that pass while a question waits are one line that says since when, also over a restart', async (t) => {
  const first = await scheduling(t)
  const from = first.clock.now()
  const { id } = await first.start('write "x" to a.txt', { interval: '1h' }, { approval: { mode: 'always' } })
  await first.to(from + HOUR)
  await first.events.until('task:approval', { kind: 'tool' })
  t.match(await first.tasks.get(`/${id}`), { status: 'pending_approval' })
  const line = async ({ schedule }: Pick<typeof first, 'schedule'>, count: number) => {
    for (;;) {
      const { slots: [newest, ...others] } = await schedule(id)
      if ((newest.count ?? 1) >= count && newest.fate === 'skipped') return [newest, others.length]
    }
  }
  await first.to(from + 2 * HOUR)
  const waits = { fate: 'skipped', reason: 'waiting', since: from + HOUR }
  t.match(await line(first, 1), [{ at: from + 2 * HOUR, from: undefined, ...waits }, 1])
  await first.to(from + 3 * HOUR)
  t.match(await line(first, 2), [{ from: from + 2 * HOUR, at: from + 3 * HOUR, count: 2, ...waits }, 1])
  const second = await first.restart(40 * HOUR)
  t.match(await line(second, 42), [{ from: from + 2 * HOUR, at: from + 43 * HOUR, count: 42, ...waits }, 1])
  const { notRun } = await second.tasks.get('/digest?since=0')
  t.equal(notRun.items.length, 1)
  t.match(notRun.items[0].text, /did not run 42 times from .* to .*: it has waited for you since /)
  await second.tasks.post(`/${id}/approve`, { approved: false })
  await second.events.until('task:error')
  t.match(await second.tasks.get(`/${id}`), { status: 'scheduled', nextRunAt: from + 44 * HOUR })
})

const NOBODY = '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44'

async function beginRefused (t: Test) {
  const tasks = await tasksOf(t, await build(t))
  /** What is answered, in one line; every refusal has the shape of all errors. */
  const refused = async (method: string, path: string, body?: unknown): Promise<string> => {
    const answer = await tasks.call(method, path, body)
    t.match(answer.body, { error: /\w/, code: /^ERR_/, statusCode: answer.status }, `${method} ${path}`)
    return `${answer.status} ${answer.body.error}`
  }
  return { tasks, refused, events: await tasks.watch() }
}

const routes: Array<[method: string, path: string, body?: object]> = [
  ['GET', ''],
  ['PUT', '', { goal: 'x' }],
  ['DELETE', ''],
  ['POST', '/start'],
  ['POST', '/pause'],
  ['POST', '/resume'],
  ['POST', '/cancel'],
  ['POST', '/run'],
  ['POST', '/steer', { comment: 'x' }],
  ['POST', '/approve', { approved: true }],
  ['GET', '/runs'],
  ['GET', '/schedule'],
  ['GET', `/runs/${NOBODY}`],
  ['POST', `/runs/${NOBODY}/cancel`]
]

t.test('an unknown task is a 404 that says where the known ones are, and what is no id a 400', async (t) => {
  const { refused } = await beginRefused(t)
  for (const [method, path, body] of routes) {
    t.match(
      await refused(method, `/${NOBODY}${path}`, body),
      path.includes(NOBODY) ? /^404 .*(?:\/tasks|no run)/ : /^404 There is no task .*GET \/tasks lists them/,
      `${method} ${path}`
    )
    t.match(await refused(method, `/nonsense${path}`, body), /^400 /, `${method} ${path}`)
  }
})

t.test('an unknown run is a 404 that says where the known ones are', async (t) => {
  const { tasks, refused } = await beginRefused(t)
  const { id } = await tasks.create('system info')
  t.match(await refused('GET', `/${id}/runs/${NOBODY}`), /^404 This task has no run .*GET \/tasks\/:id\/runs/)
  t.match(await refused('POST', `/${id}/runs/${NOBODY}/cancel`), /^404 This task has no run/)
})

/** Which verbs do not fit which state; the answer names both and what would fit. */
const UNFIT: Record<string, string[]> = {
  planned: ['pause', 'resume'],
  scheduled: ['start', 'resume'],
  running: ['start', 'resume', 'run'],
  pending_approval: ['start', 'resume', 'run'],
  paused: ['start', 'pause'],
  completed: ['pause', 'resume', 'cancel'],
  failed: ['pause', 'resume', 'cancel'],
  cancelled: ['pause', 'resume', 'cancel', 'run']
}

t.test('a verb that does not fit the state is a 409 that names the state and where the verb works', async (t) => {
  const { tasks, refused, events } = await beginRefused(t)
  const started = async (goal: string, fields: object = {}) => {
    const { id } = await tasks.create(goal, fields)
    await tasks.post(`/${id}/start`)
    return id
  }
  const into: Record<string, () => Promise<string>> = {
    planned: async () => (await tasks.create('system info')).id,
    scheduled: () => started('system info', { taskType: 'triggered' }),
    async running () {
      const id = await started('run `sleep 300`')
      await events.until('task:tool-start', { taskId: id })
      return id
    },
    async pending_approval () {
      const id = await started('write "x" to a.txt', { approval: { mode: 'always' } })
      await events.until('task:approval', { taskId: id })
      return id
    },
    async paused () {
      const id = await started('system info', { taskType: 'triggered' })
      await tasks.post(`/${id}/pause`)
      return id
    },
    async completed () {
      const id = await started('system info')
      await events.until('task:complete', { taskId: id })
      return id
    },
    async failed () {
      const id = await started('delete missing.txt')
      await events.until('task:error', { taskId: id })
      return id
    },
    async cancelled () {
      const { id } = await tasks.create('system info')
      await tasks.post(`/${id}/cancel`)
      return id
    }
  }
  for (const [state, verbs] of Object.entries(UNFIT)) {
    const id = await into[state]()
    while ((await tasks.get(`/${id}`)).status !== state) await new Promise((resolve) => setTimeout(resolve, 2))
    for (const verb of verbs) {
      t.match(
        await refused('POST', `/${id}/${verb}`),
        new RegExp(`^409 The task is ${state}; "${verb}" works when it is \\w+`),
        `${verb} while ${state}`
      )
    }
    if (state !== 'pending_approval') {
      t.match(
        await refused('POST', `/${id}/approve`, { approved: true }),
        new RegExp(`^409 The task is ${state}, and nothing of it waits for approval.*questions`)
      )
    }
    if (state === 'cancelled') {
      t.match(await refused('POST', `/${id}/steer`, { comment: 'x', runNow: true }), /^409 .*cancelled; "steer" works when/)
    }
    if (state !== 'planned') {
      t.match(await refused('PUT', `/${id}`, { plan: { phases: [{ description: 'x' }] } }), new RegExp(`^409 .*planned; it is ${state}`))
    }
    if (state === 'completed') {
      const [{ runId }] = await tasks.runs(id)
      t.match(
        await refused('POST', `/${id}/runs/${runId}/cancel`),
        /^409 The run is completed; it can be cancelled while it is queued, running or pending_approval/
      )
    }
  }
})

t.test('a schedule that cannot be read is refused with the name of its field', async (t) => {
  const { tasks } = await beginRefused(t)
  const { body } = await tasks.call('POST', '', { goal: 'x', taskType: 'recurring', schedule: { interval: 'daily', at: '25:00' } })
  t.match(body, { code: 'ERR_BAD_SCHEDULE', details: [{ path: '/schedule/at', message: body.error }] })
})

t.test('what a task cannot be is a 400 that says what it can be', async (t) => {
  const { tasks, refused } = await beginRefused(t)
  const { id } = await tasks.create('system info')
  const recurring = { taskType: 'recurring', schedule: { interval: 'daily' } }
  const rows: Array<[object, RegExp]> = [
    [{}, /"?goal/],
    [{ goal: '' }, /goal/],
    [{ goal: ' \n ' }, /goal/],
    [{ goal: 'x'.repeat(20_001) }, /20000/],
    [{ goal: 7 }, /goal must be .*string/],
    [{ goal: 'x', taskType: 'continuous' }, /taskType.*one_shot.*recurring.*triggered/],
    [{ goal: 'x', gaol: 'y' }, /"gaol"; allowed are goal/],
    [{ goal: 'x', status: 'running' }, /"status"; allowed are/],
    [{ goal: 'x', approval: 'never' }, /approval must be/],
    [{ goal: 'x', approval: { mode: 'sometimes' } }, /mode.*always.*first_n.*never/],
    [{ goal: 'x', approval: { mode: 'first_n', firstN: 0 } }, /firstN must be >= 1/],
    [{ goal: 'x', approval: { mode: 'first_n', firstN: 1.5 } }, /firstN must be integer/],
    [{ goal: 'x', approval: { mode: 'always', firstN: 2 } }, /firstN belongs to the modes "changes" and "first_n", not to "always"/],
    [{ goal: 'x', approval: { mode: 'never', who: 'me' } }, /"who"; allowed are mode, firstN/],
    [{ goal: 'x', approval: {} }, /mode/],
    [{ goal: 'x', budget: { maxTokensPerRun: 0 } }, /maxTokensPerRun must be >= 1/],
    [{ goal: 'x', budget: { maxMinutesPerRun: -1 } }, /maxMinutesPerRun must be > 0/],
    [{ goal: 'x', budget: { dollars: 1 } }, /"dollars"; allowed are/],
    [{ goal: 'x', plan: { phases: [] } }, /phases/],
    [{ goal: 'x', plan: { phases: [{ description: 'y', status: 'completed' }] } }, /"status"; allowed are description/],
    [{ goal: 'x', cwd: '/does/not/exist' }, /not a folder/],
    [{ goal: 'x', taskType: 'recurring' }, /needs a schedule, such as/],
    [{ goal: 'x', taskType: 'one_shot', schedule: { interval: 'daily' } }, /belongs to taskType "recurring"\. A task of/],
    [{ goal: 'x', taskType: 'triggered', schedule: { interval: 'daily' } }, /belongs to .* not to "triggered"/],
    [{ goal: 'x', ...recurring, schedule: { in: '2h' } }, /belong to taskType "one_shot"\. A recurring task has schedule\.interval/],
    [{ goal: 'x', schedule: { once: '2020-01-01T09:00' } }, /in the past: give a time that is still to come/],
    [{ goal: 'x', schedule: { once: '2030-02-30T09:00' } }, /does not exist/],
    [{ goal: 'x', schedule: { once: '2030-01-01T09:00', interval: 'daily' } }, /has either/],
    [{ goal: 'x', ...recurring, schedule: {} }, /interval/],
    [{ goal: 'x', ...recurring, schedule: { interval: 'now and then' } }, /now and then.*cannot be read.*daily.*cron/],
    [{ goal: 'x', ...recurring, schedule: { interval: 'daily', at: '25:00' } }, /25:00.*Write it as/],
    [{ goal: 'x', ...recurring, schedule: { interval: 'daily', timezone: 'Mars/Base' } }, /Mars\/Base.*IANA/],
    [{ goal: 'x', ...recurring, schedule: { interval: 'daily', often: true } }, /"often"; allowed are/]
  ]
  for (const [body, why] of rows) {
    t.match(await refused('POST', '', body), new RegExp(`^400 [^]*(?:${why.source})`, 's'), JSON.stringify(body).slice(0, 100))
  }
  for (const [body, why] of rows.filter(([body]) => !('taskType' in body) && Object.keys(body).length > 1)) {
    const { goal, ...changes } = body as { goal?: string }
    if (!('schedule' in changes)) {
      t.match(await refused('PUT', `/${id}`, changes), new RegExp(`^400 [^]*(?:${why.source})`, 's'), `PUT ${JSON.stringify(changes)}`)
    }
  }
  t.match(await refused('PUT', `/${id}`, {}), /^400 /)
  t.match(
    await refused('PUT', `/${id}`, { schedule: { interval: 'daily' } }),
    /^400 schedule.interval belongs to taskType "recurring"/
  )
  t.match(await refused('PUT', `/${id}`, { taskType: 'recurring' }), /^400 .*"taskType"; allowed are goal/)
  t.match(await tasks.get(`/${id}`), { goal: 'system info', status: 'planned' }, 'nothing of it was taken')
  t.equal((await tasks.get('')).tasks.length, 1)
})

t.test('what cannot be said to a task, or asked of it, is a 400 that names the field', async (t) => {
  const { tasks, refused } = await beginRefused(t)
  const { id } = await tasks.create('system info')
  const rows: Array<[method: string, path: string, body: object | undefined, why: RegExp]> = [
    ['POST', '/steer', {}, /comment/],
    ['POST', '/steer', { comment: '  ' }, /comment/],
    ['POST', '/steer', { comment: 'x'.repeat(4_001) }, /4000/],
    ['POST', '/steer', { comment: 'x', runNow: 'yes' }, /runNow must be .*boolean/],
    ['POST', '/steer', { comment: 'x', now: true }, /"now"; allowed are comment, runNow/],
    ['POST', '/approve', {}, /approved/],
    ['POST', '/approve', { approved: 'true' }, /approved must be .*boolean/],
    ['POST', '/approve', { approved: true, note: 'x' }, /"note"; allowed are approved, notes, approvalId/],
    ['POST', '/approve', { approved: true, approvalId: 'x' }, /approvalId/],
    ['GET', '/runs?limit=0', undefined, /limit must be >= 1/],
    ['GET', '/runs?limit=501', undefined, /limit must be <= 500/],
    ['GET', '/runs?cursor=x', undefined, /cursor must be integer/],
    ['GET', '/runs?page=2', undefined, /"page"; allowed are limit, cursor/],
    ['GET', '/schedule?upcoming=x', undefined, /upcoming must be integer/]
  ]
  for (const [method, path, body, why] of rows) {
    t.match(
      await refused(method, `/${id}${path}`, body),
      new RegExp(`^400 [^]*(?:${why.source})`),
      `${method} ${path} ${JSON.stringify(body)?.slice(0, 60)}`
    )
  }
  t.match(await refused('GET', '?status=sleeping'), /^400 [^]*status.*planned/)
  t.match(await refused('GET', '?type=daily'), /^400 [^]*type.*one_shot/)
  t.match(await refused('GET', '?sort=name'), /^400 [^]*"sort"; allowed are status, type/)
  t.match(
    await refused('POST', `/${id}/approve`, { approved: true, approvalId: NOBODY }),
    /^404 .*no approval request.*GET \/tasks\/:id\/runs/
  )
  t.match(await refused('GET', `/${id}/schedule`), /^400 .*no schedule: it is one_shot/)
  t.match(await refused('PATCH', `/${id}`, { goal: 'x' }), /^405 /)
  t.match(await refused('POST', `/${id}/stop`), /^404 /)
})
