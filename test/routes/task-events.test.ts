import { readFileSync } from 'node:fs'
import { Value } from '@sinclair/typebox/value'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { FORMATS } from '../../schemas/formats.ts'
import { taskEvents } from '../../schemas/task-events.ts'
import { PhaseSchema } from '../../schemas/tasks.ts'
import type { Plan } from '../fakes/gateway.ts'
import { decide, post, waiting } from '../harness/approval-doors.ts'
import { fakeClock } from '../harness/clock.ts'
import { heldModel } from '../harness/held-model.ts'
import { build } from '../harness/helper.ts'
import { asking, FORMAT } from '../harness/questions.ts'
import { listen } from '../harness/raw.ts'
import { readRun } from '../harness/reader.ts'
import { plan, say, withModel, write } from '../harness/task-approvals.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** What the interface promises of each event, beside its type. */
const PROMISED: Record<string, Record<string, string>> = {
  'task:start': { taskId: 'string', runId: 'string', runNumber: 'integer', startedAt: 'integer', phases: 'array' },
  'task:phase': { taskId: 'string', phase: 'string', status: 'string' },
  'task:tool': { taskId: 'string', runId: 'string', tool: 'string', input: 'object', output: 'object', status: 'string' },
  'task:eval': { taskId: 'string' },
  'task:complete': {
    taskId: 'string',
    runId: 'string',
    runNumber: 'integer',
    status: 'string',
    output: 'string',
    durationMs: 'integer',
    toolCount: 'integer',
    qualityScore: 'number'
  },
  'task:approval': { taskId: 'string' },
  'task:error': { taskId: 'string', runId: 'string', error: 'string' },
  'task:steer': { taskId: 'string', comment: 'string' }
}
const kindOf = (value: unknown) => Array.isArray(value) ? 'array' : Number.isInteger(value) ? 'integer' : typeof value
const fits = (value: unknown, kind: string) => kindOf(value) === kind || (kind === 'number' && kindOf(value) === 'integer')

t.test('every event has the fields the interface gives it, and its name is its type', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const named = await readRun(app, '/tasks/events')
  const done = await tasks.create('write "x" to a.txt then read a.txt', { approval: { mode: 'always' }, taskType: 'triggered' })
  await tasks.post(`/${done.id}/steer`, { comment: 'go', runNow: true })
  await events.until('task:approval', { kind: 'tool' })
  await tasks.post(`/${done.id}/approve`, { approved: true })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${done.id}/approve`, { approved: true })
  await events.until('task:complete')
  const failed = await tasks.create('delete missing.txt')
  await tasks.post(`/${failed.id}/start`)
  await events.until('task:error')
  await named.says('event: task:error')

  for (const [type, fields] of Object.entries(PROMISED)) {
    const all: any[] = events.of(type as 'task:start')
    t.ok(all.length > 0, type)
    for (const event of all) {
      for (const [field, kind] of Object.entries(fields)) t.ok(fits(event[field], kind), `${type}: ${field} is of type ${kind}`)
    }
  }
  for (const { phases } of events.of('task:start') as any[]) {
    t.ok(phases.length > 0 && phases.every((phase: unknown) => Value.Check(PhaseSchema, phase)), 'phases have id, description and status')
  }
  t.same(new Set(events.of('task:tool').map(({ status }) => status)), new Set(['complete', 'error']))
  const ajv = new Ajv2020({ strict: false, formats: FORMATS })
  ajv.addSchema(JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')), 'document')
  for (const event of events.events) {
    const schema = taskEvents.find(({ properties }) => properties.type.const === event.type)
    t.ok(ajv.validate({ $ref: `document#/components/schemas/${schema?.$id}` }, event), `${event.type}: ${ajv.errorsText()}`)
  }
  const blocks = named.text.split('\n\n').filter((block) => block.startsWith('event: '))
  t.ok(blocks.length > 10)
  for (const block of blocks) {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(block)!
    t.equal(JSON.parse(data).type, name)
  }
  named.hangUp()
})

t.test('readers of events are told when a task is created, edited and deleted', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id: taskId } = await tasks.create('go', { taskType: 'triggered' })
  await events.until('task:change', { taskId, change: 'created' })
  await app.inject({ method: 'PUT', url: `/tasks/${taskId}`, payload: { name: 'Another name' } })
  await events.until('task:change', { taskId, change: 'edited' })
  await app.inject({ method: 'DELETE', url: `/tasks/${taskId}` })
  await events.until('task:change', { taskId, change: 'deleted' })
})

t.test('a digest tells chats that have an answer from those that failed', async (t) => {
  const { app } = await withGateway(t, ({ body: { prompt } }) =>
    JSON.stringify(prompt).includes('break') ? { error: { status: 401, message: 'no' } } : { text: ['Done.'] })
  for (const content of ['go', 'break', 'break it']) {
    await app.inject({ method: 'POST', url: '/run', payload: { messages: [{ role: 'user', content }] } })
  }
  const { text } = (await app.inject('/tasks/digest?since=0')).json()
  t.match(text, /Answers in chats: 1 chat\. Ended without an answer: 2 chats\./)
})

t.test('a reconnecting client gets nothing twice, and a comment line in the silence', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const port = await listen(app)
  const tasks = await tasksOf(t, app)
  const { id } = await tasks.create('go', { taskType: 'triggered' })
  await tasks.post(`/${id}/steer`, { comment: 'first' })

  const again = await fetch(`http://127.0.0.1:${port}/tasks/events`, { headers: { 'last-event-id': '0' } })
  t.match([again.status, again.headers.get('content-type')], [200, /^text\/event-stream/])
  const reader = again.body!.pipeThrough(new TextDecoderStream()).getReader()
  await clock.advance(4_000)
  t.match((await reader.read()).value, /^:/)
  await tasks.post(`/${id}/steer`, { comment: 'second' })
  t.match((await reader.read()).value, /"comment":"second"/)
  await reader.cancel()
})

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
      about: 'list.txt',
      expiresAt: Number,
      text: /asks whether it may write the file “list\.txt”/
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

const DAY = 86_400_000

/** A task that runs at once; its model asks in the first step. */
async function asked (t: Test, fields: object = {}, steps: Plan[] = [asking(), say('Markdown.')], settings: object = {}) {
  const { app, tasks, events, systems } = await withModel(t, [steps], settings)
  const { id } = await tasks.create('write the report', { ...plan, approval: { mode: 'always' }, ...fields })
  await tasks.post(`/${id}/start`)
  const { approvalId, runId }: Record<string, any> = await events.until('task:approval', { taskId: id, kind: 'question' })
  return { app, tasks, events, systems, id, approvalId, runId }
}

t.test('a run asks, the task waits for the answers, and goes on with them', async (t) => {
  const { app, tasks, events, systems, id, approvalId, runId } = await asked(t)
  t.match(events.events.find(({ type }) => type === 'task:approval'), { approvalId, runId, kind: 'question', questions: [FORMAT] })
  t.match(systems[0], /askUser/)
  t.match(await tasks.get(`/${id}`), { status: 'pending_approval', waitingFor: [{ kind: 'question', id: approvalId }] })
  t.match((await tasks.runs(id))[0], { status: 'pending_approval', questions: [{ approvalId, kind: 'question', questions: [FORMAT] }] })
  t.match(await waiting(app, '?kind=question'), [{ approvalId, taskId: id, runId, questions: [FORMAT], state: 'pending' }])
  const digest = (await app.inject('/tasks/digest?since=0')).json()
  t.match(digest.waiting.items, [{ approvalId, kind: 'question', about: FORMAT.text, text: /asks Which format should it have\?/ }])
  t.match(digest.text, /Waiting for your answer: 1 question/)

  t.match(await post(app, `/tasks/${id}/approve`, { approved: true }), { status: 409, body: { code: 'ERR_NO_QUESTION' } })
  t.match(await decide(app, approvalId, { answers: { format: 'txt' } }), { status: 400, body: { code: 'ERR_INVALID_ANSWERS' } })
  t.match(await post(app, `/tasks/${id}/approve`, { approved: true, approvalId }), { status: 400, body: { error: /"answers"/ } })
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), {
    status: 200,
    body: { approvalId, state: 'answered', taskId: id, runId, continued: true }
  })
  const result = await events.until('task:approval', { taskId: id, kind: 'result' })
  t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [{ output: { answers: { format: 'md' } }, status: 'completed' }])
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 200, body: { state: 'answered' } })
  t.match(await decide(app, approvalId, { answers: { format: 'pdf' } }), { status: 409, body: { error: /answered with {"format":"md"}/ } })
  await decide(app, result.approvalId, { approved: true })
  t.match((await tasks.get(`/${id}`)).approvalHistory, [{ kind: 'question', approvalId, approved: true }, { kind: 'result' }])
})

t.test('a declined question does not reject the run; a reason is feedback', async (t) => {
  const { app, tasks, events, id, approvalId } = await asked(t)
  t.match(await post(app, `/tasks/${id}/approve`, { approved: false, approvalId, notes: 'You choose.' }), { status: 200 })
  await events.until('task:approval', { taskId: id, kind: 'result' })
  t.match((await tasks.runs(id))[0].toolCalls, [{ toolName: 'askUser', output: { declined: true, reason: 'You choose.' } }])
  t.match((await tasks.get(`/${id}`)).memory.feedback, [{ approved: false, notes: 'You choose.' }])
})

t.test('questions that nobody answers end the run as other approvals do', async (t) => {
  const clock = fakeClock()
  const { app, events, id, approvalId } = await asked(t, {}, undefined, { clock, config: { tasks: { approvalTtl: DAY } } })
  await clock.advance(DAY)
  t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { status: 410, body: { code: 'ERR_APPROVAL_EXPIRED' } })
  t.match(await events.until('task:error', { taskId: id }), { status: 'rejected', error: /Nobody answered within 1 day/ })
  t.same(await waiting(app), [])
})

t.test('modes that ask nobody have no questions, unless the options say interactive; the result is then not asked for', async (t) => {
  const { tasks, events, systems } = await withModel(t, [[asking(), say('Done.')], [asking(), say('Done.')]])
  const silent = await tasks.create('report', plan)
  await tasks.post(`/${silent.id}/start`)
  await events.until('task:complete', { taskId: silent.id })
  t.notMatch(systems[0], /askUser/)
  t.match((await tasks.runs(silent.id))[0].toolCalls, [{ toolName: 'askUser', status: 'denied', error: /cannot be asked/ }])

  const { id } = await tasks.create('report', { ...plan, options: { interactive: true } })
  await tasks.post(`/${id}/start`)
  const { approvalId } = await events.until('task:approval', { taskId: id, kind: 'question' })
  t.match(systems[1], /askUser/)
  await fetch(`${tasks.url}/approvals/${approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ answers: { format: 'md' } })
  })
  t.match(await events.until('task:complete', { taskId: id }), { output: 'Done.' })
})

t.test('a task with interactive: false waits for nobody, and its mode must fit', async (t) => {
  const { tasks, events } = await withModel(t, [[write('a.txt'), say('I could not write it; nothing was done.')]])
  const options = { interactive: false }
  for (const mode of ['always', 'first_n']) {
    t.match(await tasks.call('POST', '', { goal: 'x', approval: { mode }, options }), {
      status: 400,
      body: { code: 'ERR_INVALID_TASK', error: new RegExp(`mode "${mode}" asks for results`) }
    })
  }
  const { id, approval } = (await tasks.call('POST', '', { goal: 'write it', ...plan, options })).body
  t.equal(approval.mode, 'granted')
  t.match(await tasks.call('PUT', `/${id}`, { approval: { mode: 'always' } }), { status: 400, body: { code: 'ERR_INVALID_TASK' } })
  await tasks.post(`/${id}/start`)
  await events.ended(1)
  t.match((await tasks.runs(id))[0].toolCalls, [{ toolName: 'writeFile', status: 'denied' }])
  t.same(events.of('task:approval'), [])
})
