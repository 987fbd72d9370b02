import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { decide, post, waiting } from '../harness/approval-doors.ts'
import { fakeClock } from '../harness/clock.ts'
import { asking, FORMAT } from '../harness/questions.ts'
import { plan, say, withModel, write } from '../harness/task-approvals.ts'

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
