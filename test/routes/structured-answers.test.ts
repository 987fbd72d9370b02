import { readFileSync, existsSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const schema = {
  type: 'object',
  properties: { city: { type: 'string', minLength: 2 }, people: { type: 'integer' } },
  required: ['city', 'people'],
  additionalProperties: false
}
const options = { object: { schema } }
const good = { city: 'Bern', people: 134_000 }
const give = (input: unknown, more: Plan = {}): Plan => ({ ...more, toolCalls: [...more.toolCalls ?? [], { toolName: 'answer', input }] })
const write = { toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }
const sync = async (app: App, body: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'go' }], ...body } })
  return { status: response.statusCode, ...response.json() }
}
const chat = { messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] }
const toolsOf = ({ body }: GatewayRequest): string[] => (body.tools ?? []).map(({ name }: { name: string }) => name)
/** What the model was told last. */
const lastTold = ({ body }: GatewayRequest): string => JSON.stringify(body.prompt.at(-1).content)

t.test('the model answers by the tool, and every reader gets the object', async (t) => {
  const { app, gateway, systemOf } = await withGateway(t, () => give(good, { text: 'It is Bern.' }))
  const documented = await say(app, 'go', { options })
  t.match(of(documented.events, 'data-object'), [{ id: 'object', data: { object: good, attempts: 1 } }])
  t.match(of(documented.events, 'finish'), [{ finishReason: 'stop' }], 'the run waits for nobody')
  const ui = await say(app, 'go', { options, ...chat })
  t.match(ui.events.slice(-5).map(({ type }) => type), ['finish-step', 'start-step', 'data-object', 'finish-step', 'finish'])
  t.match(await sync(app, { options }), { status: 200, text: 'It is Bern.', object: good, options, finishReason: 'stop' })
  const [{ body }] = gateway.requests
  t.match(body.tools.at(-1), { name: 'answer', inputSchema: schema })
  t.match(body.toolChoice, { type: 'auto' })
  t.notOk(body.responseFormat)
  t.match(systemOf(0), /end the work with a call of the tool answer/)
})

t.test('a chat that is loaded again shows the object, and its last step holds no call', async (t) => {
  const { app } = await withGateway(t, () => give(good))
  await say(app, 'go', { ...chat, id: 'chat', options })
  const { messages } = (await app.inject('/threads/chat')).json()
  t.match(messages[1].parts.slice(-2), [{ type: 'step-start' }, { type: 'data-object', id: 'object', data: { object: good, attempts: 1 } }])
})

t.test('an answer that does not fit goes back to the model with what is wrong', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => give(nth === 0 ? { city: 'B', population: 5 } : good))
  const { events } = await say(app, 'go', { options })
  t.match(of(events, 'data-object'), [{ data: { object: good, attempts: 2 } }])
  t.match(of(events, 'tool-input-error'), [{ toolName: 'answer', errorText: /lacks the property "people"/ }])
  t.match(lastTold(gateway.requests[1]), /no property \\"population\\" \(allowed: city, people\)/)
  t.match(lastTold(gateway.requests[1]), /city must NOT have fewer than 2 characters/)
})

t.test('a run that ends without the object is told so', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? { text: 'Bern, I think.' } : give(good))
  const { events } = await say(app, 'go', { options })
  t.match(of(events, 'data-object'), [{ data: { object: good, attempts: 2 } }])
  t.match(lastTold(gateway.requests[1]), /Call the tool answer now/)
  const [run] = (await app.inject('/runs')).json().runs
  t.match(run, { status: 'completed', object: good, options })
  t.same(run.steering, [], 'nobody else said so')
})

for (
  const [name, plan, why] of [
    ['an object that does not fit', give({ city: 'Bern' }), /in 3 attempts: the input lacks the property "people".*\{"city":"Bern"\}/],
    ['text', { text: 'I would rather not.' }, /in 3 attempts: the run ended without an object/],
    ['what is not JSON', { parts: undefined, ...give('no object') }, /must be an object/]
  ] as const
) {
  t.test(`a run whose model gives ${name} fails after its retries, and never succeeds`, async (t) => {
    const { app, gateway } = await withGateway(t, () => plan)
    const { events } = await say(app, 'go', { options })
    t.match(of(events, 'error'), [{ code: 'ERR_OBJECT_INVALID', errorText: why, details: [{ path: /^\// }] }])
    t.match(of(events, 'finish'), [{ finishReason: 'error' }])
    t.same(of(events, 'data-object'), [])
    t.equal(gateway.requests.length, 3, 'two retries')
    t.match(await sync(app, { options: { object: { schema, retries: 0 } } }), { status: 422, code: 'ERR_OBJECT_INVALID', details: [{}] })
    t.equal(gateway.requests.length, 4, 'no retry')
  })
}

t.test('the other calls of the step run first, and the answer is taken after them', async (t) => {
  const { app } = await withGateway(t, () => give(good, { toolCalls: [{ toolName: 'systemInfo', input: {} }] }))
  const { events } = await say(app, 'go', { options })
  t.same(of(events, 'tool-output-available').map(({ toolName }) => toolName), ['systemInfo', 'answer'])
  t.equal(of(events, 'data-object').length, 1)
})

t.test('an answer beside a call that failed is not taken: the model reads the failure first', async (t) => {
  const read = { toolName: 'readFile', input: { path: 'missing.txt' } }
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => nth === 0 ? give(good, { toolCalls: [read] }) : give({ ...good, people: 0 })
  )
  const { events } = await say(app, 'go', { options })
  t.match(of(events, 'data-object'), [{ data: { object: { people: 0 }, attempts: 1 } }])
  t.match(lastTold(gateway.requests[1]), /another call of this step did not succeed/)
})

t.test('an answer waits for the approvals of its step, also over a restart', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? give(good, { toolCalls: [write] }) : { text: 'never' })
  const first = await say(app, 'go', { options })
  t.same(of(first.events, 'data-object'), [])
  t.notOk(existsSync(`${app.cwd}/a.txt`))
  await app.close()
  const again = await build(t, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url, home: app.home, cwd: app.cwd })
  const second = await answer(again, { [asked(first.events)[0]]: true })
  t.match(of(second.events, 'data-object'), [{ data: { object: good, attempts: 1 } }])
  t.match(of(second.events, 'finish'), [{ finishReason: 'stop' }])
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'x')
  t.equal(gateway.requests.length, 1, 'the model is not asked again')
  const replayed = await answer(again, { [asked(first.events)[0]]: true })
  t.match(of(replayed.events, 'data-object'), [{ data: { object: good } }])
})

t.test('an answer beside a call that the user denies is not taken', async (t) => {
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? give(good, { toolCalls: [write] }) : give({ ...good, people: 1 }))
  const first = await say(app, 'go', { options })
  const second = await answer(app, { [asked(first.events)[0]]: false })
  t.match(of(second.events, 'data-object'), [{ data: { object: { people: 1 } } }])
})

t.test('when the steps are used up, the answer can still be given, and corrected', async (t) => {
  const look = { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth < 2 ? look : nth === 2 ? give({}) : give(good))
  const { events } = await say(app, 'go', { options: { ...options, maxSteps: 1 } })
  t.match(of(events, 'data-object'), [{ data: { object: good, attempts: 3 } }])
  t.equal(gateway.requests.length, 4)
  t.match(gateway.requests.map(({ body }) => body.toolChoice.type), Array(4).fill('auto'))
  t.match(lastTold(gateway.requests[1]), /call the tool answer now/)
  t.match(of(events, 'tool-input-error'), [{ toolName: 'systemInfo', errorText: /No tool is called any more/ }, { toolName: 'answer' }])
})

t.test('a run without tools answers in the format of the response', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'unused' }), {
    structured: () => ({ object: gateway.requests.length === 1 ? 'Bern!' : good })
  })
  const { events } = await say(app, 'go', { options: { ...options, allowTools: [] } })
  t.match(of(events, 'data-object'), [{ data: { object: good, attempts: 2 } }])
  const [{ body }, second] = gateway.requests
  t.notOk(body.tools)
  t.match(body.responseFormat, { type: 'json', name: 'answer', schema })
  t.match(lastTold(second), /the answer must be an object/)

  const open = { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] }
  await say(app, 'go', { options: { object: { schema: open }, allowTools: [] } })
  const { schema: sent } = gateway.requests.at(-1)!.body.responseFormat
  t.same(sent, { ...open, additionalProperties: false }, 'a server holds a weak model to the properties that are asked for')
})

t.test('the format of the response is one that the provider takes, and the object has the names of its schema', async (t) => {
  const named = {
    type: 'object',
    properties: { город: { type: 'string' }, 'people (all)': { type: 'integer' } },
    required: ['город', 'people (all)'],
    additionalProperties: false
  }
  const { app, gateway } = await withGateway(t, () => ({ text: 'unused' }), {
    structured: () => ({ object: { gorod: 'Берн', people_all: 134_000 } })
  })
  const { object } = await sync(app, { options: { object: { schema: named }, allowTools: [] } })
  t.same(object, { город: 'Берн', 'people (all)': 134_000 })
  t.same(Object.keys(gateway.requests[0].body.responseFormat.schema.properties), ['gorod', 'people_all'])
})

t.test('a run without tools in a conversation with calls describes their tools, because providers ask for it', async (t) => {
  const look = { toolCalls: [{ toolName: 'systemInfo', input: {} }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? look : { text: 'ok' })
  await say(app, 'go', { id: 'chat' })
  const message = { role: 'user', content: 'and now without' }
  await say(app, '', { messages: undefined, message, id: 'chat', options: { allowTools: [] } })
  t.match(gateway.requests.at(-1)!.body, { toolChoice: { type: 'none' }, tools: [{ name: 'systemInfo' }] })
})

t.test('a long-running request with an object is answered here, and makes no task', async (t) => {
  const longRunning = { complexity: 'long_running', timeWords: 'daily', thinking: 'hm' }
  const { app } = await withGateway(t, () => give(good), { config: { analysis: true }, structured: () => ({ object: longRunning }) })
  t.match(await sync(app, { options }), { status: 200, object: good })
  t.same((await app.inject('/tasks')).json().tasks, [])
})

t.test('the judge of a complex request sees the object, and its refinement asks for it again', async (t) => {
  const complex = { complexity: 'complex', goal: 'find it', thinking: 'hm', qualityCriteria: [] }
  const judgement = { outcome: 'partly', claims: [], satisfied: false, score: 0.4, issues: ['the number is old'], missing: ['go'] }
  const { app, gateway } = await withGateway(t, (_request, nth) => give({ ...good, people: nth }), {
    config: { analysis: true },
    structured: (name) => ({ object: name === 'analysis' ? complex : judgement })
  })
  const { events } = await say(app, 'go', { options })
  t.match(of(events, 'data-object'), [{ data: { object: { city: 'Bern', people: 0 } } }], 'the first, where the second is no better')
  t.same([of(events, 'tool-input-delta').length, of(events, 'data-revision')], [1, []], 'nothing is shown of the second')
  const judge = gateway.requests.find(({ structured }) => structured === 'evaluation')!
  t.match(lastTold(judge), /answer as data:.*Bern/)
  t.notMatch(lastTold(judge), /\banswer\b[^:]*: complete/, 'the call of the answer is no work')
  const again = gateway.requests.findLast(({ structured }) => structured === undefined)!
  t.match(lastTold(again), /the number is old[^]*answer as data again/)
})

t.test('what is said while the run answers makes it answer again', async (t) => {
  const begun = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async (_request, nth) => {
    if (nth > 0) return give({ ...good, people: 2 })
    begun.resolve()
    await held.promise
    return give(good)
  })
  const run = say(app, 'go', { id: 'chat', options })
  await begun.promise
  await app.inject({ method: 'POST', url: '/run/chat/steer', payload: { message: 'Say 2.' } })
  held.resolve()
  t.match(of((await run).events, 'data-object'), [{ data: { object: { people: 2 } } }])
})

t.test('the next message of the conversation knows the answer', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? give(good) : { text: 'ok' })
  await say(app, 'go', { id: 'chat', options })
  await say(app, '', { messages: undefined, message: { role: 'user', content: 'more' }, id: 'chat' })
  t.match(JSON.stringify(gateway.requests[1].body.prompt), /134000/)
  t.notOk(toolsOf(gateway.requests[1]).includes('answer'), 'but owes none')
})

t.test('the offline assistant says that it gives no objects', async (t) => {
  const app = await build(t, { config: { analysis: false } })
  t.match(await sync(app, { options }), { status: 502, error: /options\.object.*choose another model/ })
  t.match(await sync(app, { options: { ...options, allowTools: [] } }), { status: 502, error: /options\.object/ })
})

t.test('an offline script can give an object', async (t) => {
  const script = [{ toolCalls: [{ toolName: 'answer', input: good }] }]
  const app = await build(t, { config: { model: 'offline/scripted', analysis: false, offline: { script } } })
  t.match(await sync(app, { options }), { status: 200, object: good })
})
