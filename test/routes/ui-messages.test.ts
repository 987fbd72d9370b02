import t from 'tap'
import { sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const user = (text: string) => ({ id: 'u', role: 'user', parts: [{ type: 'text', text }] })
const assistant = (...parts: object[]) => ({ id: 'a', role: 'assistant', parts })
const call = (state: string, rest: object = {}) => ({ type: 'tool-runCommand', toolCallId: 'c1', state, input: { command: 'ls' }, ...rest })
const result = (output: object) => [
  { role: 'assistant', content: [{ type: 'tool-call', toolName: 'runCommand', input: { command: 'ls' } }] },
  { role: 'tool', content: [{ type: 'tool-result', output }] }
]

t.test('the parts of every version mean the same to the model', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  const refused = { type: 'execution-denied' }
  const cases: Array<[string, object[], object[]]> = [
    [
      'an output of 5.x',
      [call('output-available', { output: { ok: true }, providerExecuted: false })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an approved output of 6.x',
      [call('output-available', { output: { ok: true }, approval: { id: 'x', approved: true } })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an output whose approval was given elsewhere',
      [call('output-available', { output: { ok: true }, approval: { id: 'x' } })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'an output the provider is said to have made',
      [call('output-available', { output: { ok: true }, providerExecuted: true })],
      result({ type: 'json', value: { ok: true } })
    ],
    [
      'a dynamic tool',
      [{ ...call('output-available', { output: { ok: true } }), type: 'dynamic-tool', toolName: 'runCommand' }],
      result({ type: 'json', value: { ok: true } })
    ],
    ['an error', [call('output-error', { errorText: 'no such folder' })], result({ type: 'error-text', value: 'no such folder' })],
    [
      'an error that kept its raw input',
      [call('output-error', { input: undefined, rawInput: { command: 'ls' }, errorText: 'bad' })],
      result({ type: 'error-text', value: 'bad' })
    ],
    [
      'a denial',
      [call('output-denied', { approval: { id: 'x', approved: false, reason: 'not now' } })],
      result({ ...refused, reason: 'not now' })
    ],
    ['a denial without its approval', [call('output-denied')], result({ ...refused, reason: 'The user denied this call.' })],
    ['an open question', [call('approval-requested', { approval: { id: 'x' } })], result(refused)],
    ['an open question without its id', [call('approval-requested')], result(refused)],
    ['a call without an outcome', [call('input-available')], result(refused)],
    [
      'an approval whose outcome never came',
      [call('approval-responded', { approval: { id: 'x', approved: true } })],
      result({ type: 'error-text', value: /lost/ })
    ],
    [
      'a denial whose outcome never came',
      [call('approval-responded', { approval: { id: 'x', approved: false, reason: 'no!' } })],
      result({ ...refused, reason: 'no!' })
    ],
    ['a call cut off while it was written', [call('input-streaming', { input: undefined }), { type: 'text', text: 'oh' }], [{
      role: 'assistant',
      content: [{ type: 'text', text: 'oh' }]
    }]],
    ['what is shown beside the conversation', [
      { type: 'reasoning', text: 'ours', state: 'done', providerMetadata: { agent: { phase: 'analysis' } } },
      { type: 'data-chart', data: { any: 1 } },
      { type: 'source-url', sourceId: 's', url: 'https://a.b' },
      { type: 'step-start' },
      { type: 'text', text: 'oh', state: 'streaming' }
    ], [{ role: 'assistant', content: [{ type: 'text', text: 'oh' }] }]],
    ['nothing but analysis', [{ type: 'reasoning', text: 'ours', providerMetadata: { agent: { phase: 'analysis' } } }], []],
    ['no part at all', [], []]
  ]
  for (const [name, parts, expected] of cases) {
    const { status, body } = await sayAll(app, [user('go'), assistant(...parts), user('and now?')])
    t.equal(status, 200, `${name} ${JSON.stringify(body) ?? ''}`)
    const prompt = gateway.requests.at(-1)!.body.prompt.slice(1)
    t.match(prompt.slice(1, -1), expected, name)
    t.equal(prompt.length, expected.length + 2, name)
    t.notMatch(JSON.stringify(prompt), /"ours"|approval-re/)
  }
})

t.test('instructions, plain messages and messages without an id are taken beside them', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await sayAll(app, [
    { role: 'system', parts: [{ type: 'text', text: 'Talk like a pirate.' }] },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'two' },
    { role: 'user', parts: [{ type: 'text', text: 'three' }, { type: 'file', mediaType: 'image/png', url: 'https://example.com/a.png' }] }
  ])
  const [system, ...prompt] = gateway.requests[0].body.prompt
  t.match(system.content, /pirate/)
  t.match(prompt, [{ content: [{ text: 'one' }] }, { content: [{ text: 'two' }] }, {
    content: [{ text: 'three' }, { type: 'file', mediaType: 'image/png' }]
  }])
})

t.test('an output in the history is shown to the model as shortened as it was at first', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'ok' }))
  await sayAll(app, [user('go'), assistant(call('output-available', { output: { content: 'line\n'.repeat(50_000) } })), user('and now?')])
  t.ok(JSON.stringify(gateway.requests[0].body.prompt).length < 70_000)
  t.match(JSON.stringify(gateway.requests[0].body.prompt), /left out/)
})

t.test('a message that is none is a 400 that names it, and the part', async (t) => {
  const app = await build(t)
  const cases: Array<[object, RegExp]> = [
    [{ role: 'user', parts: 'hi' }, /messages\[1\]\.parts must be an array/],
    [{ role: 'user', parts: [] }, /messages\[1\]\.parts/],
    [{ role: 'wizard', parts: [{ type: 'text', text: 'hi' }] }, /messages\[1\]\.role/],
    [{ role: 'user', parts: [{ type: 'text', text: 'hi' }, { type: 'text', text: 5 }] }, /messages\[1\]\.parts\[1\]\.text/],
    [{ role: 'user', parts: [{ type: 'mystery' }] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'user', parts: [null] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'assistant', parts: [{ type: 'tool-invocation', toolInvocation: {} }] }, /messages\[1\]\.parts\[0\]/],
    [{ role: 'assistant', parts: [call('finished')] }, /messages\[1\]\.parts\[0\]\.state/],
    [{ role: 'user', parts: [{ type: 'file', mediaType: 'text/plain', url: 'file:///etc/passwd' }] }, /messages\[1\]\.parts\[0\]\.url/],
    [{ role: 'user', parts: [{ type: 'file', mediaType: 'text/plain', url: 'nowhere' }] }, /messages\[1\]\.parts\[0\]\.url/]
  ]
  for (const [message, error] of cases) {
    t.match(
      await sayAll(app, [user('hi'), message]),
      { status: 400, body: { error, code: 'ERR_INVALID_MESSAGES' } },
      JSON.stringify(message)
    )
  }
  t.match(await sayAll(app, [{ role: 'user', parts: [{ type: 'data-place', data: {} }] }]), {
    status: 400,
    body: { error: /says something/ }
  })
})

t.test("a run that goes on from the assistant's message goes on with its id", async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'ok' }))
  const { events } = await sayAll(app, [user('go'), assistant(call('output-available', { output: {} }))])
  t.equal(events[0].messageId, 'a')
})
