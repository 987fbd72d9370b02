import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { say, sayAll } from '../harness/agent.ts'
import { NATIVE_WIRES, type NativeWire } from '../harness/native-wires.ts'
import { withNative } from '../harness/with-native.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }
const SIGNED = `${'EqQBCkYIBxgCIkAa+/='.repeat(40)}é"\\`
const FIRST: Plan = { reasoning: 'I think', signature: SIGNED, redacted: `hidden ${SIGNED}`, text: 'Let me look.', toolCalls: [look, look] }
const LAST: Plan = { reasoning: 'Now I know', signature: `last ${SIGNED}`, text: 'It is empty.' }

/** The assistant's part of a request, without the results of tools and without ids that the fake numbers. */
const ANSWERS: Record<string, (body: any) => any[]> = {
  openai: ({ input }) => input.filter(({ type, role }: any) => role === 'assistant' || type === 'reasoning' || type === 'function_call'),
  anthropic: ({ messages }) => messages.flatMap(({ role, content }: any) => role === 'assistant' ? content : []),
  google: ({ contents }) => contents.flatMap(({ role, parts }: any) => role === 'model' ? parts : [])
}
/** How each provider wants the two answers back. */
const RETURNED: Record<string, { first: object[], last: object[] }> = {
  openai: {
    first: [
      { type: 'reasoning', id: /^rs_/, encrypted_content: SIGNED, summary: [{ type: 'summary_text', text: 'I think' }] },
      { role: 'assistant', content: 'Let me look.' },
      { type: 'function_call', call_id: /^call_/, name: 'listDirectory' },
      { type: 'function_call', call_id: /^call_/, name: 'listDirectory' }
    ],
    last: [
      { type: 'reasoning', id: /^rs_/, encrypted_content: `last ${SIGNED}`, summary: [{ type: 'summary_text', text: 'Now I know' }] },
      { role: 'assistant', content: 'It is empty.' }
    ]
  },
  anthropic: {
    first: [
      { type: 'thinking', thinking: 'I think', signature: SIGNED },
      { type: 'redacted_thinking', data: `hidden ${SIGNED}` },
      { type: 'text', text: 'Let me look.' },
      { type: 'tool_use', name: 'listDirectory', input: { path: '.' } },
      { type: 'tool_use', name: 'listDirectory', input: { path: '.' } }
    ],
    last: [
      { type: 'thinking', thinking: 'Now I know', signature: `last ${SIGNED}` },
      { type: 'text', text: 'It is empty.' }
    ]
  },
  google: {
    first: [
      { text: 'I think', thought: true },
      { text: 'Let me look.' },
      { functionCall: { name: 'listDirectory' }, thoughtSignature: SIGNED },
      { functionCall: { name: 'listDirectory' } }
    ],
    last: [{ text: 'Now I know', thought: true }, { text: 'It is empty.', thoughtSignature: `last ${SIGNED}` }]
  }
}

const user = (text: string) => ({ id: text, role: 'user', parts: [{ type: 'text', text }] })
const ask = (app: App, text: string) => app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: user(text) } })
const use = (app: App, model: string) => app.inject({ method: 'POST', url: '/providers/configure', payload: { model } })

/** A conversation `chat` of one turn with a look at the folder. */
async function talked (t: Test, native: NativeWire, settings = {}) {
  const made = await withNative(t, native, (_request, nth) => [FIRST, LAST][nth] ?? { text: 'ok' }, settings)
  t.equal((await sayAll(made.app, [user('go')], { id: 'chat' })).status, 200)
  return made
}

for (const native of NATIVE_WIRES) {
  const { kind, model } = native
  const answers = ANSWERS[kind]
  const { first, last } = RETURNED[kind]
  const nothingAttached = (t: Test, body: any) => t.notMatch(JSON.stringify(body), /I think|Now I know|EqQB/)

  t.test(`${kind}: the next step and later turns get back what was attached, unchanged, also after a restart`, async (t) => {
    const { app, bodies, server } = await talked(t, native)
    t.match(answers(bodies()[1]), first)
    t.equal(answers(bodies()[1]).length, first.length)
    await ask(app, 'and?')
    t.match(answers(bodies()[2]), [...first, ...last])
    t.equal(answers(bodies()[2]).length, first.length + last.length)
    const config = (await app.inject('/config')).json()
    await app.close()
    const after = await withNative(t, native, () => ({ text: 'ok' }), { home: app.home, cwd: app.cwd, server: {} })
    writeFileSync(`${app.home}/config.json`, JSON.stringify({
      ...config,
      providers: { [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } }
    }))
    await after.app.inject({ method: 'POST', url: '/config/reload' })
    await ask(after.app, 'still?')
    t.match(answers(bodies().at(-1)).slice(0, first.length + last.length), [...first, ...last])
    t.notMatch(JSON.stringify(bodies()), '"agent"')
  })

  t.test(`${kind}: another model of the provider gets nothing of it, and the one that made it gets it again`, async (t) => {
    const { app, bodies } = await talked(t, native)
    await use(app, `${kind}/${model}-other`)
    await ask(app, 'and?')
    nothingAttached(t, bodies()[2])
    t.match(JSON.stringify(answers(bodies()[2])), /Let me look.*listDirectory.*It is empty/)
    await use(app, `${kind}/${model}`)
    await ask(app, 'back?')
    t.match(answers(bodies()[3]).slice(0, first.length + last.length), [...first, ...last])
  })

  t.test(`${kind}: the gateway gets nothing of it when the provider is not direct any more`, async (t) => {
    const gateway = await startFakeGateway({ reply: () => ({ reasoning: 'gateway thinks', text: 'ok' }) })
    t.teardown(() => gateway.close())
    const { app, bodies, server } = await talked(t, native, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
    const reload = async (providers: object) => {
      writeFileSync(`${app.home}/config.json`, JSON.stringify({ model: `${kind}/${model}`, analysis: false, threads: { titles: false }, providers }))
      t.equal((await app.inject({ method: 'POST', url: '/config/reload' })).statusCode, 200)
    }
    await reload({})
    await ask(app, 'and?')
    t.equal(gateway.requests[0].modelId, `${kind}/${model}`)
    nothingAttached(t, gateway.requests[0].body.prompt)
    await reload({ [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } })
    await ask(app, 'back?')
    t.match(answers(bodies()[2]).slice(0, first.length + last.length), [...first, ...last])
    t.notMatch(JSON.stringify(bodies()[2]), 'gateway thinks')
  })

  t.test(`${kind}: a failure before the answer is tried again, one within it is told`, async (t) => {
    let calls = 0
    const { app } = await withNative(t, native, () =>
      [
        { error: { status: 429, message: 'slow down', headers: { 'retry-after': '0' } } } as Plan,
        { text: 'it works' } as Plan,
        { text: 'it breaks here', ending: 'cut', after: 5 } as Plan
      ][calls++])
    const good = await say(app, 'go')
    t.match(good.events.map(({ delta }) => delta ?? '').join(''), 'it works')
    t.equal(calls, 2)
    const { events } = await say(app, 'go')
    t.match(events.find(({ type }) => type === 'error'), { errorText: /broke off/ })
  })
}
