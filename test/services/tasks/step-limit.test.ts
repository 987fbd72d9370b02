import t from 'tap'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'

t.test('the steps of a run are bounded: the last model call is told so, and its calls do not run', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('look around', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await events.until('task:error')

  const steps = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => body)
  t.equal(steps.length, 50)
  t.match(steps[49], { toolChoice: { type: 'none' }, tools: steps[0].tools })
  t.match(steps[49].prompt.at(-1), { role: 'user', content: [{ text: /used all your steps/ }] })
  t.notMatch(JSON.stringify(steps[48].prompt), /used all your steps/)
  const [run] = await tasks.runs(id)
  t.match(await tasks.get(`/${id}/runs/${run.runId}`).then(({ toolCalls }) => toolCalls.at(-1)), { status: 'error', error: /used up/ })
})
