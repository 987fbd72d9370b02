import t from 'tap'
import { analysis } from '../harness/with-analysis.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const likes = { object: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] } }
const ZEROS = /^0 calls: 0 read, 0 write, 0 command, .* · files: 0 made, 0 changed, 0 deleted · commands: 0 · external calls: 0$/

t.test('a report of a file that nobody wrote is marked, though its judge likes it and lists no claim', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'Saved the list in list.md.' }), { structured: () => likes })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id, plan } = await tasks.create('write the list', { plan: { phases: [{ description: 'Do it' }], expects: 'files' } })
  t.equal(plan.expects, 'files')
  await tasks.post(`/${id}/start`)

  t.match(await events.until('task:complete'), { verified: false, qualityScore: 0.6, facts: ZEROS })
  const [run] = await tasks.runs(id)
  const issues = [/^The plan expects that files/]
  t.match(run, { status: 'completed', verified: false, facts: ZEROS, evaluation: { verified: false, issues } })
  t.match((await app.inject(`/runs/${run.runId}`)).json(), { verified: false, facts: ZEROS })
  const { completed: { items: [item] } } = await tasks.get('/digest?since=0')
  t.match(item, { verified: false, facts: ZEROS, text: /completed \(its report is not verified\): Saved the list/ })
})

t.test('a run that did what its plan expects has no mark, and its line says what it did', async (t) => {
  const written = { claim: 'Wrote list.md', effect: 'file', target: 'list.md', call: null, count: null, succeeded: null }
  const { app } = await withGateway(t, (_, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'writeFile', input: { path: 'list.md', content: 'tea' } }] } : { text: 'Wrote list.md.' }, {
    structured: (name) =>
      name === 'plan'
        ? { object: { phases: [{ description: 'Write it' }], qualityCriteria: [], expects: 'files' } }
        : { object: { ...likes.object, claims: [written] } }
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id, plan } = await tasks.create('write the list')
  t.match(plan, { source: 'model', expects: 'files' }, 'a plan of a model says what it expects')
  await tasks.post(`/${id}/start`)
  const told = await events.until('task:complete')
  t.match(told, { qualityScore: 1, facts: /^1 call: 0 read, 1 write, .* · files: 1 made, 0 changed, 0 deleted · commands: 0 ·/ })
  t.notOk('verified' in told)
  t.notOk('verified' in (await tasks.runs(id))[0])
})

t.test('the line of a run whose result waits for a person is there before the person decides', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'It is cold.' }), { structured: () => likes })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('tell the weather', { approval: { mode: 'always' }, plan: { phases: [{ description: 'Tell it' }] } })
  await tasks.post(`/${id}/start`)
  await events.until('task:approval')
  t.match((await tasks.runs(id))[0], { status: 'pending_approval', facts: ZEROS })
})

t.test('a run that failed and says so speaks before its review', async (t) => {
  const judgement = { outcome: 'failed', claims: [], satisfied: false, score: 0.2, issues: ['The list was not written.'] }
  const { app } = await withGateway(t, () => ({ text: 'I could not write list.md: the disk is full.' }), {
    structured: () => ({ object: judgement })
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('write the list', { plan: { phases: [{ description: 'Do it' }], expects: 'files' } })
  await tasks.post(`/${id}/start`)
  const { error, facts } = await events.until('task:error')
  t.match(error, /^I could not write list\.md: the disk is full\.\n\nThe run did not reach its goal: The list was not written\./)
  t.match(facts, ZEROS)
})

t.test('the offline model expects what the commands of a goal leave', async (t) => {
  const config = { model: 'offline/assistant', models: { fast: 'offline/assistant' } }
  const { app } = await withGateway(t, () => ({ text: 'never' }), { config })
  const tasks = await tasksOf(t, app)
  const expected = async (goal: string) => (await tasks.create(goal)).plan.expects
  t.equal(await expected("write 'x' to a.txt"), 'files')
  t.equal(await expected('run `ls`'), 'command')
  t.equal(await expected('read a.txt'), 'none')
})

t.test('a run of a conversation has its line, and the mark when its answer was judged', async (t) => {
  const { app } = await withGateway(t, (_, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'systemInfo', input: {} }] } : { text: 'Sent it to Ada.' }, {
    config: { analysis: true },
    structured: (name) => name === 'analysis'
      ? { object: analysis('complex') }
      : { object: { ...likes.object, claims: [{ claim: 'Sent it', effect: 'other', target: null, call: null }] } }
  })
  const payload = { messages: [{ role: 'user', content: 'compare the two' }] }
  const { runId } = (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  t.match((await app.inject(`/runs/${runId}`)).json(), { verified: false, facts: /^1 call: 1 read, / })
})
