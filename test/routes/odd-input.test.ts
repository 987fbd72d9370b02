import { readFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, of, say, sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

/** JSON as it is written here: `JSON.stringify` cannot say everything that JSON can. */
const postJson = (app: App, payload: string) =>
  app.inject({ method: 'POST', url: '/run', headers: { 'content-type': 'application/json' }, payload })
const calling = (...toolCalls: object[]) => ({ model: 'offline/scripted', offline: { script: [{ toolCalls }, { text: 'done' }] } })

t.test('half a surrogate pair in a message is no obstacle for the conversation', async (t) => {
  const app = await build(t)
  const cut = { role: 'user', content: 'cut in the middle of \ud83d' }
  const history = [cut, { role: 'assistant', content: 'of what?' }]
  t.equal((await sayAll(app, [cut], { id: 'chat' })).status, 200)
  t.equal((await sayAll(app, [...history, { role: 'user', content: 'a smile' }], { id: 'chat' })).status, 200)
  t.equal((await app.threadRepository.messages('chat')).filter(({ role }) => role === 'user').length, 2)
})

t.test('a chat whose only text is empty is refused with a sentence, and nothing of it is kept', async (t) => {
  const app = await build(t)
  const empty = [
    { role: 'user', content: '' },
    { role: 'user', content: ' \n' },
    { role: 'user', content: [{ type: 'text', text: '' }] },
    { id: 'm', role: 'user', parts: [{ type: 'text', text: '' }] }
  ]
  for (const message of empty) {
    const { status, body } = await sayAll(app, [message], { id: 'chat' })
    t.equal(status, 400)
    t.match(body.error, /says something: its text is empty/)
  }
  t.equal((await app.inject('/threads/chat')).statusCode, 404)
  t.equal((await sayAll(app, [empty[0], { role: 'user', content: 'hi' }], { id: 'chat' })).status, 200)
})

t.test('an id that is no text is refused', async (t) => {
  const app = await build(t)
  const refused = await postJson(app, '{"id":"\\ud800","messages":[{"role":"user","content":"hi"}]}')
  t.match(refused.json(), { statusCode: 400, error: /id/ })
  t.equal(
    (await postJson(app, '{"id":"\\ud83d\\ude00","messages":[{"role":"user","content":"hi"}]}')).headers['x-thread-id'],
    encodeURIComponent('😀')
  )
})

t.test("half a surrogate pair in a tool's input can be asked about, refused and remembered", async (t) => {
  const app = await build(t, {
    config: calling({ toolName: 'writeFile', input: { path: 'a.txt', content: 'x\ud83d' } }, {
      toolName: 'writeFile',
      input: { path: 'b.txt', content: 'x\ud83c' }
    })
  })
  const [one, two] = asked((await say(app, 'go', { id: 'chat' })).events)
  await answer(app, { [one]: false, [two]: true })
  t.equal(readFileSync(`${app.cwd}/b.txt`, 'utf8'), 'x\ufffd')
  t.equal(asked((await say(app, 'again', { id: 'chat' })).events).length, 1, 'only the one that was not refused')
})

/** A model that, told anything, streams these parts between the first and the last one, and then says "done". */
const streaming = (...parts: object[]) => (_request: unknown, nth: number) =>
  nth > 0
    ? { text: 'done' }
    : {
        parts: [{ type: 'stream-start', warnings: [] }, ...parts, {
          type: 'finish',
          finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
          usage: { inputTokens: {}, outputTokens: {} }
        }]
      }
const calls = (input: string) => ({ type: 'tool-call', toolCallId: 'one', toolName: 'systemInfo', input })

t.test('an input that is no object is a bad call, and not what providers refuse in the next one', async (t) => {
  for (const input of ['null', '[]', '"text"', '5', 'no JSON', `{"deep":${'['.repeat(20_000)}${']'.repeat(20_000)}}`]) {
    await t.test(input.slice(0, 20), async (t) => {
      const { app, gateway } = await withGateway(t, streaming(calls(input)))
      const { events } = await say(app, 'go')
      t.match(of(events, 'tool-input-error'), [{ toolName: 'systemInfo', errorText: /systemInfo/ }])
      t.match(events.at(-1), { type: 'finish', finishReason: 'stop' })
      t.match(gateway.requests[1].body.prompt.slice(2), [
        { role: 'assistant', content: [{ type: 'tool-call', input: {} }] },
        { role: 'tool', content: [{ type: 'tool-result', output: { type: 'error-text' } }] }
      ])
      t.strictSame(gateway.requests[1].body.prompt[2].content[0].input, {})
    })
  }
})

t.test('an empty text of the model, which providers refuse, is not given back to it', async (t) => {
  const { app, gateway } = await withGateway(t, streaming({ type: 'text-start', id: '0' }, { type: 'text-end', id: '0' }, calls('{}')))
  await say(app, 'go')
  t.same(gateway.requests[1].body.prompt[2].content.map(({ type }: any) => type), ['tool-call'])
})

t.test("a history that is cut at its beginning, has calls of the provider's own or inputs that are no object becomes one that providers " +
  'take', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  const call = (toolCallId: string, more = {}) => ({ type: 'tool-call', toolCallId, toolName: 'search', input: {}, ...more })
  const result = (toolCallId: string) => ({ type: 'tool-result', toolCallId, toolName: 'search', output: { type: 'text', value: 'found' } })
  await sayAll(app, [
    { role: 'tool', content: [result('cut off')] },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: [call('theirs', { providerExecuted: true }), result('theirs'), call('ours', { input: 'text' })] },
    { role: 'tool', content: [result('ours')] },
    { role: 'user', content: 'two' }
  ])
  const sent = gateway.requests[0].body.prompt.slice(1).map(({ role, content }: any) => [
    role,
    ...content.map(({ type, toolCallId }: any) => toolCallId ?? type)
  ])
  const [theirs, , ours] = sent[1].slice(1)
  t.same(sent, [
    ['user', 'text'],
    ['assistant', theirs, theirs, ours],
    ['tool', ours],
    ['user', 'text']
  ])
  for (const id of [theirs, ours]) t.match(id, /^[A-Za-z0-9]{9}$/, 'an id that every provider takes')
  t.not(theirs, ours)
  t.strictSame(gateway.requests[0].body.prompt[2].content[2].input, {})
})

t.test('no number of a query is beyond its limits, however it is written', async (t) => {
  const app = await build(t)
  const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))
  const numbers = Object.entries<any>(paths).flatMap(([path, { get }]) =>
    (get?.parameters ?? [])
      .filter(({ in: place, schema }: any) => place === 'query' && schema.type === 'integer').map(({ name }: any) => ({
        path,
        name,
        others: get.parameters.filter((each: any) => each.required && each.in === 'query').map((each: any) => [each.name, '0'])
      }))
  )
  t.ok(numbers.length > 10)
  for (const { path, name, others } of numbers) {
    for (const text of ['1e999', '-1e999', 'Infinity', '1e300']) {
      const { statusCode, body } = await app.inject({
        url: path.replace(/\{\w+\}/, '01900000-0000-7000-8000-000000000000'),
        query: { ...Object.fromEntries(others), [name]: text }
      })
      t.match([statusCode, body], [400, name], `${path}?${name}=${text}`)
    }
  }
})
