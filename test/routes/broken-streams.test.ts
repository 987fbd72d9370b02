import t, { type Test } from 'tap'
import { lastAssistantMessageIsCompleteWithToolCalls } from 'ai'
import type { App } from '../../app.ts'
import { openChat } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import { createRunState } from '../../client/run-state.ts'
import { withoutDroppedTries } from '../../client/dropped-tries.ts'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { fakeClock, hastyClock, until } from '../harness/clock.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'
import { textOf } from '../harness/sse.ts'
import { openRun, userSays } from '../harness/reader.ts'

type Reply = (nth: number) => Plan
type Settings = { clock?: ReturnType<typeof hastyClock>, config?: object }
const settingsOf = (settings: Settings) => ({ clock: hastyClock(), ...settings })

/** The service in front of a model of each wire format; `bodies` are the streamed requests. */
const WIRES = {
  gateway: async (t: Test, reply: Reply, settings: Settings = {}) => {
    const { app, gateway } = await withGateway(t, (_request, nth) => reply(nth), settingsOf(settings))
    return { app, bodies: () => gateway.requests.filter(({ streaming }) => streaming).map(({ body }) => body) }
  },
  compatible: async (t: Test, reply: Reply, settings: Settings = {}) => {
    const { app, server } = await withDirect(t, (_request, nth) => reply(nth), settingsOf(settings))
    return { app, bodies: () => server.calls.filter(({ streaming }) => streaming).map(({ body }) => body) }
  },
  anthropic: (t: Test, reply: Reply, settings: Settings = {}) =>
    withNative(t, NATIVE_WIRES.find(({ kind }) => kind === 'anthropic')!, (_request, nth) => reply(nth), settingsOf(settings))
}

const WHOLE: Plan = {
  reasoning: 'I think of it',
  text: 'Let me look.',
  toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, { toolName: 'systemInfo', input: {} }]
}
const count = (text: string, value: unknown) => JSON.stringify(value).split(text).length - 1
const threadOf = async (app: App, id: string) => (await app.inject(`/threads/${id}`)).json().messages

for (const [name, service] of Object.entries(WIRES)) {
  t.test(`${name}: wherever an answer breaks off, it is asked for again, and nothing of it is left or done twice`, async (t) => {
    let breaks: Partial<Plan> = {}
    let base = 0
    const { app, bodies } = await service(t, (nth) => nth === base ? { ...WHOLE, ...breaks } : nth === base + 1 ? WHOLE : { text: 'Done.' })
    for (let after = 1; after < 40; after++) {
      base = bodies().length
      breaks = { ending: 'cut', after }
      const id = `cut ${after}`
      const { events } = await say(app, 'go', { id })
      if (bodies().length - base === 2) break // it was whole
      const state = createRunState()
      for (const event of events) state.add(event as never)
      const { messages, text } = state.result()
      t.equal(text, 'Done.')
      t.equal(count('Let me look.', messages), 1, `cut after ${after}: a client has the text once`)
      t.equal(of(events, 'tool-output-available').length, 2)
      t.equal(count('Let me look.', bodies().at(-1)), 1, 'so does the model')
      t.equal(count('Let me look.', await threadOf(app, id)), 1, 'and the thread')
      t.equal(count('tool-input-error', await threadOf(app, id)), 0)
      const [run] = (await app.inject(`/runs?threadId=${encodeURIComponent(id)}`)).json().runs
      t.equal(run.toolCount, 2)
      const [retry] = of(events, 'data-retry')
      if (retry === undefined) continue // nothing of it had been shown
      t.match(retry.data, { attempt: 1, reason: /broke off|closed|connection/i })
      const ids = events.slice(0, events.indexOf(retry)).flatMap(({ id, toolCallId, type }) =>
        /^(text|reasoning|tool-input)-start$/.test(type) ? [id ?? toolCallId] : []
      )
      t.same(retry.data.dropped, ids)
      t.equal(of(events, 'text-start').length, of(events, 'text-end').length, 'what was begun is ended')
    }
    t.ok(base > 20, 'it was cut at many places')
  })

  t.test(`${name}: an answer that breaks off three times is whole at the fourth, and costs what was sent`, async (t) => {
    const { app, bodies } = await service(t, (nth) => nth < 3 ? { ...WHOLE, ending: 'cut', after: 8 } : { text: 'There.' })
    const { events } = await say(app, 'go')
    t.same(of(events, 'data-retry').map(({ data }) => data.attempt), [1, 2, 3])
    t.equal(bodies().length, 4)
    t.ok(events.at(-1)!.usage.inputTokens > 3 * 100, 'the tries that broke off are counted by estimate')
    const sync = (await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'and?' }] } })).json()
    t.match(sync, { text: 'There.', steps: 1, toolCalls: [] })
  })
}

t.test('a stream that reports in its middle that the server is overloaded is asked for again', async (t) => {
  const errors = {
    gateway: { type: 'rate_limit_exceeded', message: 'Slow down' },
    anthropic: { type: 'overloaded_error', message: 'Overloaded' }
  }
  for (const [name, error] of Object.entries(errors)) {
    await t.test(name, async (t) => {
      const { app } = await WIRES[name as keyof typeof errors](t, (nth) =>
        nth === 0 ? { ...WHOLE, ending: { error }, after: 9 } : { text: 'Done.' })
      const { events } = await say(app, 'go')
      t.equal(of(events, 'data-retry').length, 1)
      t.equal(of(events, 'error').length, 0)
    })
  }
})

t.test('after three tries the fallback model answers', async (t) => {
  const config = { models: { fallback: 'test/other' } }
  const half: Plan = { text: ['half ', 'of'], ending: 'cut', after: 4 }
  const reply = ({ modelId }: { modelId: string }) => modelId === 'test/other' ? { text: 'From the other.' } : half
  const { app } = await withGateway(t, reply, { config, clock: hastyClock() })
  const { events } = await say(app, 'go')
  t.equal(of(events, 'data-retry').length, 4)
  const state = createRunState()
  for (const event of events) state.add(event as never)
  t.equal(state.result().text, 'From the other.')
})

t.test('no chat sends by itself after a dropped call, and its own history holds the text once', async (t) => {
  for (const version of versions) {
    await t.test(version.name, async (t) => {
      const { app, bodies } = await WIRES.gateway(t, (nth) =>
        nth === 0 ? { ...WHOLE, ending: 'cut', after: 13 } : nth === 1 ? { text: 'Let me look. It is so.' } : { text: 'You are welcome.' })
      const open = await openChat(app, version, {
        id: 'c',
        sendAutomaticallyWhen: version.release.lastAssistantMessageIsCompleteWithToolCalls ?? lastAssistantMessageIsCompleteWithToolCalls,
        ...(version.approvals ? {} : { path: '/run?protocol=ui5' }),
        onToolCall: () => void t.fail('no call was whole')
      })
      await open.say('go')
      t.equal(bodies().length, 2)
      t.same(open.errors, [])
      t.equal(count('Let me look.', withoutDroppedTries(open.last.parts)), 1, 'the filter of the docs')
      t.equal(count('Let me look.', await threadOf(app, 'c')), 1)
      const { messageCount } = (await app.inject('/threads/c')).json()
      await open.say('thanks')
      t.same(open.errors, [])
      await app.inject({ method: 'PUT', url: '/threads/kept', payload: { messages: open.chat.messages } })
      t.equal(count('Let me look.', await threadOf(app, 'kept')), 1, 'as it is in a thread that an app stores')
      await app.inject({ method: 'DELETE', url: '/threads/kept' })
      t.equal(count('Let me look.', bodies().at(-1)), 1, 'what the chat sends back is stripped')
      t.equal((await app.inject('/threads')).json().threads.length, 1, 'and is the same thread')
      t.equal((await app.inject('/threads/c')).json().messageCount, messageCount + 2)
    })
  }
})

t.test('a slow server of the user is waited for, with word of it, and stops at once', async (t) => {
  for (const [name, service] of Object.entries(WIRES)) {
    await t.test(name, async (t) => {
      const clock = fakeClock()
      const begun: Array<(plan: Plan) => void> = []
      const { app } = await service(t, () => new Promise<Plan>((resolve) => begun.push(resolve)) as never, { clock })
      const run = await openRun(app, userSays('go'))
      while (begun.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
      await clock.advance(6 * 60_000)
      t.match(of(run.events, 'data-waiting').at(-1), { transient: true, data: { for: 'model', sinceMs: 360_000 } })
      t.equal(of(run.events, 'data-waiting').length, 36)
      begun[0]({ text: 'At last.' })
      await until(run.ended, () => new Promise(setImmediate))
      t.equal(textOf(run.events), 'At last.')
      t.equal(begun.length, 1, 'it was asked once')

      const again = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
      while (begun.length === 1) await new Promise((resolve) => setTimeout(resolve, 2))
      await clock.advance(20_000)
      await app.inject({ method: 'POST', url: '/run/chat/stop' })
      await again.ended
      t.match(again.events.at(-1), { type: 'finish', stopped: { reason: 'user' } })
      begun[1]({ text: '' })
    })
  }
})
