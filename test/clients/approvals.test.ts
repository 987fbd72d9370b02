import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { append, effects } from '../harness/effects.ts'
import { layFolders } from '../harness/folders.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat, waiting } from './chat.ts'
import { versions } from './versions.ts'

const write = (path: string, content: string) => ({ toolName: 'writeFile', input: { path, content } })

for (const version of versions.filter(({ approvals }) => approvals)) {
  const sendAutomaticallyWhen = version.release.lastAssistantMessageIsCompleteWithApprovalResponses

  t.test(`a chat of ${version.name} that answers approvals on /run`, async (t) => {
    t.test('goes on with the same message through a chain of two, and then with another turn', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) =>
        [
          { text: 'One at a time.', toolCalls: [write('a.txt', 'A')] },
          { toolCalls: [write('b.txt', 'B')] },
          { text: 'Both are written.' },
          { text: 'You are welcome.' }
        ][nth], { config: { analysis: true } })
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })

      await chat.say('go')
      const { id } = chat.last
      t.match(chat.calls, [{ type: 'tool-writeFile', state: 'approval-requested', input: { path: 'a.txt', content: 'A' } }])
      t.notOk(existsSync(`${app.cwd}/a.txt`))

      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
      t.match(chat.calls, [{ state: 'output-available', output: { path: 'a.txt' } }, {
        state: 'approval-requested',
        input: { path: 'b.txt' }
      }])
      t.notOk(existsSync(`${app.cwd}/b.txt`))

      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
      t.equal(readFileSync(`${app.cwd}/b.txt`, 'utf8'), 'B')
      const isAnalysis = ({ providerMetadata }: any) => providerMetadata?.agent?.phase === 'analysis'
      t.match(chat.parts.filter(isAnalysis), [{ type: 'reasoning', state: 'done' }], 'it comes when it is there, and holds nothing up')
      t.match(chat.parts.filter((part) => !isAnalysis(part)), [
        { type: 'step-start' },
        { type: 'text', text: 'One at a time.' },
        { type: 'tool-writeFile', state: 'output-available' },
        { type: 'data-approval' },
        { type: 'step-start' },
        { type: 'tool-writeFile', state: 'output-available', approval: { approved: true } },
        { type: 'data-approval' },
        { type: 'step-start' },
        { type: 'text', text: 'Both are written.', state: 'done' }
      ])
      t.equal(chat.parts.length, 10, 'nothing is there twice')
      t.equal(chat.last.id, id)
      t.equal(chat.chat.messages.length, 2)

      await chat.say('thanks')
      t.equal(chat.text, 'You are welcome.')
      const results = gateway.requests.at(-1)!.body.prompt.filter(({ role }: any) => role === 'tool')
      t.match(results, [{ content: [{ output: { type: 'json', value: { path: 'a.txt' } } }] }, {
        content: [{ output: { type: 'json', value: { path: 'b.txt' } } }]
      }])
      t.same(chat.errors, [])
    })

    t.test('answers two at once, one yes and one no, and the model hears the reason', async (t) => {
      const { app, gateway, systemOf } = await withGateway(t, (_request, nth) =>
        [
          { toolCalls: [append('a'), append('b'), { toolName: 'systemInfo', input: {} }] },
          { text: 'As you wish.' },
          { text: 'Fine.' }
        ][nth])
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })
      await chat.say('go')
      const [a, b] = waiting(chat)
      await chat.chat.addToolApprovalResponse({ id: a, approved: false, reason: 'not that one' })
      t.equal(gateway.requests.length, 1, 'one answer of two sends nothing')
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: b, approved: true }))

      t.equal(effects(app.cwd), 'b')
      t.match(chat.calls, [
        { state: 'output-denied', approval: { approved: false, reason: 'not that one' } },
        { state: 'output-available', output: { exitCode: 0 } },
        { type: 'tool-systemInfo', state: 'output-available' }
      ])
      t.equal(chat.text, 'As you wish.')
      t.equal(systemOf(1), systemOf(0), 'the system prompt stays')
      t.match(JSON.stringify(gateway.requests[1].body.prompt.at(-1)), /do not retry.*not that one/i)

      await chat.say('never mind')
      t.equal(chat.text, 'Fine.')
      const [results] = gateway.requests.at(-1)!.body.prompt.filter(({ role }: any) => role === 'tool')
      t.match(results.content, [
        { output: { type: 'execution-denied', reason: 'not that one' } },
        { output: { type: 'json' } },
        { output: { type: 'text', value: /denied these calls[^\n]*\n- runCommand [^\n]*"not that one"/ } }
      ], 'the list of denied calls stays where the model was told it first')
      t.same(chat.errors, [])
    })

    t.test('that sends one answer of two is asked for the other again', async (t) => {
      const { app } = await withGateway(t, (_request, nth) => [{ toolCalls: [append('a'), append('b')] }, { text: 'Done.' }][nth])
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })
      await chat.say('go')
      const [a, b] = waiting(chat)
      await chat.chat.addToolApprovalResponse({ id: b, approved: true })
      await chat.chat.sendMessage()
      t.equal(effects(app.cwd), '')
      t.match(chat.calls, [{ state: 'approval-requested' }, { state: 'approval-responded' }])
      t.same(waiting(chat), [a])
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: a, approved: true }))
      t.equal(effects(app.cwd), 'ab')
      t.match(chat.calls, [{ state: 'output-available' }, { state: 'output-available' }])
      t.equal(chat.text, 'Done.')
      t.same(chat.errors, [])
    })

    t.test('that lost what followed an answer gets it again, and nothing runs twice', async (t) => {
      const { app } = await withGateway(
        t,
        (_request, nth) => [{ toolCalls: [append('a')] }, { toolCalls: [append('b')] }, { text: 'Done.' }][nth]
      )
      const chat = await openChat(app, version, { id: 'chat' })
      await chat.say('go')
      await chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true })
      const before = structuredClone(chat.chat.messages)
      await chat.chat.sendMessage()
      chat.chat.messages = before
      await chat.chat.sendMessage()
      t.equal(effects(app.cwd), 'a')
      t.match(chat.calls, [{ state: 'output-available' }, { state: 'approval-requested' }])

      // Now the answer that was carried out long ago is still there as one, beside the new one.
      chat.last.parts = chat.last.parts.map((part: any) =>
        part.state === 'output-available' ? before[1].parts.find(({ type }) => type === part.type)! : part
      )
      await chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true })
      await chat.chat.sendMessage()
      t.equal(effects(app.cwd), 'ab')
      t.equal(chat.text, 'Done.')
      t.same(chat.errors, [])
    })

    t.test('that says something else instead withdraws the question', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => [{ toolCalls: [append('a')] }, { text: 'All right.' }][nth])
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })
      await chat.say('go')
      await chat.say('no, wait')
      t.equal(chat.text, 'All right.')
      t.match(gateway.requests[1].body.prompt.find(({ role }: any) => role === 'tool'), {
        content: [{ output: { type: 'execution-denied' } }]
      })
      t.same((await app.inject('/approvals')).json(), { approvals: [] })
      t.same(chat.errors, [])
    })

    t.test('is shown a call refused without asking as an error, and can go on after it', async (t) => {
      const { app } = await withGateway(
        t,
        (_request, nth) => [{ toolCalls: [append('a')] }, { toolCalls: [append('a')] }, { text: 'Right.' }, { text: 'Bye.' }][nth]
      )
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })
      await chat.say('go')
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: false }))
      t.match(chat.calls, [{ state: 'output-denied' }, { state: 'output-error', errorText: /denied/ }])
      await chat.say('bye')
      t.equal(chat.text, 'Bye.')
      t.same(chat.errors, [])
    })

    t.test('is asked anew when its folder has changed, and its thread is what it shows', async (t) => {
      const { app } = await withGateway(t, (_request, nth) => [{ toolCalls: [append('a')] }, { text: 'Done.' }][nth], {
        config: { workspace: 'link' }
      })
      const { a, b, retarget } = layFolders(app.cwd)
      const chat = await openChat(app, version, { id: 'chat', sendAutomaticallyWhen })
      await chat.say('go')
      const [old] = waiting(chat)
      retarget(b)
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: old, approved: true }))
      t.same(effects(a) + effects(b), '')
      const [anew] = waiting(chat)
      t.not(anew, old)
      const kept = async () => (await app.inject('/threads/chat')).json().messages.at(-1).parts
      t.match(await kept(), [{ type: 'step-start' }, { state: 'approval-requested', approval: { id: anew } }])
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: anew, approved: true }))
      t.same([effects(a), effects(b)], ['', 'a'])
      t.equal(chat.text, 'Done.')
      t.match(chat.calls, [{ state: 'output-available', approval: { id: anew, approved: true } }])
      t.match((await kept())[1], { state: 'output-available', approval: { id: anew, approved: true } })
      t.same(chat.errors, [])
    })

    t.test('works with no model at all', async (t) => {
      const app = await build(t)
      const chat = await openChat(app, version, { sendAutomaticallyWhen })
      await chat.say('write "one" to a.txt, then write "two" to b.txt')
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
      await chat.andOn(() => chat.chat.addToolApprovalResponse({ id: waiting(chat)[0], approved: true }))
      t.equal(readFileSync(`${app.cwd}/b.txt`, 'utf8'), 'two')
      t.match(chat.text, /a\.txt[\s\S]*b\.txt/)
      t.same(chat.errors, [])
    })
  })
}

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
