import t from 'tap'
import { createAgent, type RunStreamEvent } from '../../client/index.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'

type App = Awaited<ReturnType<typeof withGateway>>['app']
const agentOf = async (app: App) => createAgent({ url: `http://127.0.0.1:${await listen(app)}`, app: 'order-desk' })
const questions = [{ id: 'size', text: 'Which size?', options: [{ value: 's', label: 'Small' }, { value: 'l', label: 'Large' }] }]
const INPUT = { type: 'object', properties: { state: { type: 'string' } } }

t.test('calls of tools of the application are executed in one loop, after their approval', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0
      ? { toolCalls: [{ toolName: 'findOrders', input: { state: 'open' } }, { toolName: 'sendOrder', input: { state: 'sent' } }] }
      : { text: 'One is open.' })
  const done: unknown[] = []
  const execute = (name: string) => (input: unknown) => {
    done.push([name, input])
    return { orders: ['A-1'] }
  }
  const run = (await agentOf(app)).run({
    prompt: 'Which orders are open?',
    tools: {
      findOrders: { description: 'Finds orders', inputSchema: INPUT, effect: 'read', execute: execute('findOrders') },
      sendOrder: { description: 'Sends an order', inputSchema: INPUT, effect: 'external', execute: execute('sendOrder') }
    },
    approve: ({ toolName }) => {
      done.push(['approved', toolName])
      return true
    }
  })
  const { text, finishReason } = await run.result()
  t.match({ text, finishReason }, { text: 'One is open.', finishReason: 'stop' })
  t.same(done[0], ['approved', 'sendOrder'])
  t.same(new Set(done.slice(1)), new Set([['findOrders', { state: 'open' }], ['sendOrder', { state: 'sent' }]]))
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /A-1/)
  t.equal(gateway.requests.length, 2)
})

t.test('a tool that fails is told to the model', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth === 0 ? { toolCalls: [{ toolName: 'findOrders', input: {} }] } : { text: 'I cannot say.' })
  const findOrders = {
    description: 'Finds orders',
    inputSchema: INPUT,
    effect: 'read' as const,
    execute: () => {
      throw new Error('the shop is closed')
    }
  }
  const events: RunStreamEvent[] = []
  for await (const event of (await agentOf(app)).run({ prompt: 'go', tools: { findOrders } })) events.push(event)
  t.ok(events.some((event) => event.type === 'tool-output-error' && event.errorText.includes('the shop is closed')))
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /the shop is closed/)
})

t.test('questions of the agent are answered by the handler, or in the loop, or declined', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth % 2 === 0 ? { toolCalls: [{ toolName: 'askUser', input: { questions } }] } : { text: 'Good.' })
  const agent = await agentOf(app)
  const asked: unknown[] = []
  await agent.run({
    prompt: 'order it',
    ask: (request) => {
      asked.push(request.questions)
      return { size: 'l' }
    }
  }).result()
  t.match(asked, [questions])
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /size[^}]*"l/)

  const run = agent.run({ prompt: 'order it', options: { interactive: true } })
  for await (const event of run) if (event.type === 'question-request') run.answer(event.approvalId, false)
  t.equal((await run.result()).finishReason, 'stop')
  t.match(JSON.stringify(gateway.requests[3].body.prompt), /declined/)

  const waiting = await agent.run({ prompt: 'order it', options: { interactive: true } }).result()
  t.match(waiting.pending, [{ kind: 'question', questions }])
  const { approvalId } = waiting.pending[0] as { approvalId: string }
  t.match(await agent.answer(approvalId, { size: 's' }), { continued: true })
  t.equal((await agent.resume(waiting.runId).result()).text, 'Good.')
})

t.test('an answer by a schema is the object of the result', async (t) => {
  const { app } = await withGateway(t, () => ({ toolCalls: [{ toolName: 'answer', input: { city: 'Oslo', days: 3 } }] }))
  const { object, text } = await (await agentOf(app)).run({
    prompt: 'Where?',
    schema: { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } }, required: ['city'] }
  }).result()
  t.equal(object?.city.toUpperCase(), 'OSLO')
  t.equal(object?.days, 3)
  t.type(text, 'string')
})
