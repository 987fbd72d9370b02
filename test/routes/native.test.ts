import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { openChat, waiting } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { answer, asked, say, sayAll } from '../harness/agent.ts'
import { hastyClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { NATIVE_ANSWERS, SIGNED } from '../harness/native-answers.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withNative } from '../harness/with-native.ts'

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

const circle = { type: 'object', properties: { kind: { const: 'circle' }, r: { type: ['number', 'null'] } }, required: ['kind'] }
const group = { type: 'object', properties: { kind: { const: 'group' }, of: { type: 'array', items: { $ref: '#/$defs/shape' } } } }
/** What libraries make of a union of types of which one holds itself. */
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $ref: '#/$defs/shape',
  $defs: { shape: { oneOf: [circle, { ...group, required: ['kind', 'of'] }] } }
}
const good = { kind: 'group', of: [{ kind: 'circle', r: null }] }
const flat = { type: 'object', properties: { kind: { type: 'string' }, note: { type: 'string' } }, required: ['kind'] }

/** Every schema of a tool in a body of any of the APIs. */
function parametersOf (body: any): any[] {
  const functions = (body.tools ?? []).flatMap((tool: any) => tool.functionDeclarations ?? [tool.function ?? tool])
  return functions.map((each: any) => each.parameters ?? each.input_schema ?? each.parametersJsonSchema).filter(Boolean)
}
/**
 * What an API of this kind answers to a schema that it refuses: the first reason, or undefined. OpenAI and Anthropic take lists of types.
 */
function refusalOf (body: any, kind: string): string | undefined {
  const takesTypeLists = kind === 'openai' || kind === 'anthropic'
  for (const parameters of parametersOf(body)) {
    if (parameters.type?.toLowerCase() !== 'object') return 'schema must be type object at the root'
    const root = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].find((keyword) => keyword in parameters)
    if (root !== undefined) return `schema does not support ${root} at the top level`
    const text = JSON.stringify(parameters)
    const listed = !takesTypeLists && /"type":\[/.test(text) ? 'type lists' : undefined
    const word = /"(\$ref|\$defs|oneOf|allOf|const|if)":/.exec(text)?.[1] ?? listed
    if (word !== undefined) return `Invalid JSON payload: unknown name "${word}" at tools[0].parameters`
  }
  const format = body.response_format?.json_schema ?? body.text?.format
  if (format?.strict && JSON.stringify(format.schema).includes('"note"')) return "'required' is required to include every key in properties"
  return undefined
}
const refusing = (plan: Plan, kind = 'openai-compatible') => ({ body }: { body: any }): Plan => {
  const message = refusalOf(body, kind)
  return message === undefined ? plan : { error: { status: 400, type: 'invalid_request_error', message } }
}
const sync = async (app: App, options: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'go' }], options } })
  return { status: response.statusCode, ...response.json() }
}
/** Built-in tools alone may hold what these fakes refuse. */
const allowTools = ['systemInfo']
const wrapped: Plan = { toolCalls: [{ toolName: 'answer', input: { value: good } }] }

for (const native of NATIVE_WIRES) {
  t.test(`the API of ${native.kind} is sent a schema that it takes, and the answer is checked by the real one`, async (t) => {
    const wrong: Plan = { toolCalls: [{ toolName: 'answer', input: { value: { kind: 'group', of: [{ kind: 'square' }] } } }] }
    const { app, bodies } = await withNative(t, native, (request, nth) => refusing(nth === 0 ? wrong : wrapped, native.kind)(request))
    t.match(await sync(app, { allowTools, object: { schema } }), { status: 200, object: good })
    t.equal(bodies().length, 2, 'the circle that is a square did not fit')
  })

  t.test(`without tools, the API of ${native.kind} is asked for JSON, and takes it with optional properties, too`, async (t) => {
    const { app } = await withNative(t, native, refusing({ object: { kind: 'circle' } }, native.kind))
    t.match(await sync(app, { allowTools: [], object: { schema: flat } }), { status: 200, object: { kind: 'circle' } })
  })
}

t.test('a server that speaks chat completions is sent a schema that it takes', async (t) => {
  const { app } = await withDirect(t, refusing(wrapped))
  t.match(await sync(app, { allowTools, object: { schema } }), { status: 200, object: good })
})

t.test('a server that knows no response formats answers in JSON all the same', async (t) => {
  const { app, server } = await withDirect(t, () => ({}), {
    server: {
      reply: ({ body }) =>
        body.response_format
          ? { error: { status: 400, message: 'response_format is not supported' } }
          : { text: '```json\n{"kind": "circle"}\n```' }
    }
  })
  t.match(await sync(app, { allowTools: [], object: { schema: flat } }), { status: 200, object: { kind: 'circle' } })
  t.match(JSON.stringify(server.requests.findLast(({ body }) => body)!.body.messages), /answer with one JSON object.*note/)
})

t.test('an object that a model does not wrap is taken, too', async (t) => {
  const { app } = await withDirect(t, () => ({ toolCalls: [{ toolName: 'answer', input: good }] }))
  t.match(await sync(app, { object: { schema } }), { status: 200, object: good })
})

const run = { toolName: 'runCommand', input: { command: 'echo hi' } }
const userSaid = (content: string) => ({ role: 'user', content })
const askInChat = (app: App, text: string) => app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: userSaid(text) } })

for (const way of NATIVE_ANSWERS) {
  const FIRST = way.plan({ reasoning: 'I think', signature: SIGNED, text: 'Let me look.', toolCalls: [look, look] })
  const ASKS = way.plan({ reasoning: 'One\n\nTwo', signature: `asks ${SIGNED}`, text: 'May I?', toolCalls: [look, run] })
  const LAST = way.plan({ reasoning: 'Now I know', signature: `last ${SIGNED}`, text: 'It is empty.' })
  const [first, asks, last] = [FIRST, ASKS, LAST].map(way.returned)

  /** The service with a model that answers the plans in turn, then "ok". `got` checks what the n-th call got back. */
  const withAnswers = async (t: Test, ...plans: Plan[]) => {
    const made = await withNative(t, way.native, (_request, nth) => plans[nth] ?? { text: 'ok' }, { config: way.config })
    return {
      ...made,
      got (nth: number, expected: object[], which = '') {
        const sent = way.sent(made.bodies()[nth])
        t.match(sent, expected, `call ${nth} gets back what was attached, unchanged ${which}`)
        t.equal(sent.length, expected.length)
        t.notMatch(JSON.stringify(made.bodies()[nth]), '"agent"')
      }
    }
  }
  const again = async (t: Test, app: Awaited<ReturnType<typeof build>>) => {
    await app.close()
    return build(t, { home: app.home, cwd: app.cwd })
  }

  t.test(`${way.name}: goes back within a run and in later turns, also after a restart`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, LAST)
    await askInChat(app, 'go')
    got(1, first)
    await askInChat(app, 'and?')
    got(2, [...first, ...last])
    await askInChat(await again(t, app), 'still?')
    got(3, [...first, ...last, {}])
  })

  t.test(`${way.name}: goes back after an approval, then in the next turn`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, ASKS, LAST)
    const { events } = await sayAll(app, [userSaid('go')], { id: 'chat' })
    await answer(app, { [asked(events)[0]]: true })
    got(2, [...first, ...asks])
    await askInChat(app, 'and?')
    got(3, [...first, ...asks, ...last])
  })

  t.test(`${way.name}: goes back when the service was restarted before the approval`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, ASKS, LAST)
    const { events } = await sayAll(app, [userSaid('go')], { id: 'chat' })
    const later = await again(t, app)
    await answer(later, { [asked(events)[0]]: false })
    got(2, [...first, ...asks])
    await askInChat(later, 'and?')
    got(3, [...first, ...asks, ...last])
  })

  const histories: Array<[string, (messages: any[]) => any[]]> = [
    ['as the thread has it', (messages) => messages],
    ['as texts', () => [userSaid('go'), { role: 'assistant', content: 'It is empty.' }]]
  ]
  for (const [name, history] of histories) {
    t.test(`${way.name}: goes back when a caller sends the whole conversation ${name}`, async (t) => {
      const { app, got } = await withAnswers(t, FIRST, LAST)
      await sayAll(app, [userSaid('go')], { id: 'chat' })
      const { messages } = (await app.inject('/threads/chat')).json()
      await sayAll(app, [...history(messages), userSaid('and?')], { id: 'chat' })
      got(2, [...first, ...last])
    })
  }

  t.test(`${way.name}: goes back when a chat client approves, goes on, and is opened again`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, ASKS, LAST)
    const { release } = versions.at(-1)!
    const init = { id: 'chat', sendAutomaticallyWhen: release.lastAssistantMessageIsCompleteWithApprovalResponses }
    const chat = await openChat(app, versions.at(-1)!, init)
    await chat.say('go')
    await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
    got(2, [...first, ...asks])
    await chat.say('and?')
    got(3, [...first, ...asks, ...last])
    t.same(chat.errors, [])

    const later = await again(t, app)
    const { messages } = (await later.inject('/threads/chat')).json()
    await (await openChat(later, versions.at(-1)!, { ...init, messages })).say('still?')
    got(4, [...first, ...asks, ...last, {}], 'by a chat that was opened again')
  })
}
