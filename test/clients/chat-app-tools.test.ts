import t from 'tap'
import type { App } from '../../app.ts'
import { answerCall, calls, OPTIONS, settled, toldResults, withTurns } from '../harness/app-tools.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions, type Version } from './versions.ts'

/** A chat whose application does nothing by itself, and counts the calls that it was told to execute. */
async function openTab (app: App, version: Version, init: Parameters<typeof openChat>[2] = {}) {
  const fired: Array<{ toolCallId: string, toolName: string, input: any }> = []
  const chat = await openChat(app, version, {
    id: 'chat',
    path: version.approvals ? '/run' : '/run?protocol=ui5',
    body: { options: OPTIONS },
    sendAutomaticallyWhen: (messages) =>
      version.release.lastAssistantMessageIsCompleteWithToolCalls(messages) ||
      (version.approvals && version.release.lastAssistantMessageIsCompleteWithApprovalResponses(messages)),
    onToolCall ({ toolCall: { toolCallId, toolName, input } }) {
      fired.push({ toolCallId, toolName, input })
    },
    ...init
  })
  const give = (toolCallId: string, result: object) =>
    chat.andOn(() => chat.chat.addToolOutput({ tool: 'openDocument', toolCallId, ...result } as never))
  return Object.assign(chat, { fired, give })
}
const stored = async (app: App) => (await app.inject('/threads/chat')).json().messages

for (const version of versions) {
  t.test(`a chat of ${version.name} whose application has tools`, async (t) => {
    t.test('executes a call once, and goes on by itself with the output', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('openDocument')])
      const tab = await openTab(app, version)
      await tab.say('open it')
      t.match(tab.fired, [{ toolName: 'openDocument', input: { name: 'Budget' } }])
      t.match(tab.calls, [{ type: 'tool-openDocument', state: 'input-available', input: { name: 'Budget' } }])
      await tab.give(tab.fired[0].toolCallId, { output: 'twelve pages' })
      t.equal(tab.text, 'Done.')
      t.match(tab.calls, [{ state: 'output-available', output: 'twelve pages' }])
      t.match(toldResults(gateway), [{ type: 'json', value: { result: 'twelve pages' } }])
      t.equal(tab.fired.length, 1)
      t.equal(tab.chat.messages.length, 2)
      t.match((await stored(app)).at(-1).parts, [{ type: 'step-start' }, { state: 'output-available', output: 'twelve pages' }, {}, {}])
      t.same(tab.errors, [])
    })

    t.test('tells of a failure, and of two calls of one step', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('openDocument', 'openDocument')])
      const tab = await openTab(app, version)
      await tab.say('open both')
      const [first, second] = tab.fired
      await tab.chat.addToolOutput({ tool: 'openDocument', toolCallId: first.toolCallId, output: { pages: 1 } } as never)
      await tab.give(second.toolCallId, { state: 'output-error', errorText: 'No such document.' })
      t.equal(tab.text, 'Done.')
      t.match(toldResults(gateway), [{ type: 'json', value: { pages: 1 } }, { type: 'error-text', value: 'No such document.' }])
      t.equal(tab.fired.length, 2)
      t.same(tab.errors, [])
    })

    t.test('gives no output, and the chat goes on', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('openDocument'), { text: 'Done.' }, { text: 'Again.' }])
      const tab = await openTab(app, version)
      await tab.say('open it')
      await tab.give(tab.fired[0].toolCallId, { output: undefined })
      t.equal(tab.text, 'Done.')
      await tab.say('go on')
      t.match(toldResults(gateway), [{ type: 'json', value: { result: null } }], 'as the model was told it the first time')
      t.equal((await stored(app)).length, 4)
      t.same(tab.errors, [])
    })

    t.test('executes a call that needs an approval when that is given, and not before', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('saveDocument')])
      let tab = await openTab(app, version)
      await tab.say('save it')
      t.same(tab.fired, [])
      const { data } = tab.parts.find(({ type }) => type.startsWith('data-approval'))
      t.match(data, { toolName: 'saveDocument', input: { name: 'Budget' } })
      t.match(await answerCall(app, tab.calls[0].toolCallId, { output: {} }), {
        status: 409,
        body: { code: 'ERR_TOOL_CALL_NOT_APPROVED', error: new RegExp(data.approvalId) }
      })
      if (version.approvals) {
        t.match(tab.calls, [{ state: 'approval-requested', approval: { id: data.approvalId }, input: { name: 'Budget' } }])
        await tab.andOn(() => tab.chat.addToolApprovalResponse({ id: data.approvalId, approved: true }))
      } else {
        t.match(tab.calls, [{ state: 'input-streaming', input: { name: 'Budget' } }])
        const answer = { role: 'tool', content: [{ type: 'tool-approval-response', approvalId: data.approvalId, approved: true }] }
        const sent = [{ body: { messages: [answer] }, api: '/run/approve?protocol=ui5' }]
        tab = await openTab(app, version, {
          messages: tab.chat.messages,
          prepareSendMessagesRequest: ({ id, messages }) => sent.shift() ?? { body: { id, messages, options: OPTIONS } }
        })
        await tab.chat.sendMessage()
      }
      t.match(tab.fired, [{ toolName: 'saveDocument', input: { name: 'Budget' } }])
      t.match(tab.calls, [{ state: 'input-available', input: { name: 'Budget' } }])
      const reloaded = await openTab(app, version, { messages: await stored(app) })
      t.match(reloaded.calls, [{ state: 'input-available' }], 'the thread has the call, for the tab that shows it next')
      await tab.give(tab.calls[0].toolCallId, { output: { pages: 12 } })
      t.equal(tab.text, 'Done.')
      t.match(tab.calls, [{ state: 'output-available', output: { pages: 12 } }])
      t.match(toldResults(gateway), [{ type: 'json', value: { pages: 12 } }])
      await tab.say('and now?')
      t.same([...tab.errors, ...reloaded.errors], [])
      t.equal(tab.fired.length, 1)
    })

    t.test('that sends an output before the approval is refused, and the run waits on', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('saveDocument')])
      const tab = await openTab(app, version)
      await tab.say('save it')
      const { data } = tab.parts.find(({ type }) => type.startsWith('data-approval'))
      const { length } = gateway.requests
      await tab.give(tab.calls[0].toolCallId, { output: { pages: 12 } })
      t.match(tab.errors, [{ message: /waits for an approval/ }])
      t.equal(gateway.requests.length, length)
      t.match((await app.inject('/approvals')).json().approvals, [{ approvalId: data.approvalId, state: 'pending' }])
    })

    t.test('is told of a denied call, and executes nothing', async (t) => {
      const { app } = await withTurns(t, [calls('saveDocument')])
      const tab = await openTab(app, version)
      await tab.say('save it')
      const { data } = tab.parts.find(({ type }) => type.startsWith('data-approval'))
      if (version.approvals) {
        await tab.andOn(() => tab.chat.addToolApprovalResponse({ id: data.approvalId, approved: false, reason: 'Not now.' }))
        t.match(tab.calls, [{ state: 'output-denied', approval: { approved: false } }])
        t.equal(tab.text, 'Done.')
      } else {
        await app.inject({ method: 'POST', url: `/approvals/${data.approvalId}`, payload: { approved: false, reason: 'Not now.' } })
        await settled(app, 'chat')
      }
      const again = await openTab(app, version, { messages: await stored(app) })
      t.match(again.calls, [version.approvals ? { state: 'output-denied' } : { state: 'output-error', errorText: 'Not now.' }])
      await again.say('fine')
      t.same([...tab.fired, ...again.fired], [])
      t.same([...tab.errors, ...again.errors], [])
    })

    t.test('is reloaded before the answer, and after it', async (t) => {
      const { app } = await withTurns(t, [calls('openDocument')])
      const tab = await openTab(app, version)
      await tab.say('open it')
      const before = await openTab(app, version, { messages: await stored(app) })
      await before.chat.resumeStream()
      t.same(before.fired, [], 'a call is executed by the tab that was told of it, or by the user of the next')
      t.match(before.calls, [{ state: 'input-available', input: { name: 'Budget' } }])
      await before.give(before.calls[0].toolCallId, { output: { pages: 12 } })
      t.equal(before.text, 'Done.')

      const after = await openTab(app, version, { messages: await stored(app) })
      await after.chat.resumeStream()
      t.same(after.fired, [])
      t.match(after.calls, [{ state: 'output-available', output: { pages: 12 } }])
      t.equal(after.text, 'Done.')
      t.same([...before.errors, ...after.errors], [])
    })

    t.test('is open in two tabs: the first answer counts, and the other tab gets what followed', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('openDocument')])
      const one = await openTab(app, version)
      await one.say('open it')
      const two = await openTab(app, version, { messages: await stored(app) })
      const { toolCallId } = one.fired[0]
      await one.give(toolCallId, { output: { pages: 12 } })
      const { length } = gateway.requests
      await two.give(toolCallId, { output: { pages: 12 } })
      t.equal(two.text, 'Done.')
      t.equal(gateway.requests.length, length, 'no model was called again')
      t.same([...one.errors, ...two.errors], [])
    })

    t.test('that says something else before the output was sent tells it with that', async (t) => {
      const { app, gateway } = await withTurns(t, [calls('openDocument'), { text: ['Go on.'] }])
      const tab = await openTab(app, version, { sendAutomaticallyWhen: () => false })
      await tab.say('open it')
      await tab.chat.addToolOutput({ tool: 'openDocument', toolCallId: tab.fired[0].toolCallId, output: { pages: 12 } } as never)
      await tab.say('and close it')
      t.match(gateway.requests.at(-1)!.body.prompt[0].content, /executed by the application, with the result {"pages":12}/)
      t.match(await answerCall(app, tab.fired[0].toolCallId, { output: { pages: 12 } }), { status: 409 }, 'its run is over')
      t.same(tab.errors, [])
    })

    t.test('is reloaded while the run goes on with the output', async (t) => {
      const release = Promise.withResolvers<void>()
      const { app } = await withGateway(t, async (_request, nth) => {
        if (nth === 0) return calls('openDocument')
        await release.promise
        return { text: ['Done.'] }
      })
      const tab = await openTab(app, version)
      await tab.say('open it')
      await answerCall(app, tab.fired[0].toolCallId, { output: { pages: 12 } })
      const { messages } = tab.chat
      const loaded = await openTab(app, version, { messages: messages.slice(0, 1) })
      const resumed = loaded.chat.resumeStream()
      release.resolve()
      await resumed
      t.same(loaded.fired, [], 'the call that has its result is not executed again')
      t.match(loaded.calls, [{ state: 'output-available', input: { name: 'Budget' }, output: { pages: 12 } }])
      t.equal(loaded.text, 'Done.')
      t.same(loaded.errors, [])
    })

    t.test('sees what another program answers by /tool-calls', async (t) => {
      const { app } = await withTurns(t, [calls('openDocument')])
      const tab = await openTab(app, version)
      await tab.say('open it')
      const { toolCallId } = tab.fired[0]
      await answerCall(app, toolCallId, { output: { pages: 12 } })
      await settled(app, 'chat')
      const again = await openTab(app, version, { messages: await stored(app) })
      t.match(again.calls, [{ state: 'output-available', output: { pages: 12 } }])
      await tab.give(toolCallId, { output: { pages: 13 } })
      t.match(tab.errors, [{ message: /the first one is kept/ }])
    })
  })
}
