import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { say, sayAll } from '../harness/agent.ts'
import { NATIVE_ANSWERS, SIGNED } from '../harness/native-answers.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withNative } from '../harness/with-native.ts'
import { hastyClock } from '../harness/clock.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }
const user = (text: string) => ({ id: text, role: 'user', parts: [{ type: 'text', text }] })
const ask = (app: App, text: string) => app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: user(text) } })
const use = (app: App, model: string) => app.inject({ method: 'POST', url: '/providers/configure', payload: { model } })

for (const way of NATIVE_ANSWERS) {
  const { kind, model } = way.native
  const FIRST = way.plan({ reasoning: 'I think', signature: SIGNED, text: 'Let me look.', toolCalls: [look, look] })
  const LAST = way.plan({ reasoning: 'Now I know', signature: `last ${SIGNED}`, text: 'It is empty.' })
  const answers = [FIRST, LAST].flatMap(way.returned)
  const nothingAttached = (t: Test, body: any) => t.notMatch(JSON.stringify(body), /I think|Now I know|EqQB|rs_\d|msg_\d/)

  /** A conversation `chat` of one turn with a look at the folder. */
  const talked = async (t: Test, settings = {}) => {
    const made = await withNative(
      t,
      way.native,
      (_request, nth) => [FIRST, LAST][nth] ?? { text: 'ok' },
      { config: way.config, ...settings }
    )
    t.equal((await sayAll(made.app, [user('go')], { id: 'chat' })).status, 200)
    return made
  }

  t.test(`${way.name}: another model of the provider gets nothing of it, and the one that made it gets it again`, async (t) => {
    const { app, bodies } = await talked(t)
    await use(app, `${kind}/${model}-other`)
    await ask(app, 'and?')
    nothingAttached(t, bodies()[2])
    t.match(JSON.stringify(way.sent(bodies()[2])), /Let me look.*listDirectory.*It is empty/)
    await use(app, `${kind}/${model}`)
    await ask(app, 'back?')
    t.match(way.sent(bodies()[3]).slice(0, answers.length), answers)
  })

  // A provider's name tells where its reasoning belongs; only the makers of models have the name of the gateway's too.
  if (kind === 'openai-compatible') continue
  t.test(`${way.name}: the gateway gets nothing of it when the provider is not direct any more`, async (t) => {
    const gateway = await startFakeGateway({ reply: () => ({ reasoning: 'gateway thinks', text: 'ok' }) })
    t.teardown(() => gateway.close())
    const { app, bodies, server } = await talked(t, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
    const reload = async (providers: object) => {
      const config = { model: `${kind}/${model}`, analysis: false, threads: { titles: false }, ...way.config, providers }
      writeFileSync(`${app.home}/config.json`, JSON.stringify(config))
      t.equal((await app.inject({ method: 'POST', url: '/config/reload' })).statusCode, 200)
    }
    await reload({})
    await ask(app, 'and?')
    t.equal(gateway.requests[0].modelId, `${kind}/${model}`)
    nothingAttached(t, gateway.requests[0].body.prompt)
    await reload({ [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } })
    await ask(app, 'back?')
    t.match(way.sent(bodies()[2]).slice(0, answers.length), answers)
    t.notMatch(JSON.stringify(bodies()[2]), 'gateway thinks')
  })
}

t.test('openai: items that it no longer stores are sent again as text, without the reasoning behind them', async (t) => {
  const way = NATIVE_ANSWERS.find(({ name }) => name === 'openai, items that it stores')!
  const FIRST = { reasoning: 'I think', signature: SIGNED, text: 'Let me look.', toolCalls: [look] }
  let isOver = false
  const { app, bodies } = await withNative(t, way.native, ({ body }, nth): Plan =>
    isOver && JSON.stringify(body).includes('item_reference')
      ? { error: { status: 404, type: 'invalid_request_error', message: "Item with id 'rs_1' not found." } }
      : [FIRST, { text: 'It is empty.' }][nth] ?? { text: 'ok' }, { config: way.config })
  await ask(app, 'go')
  isOver = true
  t.match((await ask(app, 'and?')).body, '"ok"')
  t.equal(bodies().length, 4)
  t.match(JSON.stringify(way.sent(bodies()[3])), /Let me look.*listDirectory.*It is empty/)
})

for (const native of NATIVE_WIRES) {
  t.test(`${native.kind}: a failure is tried again, before the answer and within it`, async (t) => {
    let calls = 0
    const { app } = await withNative(t, native, () =>
      [
        { error: { status: 429, message: 'slow down', headers: { 'retry-after': '0' } } } as Plan,
        { text: 'it works' } as Plan,
        { text: 'it breaks here', ending: 'cut', after: 5 } as Plan
      ][calls++], { clock: hastyClock() })
    const good = await say(app, 'go')
    t.match(good.events.map(({ delta }) => delta ?? '').join(''), 'it works')
    t.equal(calls, 2)
    const { events } = await say(app, 'go')
    t.match(events.find(({ type }) => type === 'data-retry'), { data: { reason: /broke off/ } })
    t.equal(calls, 4)
  })
}
