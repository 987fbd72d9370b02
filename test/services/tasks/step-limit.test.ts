import t from 'tap'
import { tasksOf } from '../../harness/tasks.ts'
import { withGateway } from '../../harness/with-gateway.ts'

t.test('the steps of a run are bounded: the last model call is told so, and its calls do not run', async (t) => {
  const look = (nth: number) => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit: nth + 1 } }] })
  const { app, gateway } = await withGateway(t, (_request, nth) => look(nth))
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('look around', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await events.until('task:error')

  const steps = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => body)
  t.equal(steps.length, 201)
  t.match(steps[200], { toolChoice: steps[0].toolChoice, tools: steps[0].tools })
  t.match(steps[200].prompt.at(-1), { role: 'user', content: [{ text: /used all your steps/ }] })
  t.notMatch(JSON.stringify(steps[199].prompt), /used all your steps/)
  const [run] = await tasks.runs(id)
  const { toolCalls } = await tasks.get(`/${id}/runs/${run.runId}`)
  t.match(toolCalls.at(-1), { status: 'error', error: /No tool is called any more/ })
})
