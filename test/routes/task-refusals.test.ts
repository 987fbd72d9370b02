import t, { type Test } from 'tap'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'

const NOBODY = '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44'

async function begin (t: Test) {
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
  const { refused } = await begin(t)
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
  const { tasks, refused } = await begin(t)
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
  const { tasks, refused, events } = await begin(t)
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
    while ((await tasks.get(`/${id}`)).status !== state) await new Promise(setImmediate)
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
  const { tasks } = await begin(t)
  const { body } = await tasks.call('POST', '', { goal: 'x', taskType: 'recurring', schedule: { interval: 'daily', at: '25:00' } })
  t.match(body, { code: 'ERR_BAD_SCHEDULE', details: [{ path: '/schedule/at', message: body.error }] })
})

t.test('what a task cannot be is a 400 that says what it can be', async (t) => {
  const { tasks, refused } = await begin(t)
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
  const { tasks, refused } = await begin(t)
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
