import t, { type Test } from 'tap'
import { append, effects } from '../harness/effects.ts'
import type { Plan } from '../fakes/gateway.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

const version = versions.find(({ approvals }) => !approvals)!

/** A chat of 5.x that knows our data part: it sends its user's answer to /run/approve as the protocol has it. */
async function chatWith (t: Test, plans: Plan[]) {
  const { app, gateway } = await withGateway(t, (_request, nth) => plans[nth])
  let decisions: Record<string, boolean> = {}
  const chat = await openChat(app, version, {
    id: 'chat',
    path: '/run?protocol=ui5',
    prepareSendMessagesRequest ({ messages, id }) {
      const answers = Object.entries(decisions).map(([approvalId, approved]) => ({ type: 'tool-approval-response', approvalId, approved }))
      decisions = {}
      if (answers.length === 0) return { body: { messages, id } }
      return { api: '/run/approve?protocol=ui5', body: { messages: [...messages, { role: 'tool', content: answers }], id } }
    }
  })
  return {
    app,
    gateway,
    chat,
    questions: (): any[] => chat.parts.filter(({ type }) => type === 'data-approval-request').map(({ data }) => data),
    async answer (given: Record<string, boolean>) {
      decisions = given
      await chat.chat.sendMessage()
    }
  }
}

t.test('a chat of 5.x is asked with a data part and answers on /run/approve, twice in a row', async (t) => {
  const { app, gateway, chat, questions, answer } = await chatWith(t, [{ toolCalls: [append('a')] }, { toolCalls: [append('b')] }, {
    text: 'Done.'
  }, { text: 'Bye.' }])
  await chat.say('go')
  const [first] = questions()
  t.match(first, { toolName: 'runCommand', input: append('a').input, toolCallId: chat.calls[0].toolCallId })
  t.match(chat.calls, [{ state: 'input-available' }])

  await answer({ [first.approvalId]: true })
  t.equal(effects(app.cwd), 'a')
  t.match(chat.calls, [{ state: 'output-available' }, { state: 'input-available' }])
  await answer({ [questions()[1].approvalId]: true })
  t.equal(effects(app.cwd), 'ab')
  t.equal(chat.text, 'Done.')
  t.equal(chat.chat.messages.length, 2, 'it is one message')

  await chat.say('bye')
  t.equal(chat.text, 'Bye.')
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt.slice(1)), /approval/)
  t.same(chat.errors, [])
})

t.test("a chat of 5.x sees a denial as the tool's error, and is asked again without a second data part", async (t) => {
  const { app, chat, questions, answer } = await chatWith(t, [{ toolCalls: [append('a'), append('b')] }, { text: 'As you wish.' }, {
    text: 'Bye.'
  }])
  await chat.say('go')
  const [a, b] = questions()
  await answer({ [a.approvalId]: false })
  t.equal(questions().length, 2)
  await answer({ [b.approvalId]: true })
  t.equal(effects(app.cwd), 'b')
  t.match(chat.calls, [{ state: 'output-error', errorText: /denied/ }, { state: 'output-available' }])
  await chat.say('bye')
  t.equal(chat.text, 'Bye.')
  t.same(chat.errors, [])
})

t.test('a chat of 5.x that says something else instead withdraws the question', async (t) => {
  const { app, chat } = await chatWith(t, [{ toolCalls: [append('a')] }, { text: 'All right.' }])
  await chat.say('go')
  await chat.say('no, wait')
  t.equal(chat.text, 'All right.')
  t.equal((await app.inject('/approvals')).json().approvals.length, 0)
  t.same(chat.errors, [])
})
