import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { openChat, waiting } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, sayAll } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { NATIVE_ANSWERS, SIGNED } from '../harness/native-answers.ts'
import { withNative } from '../harness/with-native.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }
const run = { toolName: 'runCommand', input: { command: 'echo hi' } }
const user = (content: string) => ({ role: 'user', content })
const ask = (app: App, text: string) => app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: user(text) } })

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
    await ask(app, 'go')
    got(1, first)
    await ask(app, 'and?')
    got(2, [...first, ...last])
    await ask(await again(t, app), 'still?')
    got(3, [...first, ...last, {}])
  })

  t.test(`${way.name}: goes back after an approval, then in the next turn`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, ASKS, LAST)
    const { events } = await sayAll(app, [user('go')], { id: 'chat' })
    await answer(app, { [asked(events)[0]]: true })
    got(2, [...first, ...asks])
    await ask(app, 'and?')
    got(3, [...first, ...asks, ...last])
  })

  t.test(`${way.name}: goes back when the service was restarted before the approval`, async (t) => {
    const { app, got } = await withAnswers(t, FIRST, ASKS, LAST)
    const { events } = await sayAll(app, [user('go')], { id: 'chat' })
    const later = await again(t, app)
    await answer(later, { [asked(events)[0]]: false })
    got(2, [...first, ...asks])
    await ask(later, 'and?')
    got(3, [...first, ...asks, ...last])
  })

  const histories: Array<[string, (messages: any[]) => any[]]> = [
    ['as the thread has it', (messages) => messages],
    ['as texts', () => [user('go'), { role: 'assistant', content: 'It is empty.' }]]
  ]
  for (const [name, history] of histories) {
    t.test(`${way.name}: goes back when a caller sends the whole conversation ${name}`, async (t) => {
      const { app, got } = await withAnswers(t, FIRST, LAST)
      await sayAll(app, [user('go')], { id: 'chat' })
      const { messages } = (await app.inject('/threads/chat')).json()
      await sayAll(app, [...history(messages), user('and?')], { id: 'chat' })
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
