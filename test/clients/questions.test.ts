import t from 'tap'
import { decide, waiting } from '../harness/approval-doors.ts'
import { append, effects } from '../harness/effects.ts'
import { asking, FORMAT } from '../harness/questions.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

/** What waits for the user, by the data parts of the newest message. */
const items = ({ parts }: { parts: any[] }): any[] => parts.filter(({ type }) => type === 'data-approval').map(({ data }) => data)
const body = { options: { interactive: true } }

for (const version of versions) {
  const path = version.approvals ? '/run' : '/run?protocol=ui5'
  const { lastAssistantMessageIsCompleteWithToolCalls: sendAutomaticallyWhen } = version.release

  t.test(`a chat of ${version.name} is asked by a data part`, async (t) => {
    t.test('and answers with the output of the tool, which it sends by itself', async (t) => {
      const steps = [asking(), asking({ id: 'b', text: 'And?' }), { text: 'Thanks.' }, { text: 'Bye.' }]
      const { app, gateway } = await withGateway(t, (_request, nth) => steps[nth])
      const chat = await openChat(app, version, { id: 'chat', path, body, sendAutomaticallyWhen })
      await chat.say('go')
      const [{ approvalId, toolCallId, expiresAt }] = items(chat)
      t.same(items(chat), [{ kind: 'question', approvalId, toolCallId, questions: [FORMAT], expiresAt }])
      t.match(chat.calls, [{ type: 'tool-askUser', toolCallId, state: 'input-available', input: { questions: [FORMAT] } }])

      await chat.andOn(() => chat.chat.addToolOutput({ tool: 'askUser', toolCallId, output: { answers: { format: 'md' } } }))
      t.match(await decide(app, approvalId, { answers: { format: 'md' } }), { body: { state: 'answered' } }, 'the answer is in the ledger')
      t.match(chat.calls, [{ state: 'output-available', output: { answers: { format: 'md' } } }, { state: 'input-available' }])
      const [, second] = items(chat)
      await chat.andOn(() => chat.chat.addToolOutput({ tool: 'askUser', toolCallId: second.toolCallId, output: { declined: true } }))
      t.equal(chat.text, 'Thanks.')
      t.equal(chat.chat.messages.length, 2, 'it is one message')
      t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /"answers":{"format":"md"}.*"declined":true/)

      await chat.say('bye')
      t.equal(chat.text, 'Bye.')
      t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /data-approval|expiresAt/, 'models get no data parts')
      t.same(chat.errors, [])

      const { messages } = (await app.inject('/threads/chat')).json()
      const loaded = await openChat(app, version, { id: 'chat', path, body, messages })
      t.same(items({ parts: messages[1].parts }).map(({ kind }) => kind), ['question', 'question'], 'a loaded chat shows the same')
      await loaded.say('hello again')
      t.same(loaded.errors, [])
    })

    t.test('and an output that does not fit is refused, and loses nothing', async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => [asking(), { text: 'Thanks.' }][nth])
      const chat = await openChat(app, version, { id: 'chat', path, body, sendAutomaticallyWhen })
      await chat.say('go')
      const [{ approvalId, toolCallId }] = items(chat)
      for (const [output, error] of [[{ answers: { format: 'txt' } }, /no option .*txt/], ['md', /output of askUser must be/]] as const) {
        await chat.andOn(() => chat.chat.addToolOutput({ tool: 'askUser', toolCallId, output }))
        t.match(chat.errors.pop()?.message, error)
      }
      t.equal(gateway.requests.length, 1)
      t.match(await waiting(app), [{ approvalId, state: 'pending' }])
    })

    t.test('and goes on after an answer elsewhere', async (t) => {
      const { app } = await withGateway(t, (_request, nth) => [asking(), { text: 'Markdown it is.' }][nth])
      const chat = await openChat(app, version, { id: 'chat', path, body })
      await chat.say('go')
      await decide(app, items(chat)[0].approvalId, { answers: { format: 'md' } })
      while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
      const { messages } = (await app.inject('/threads/chat')).json()
      t.match(messages[1].parts.find(({ type }: any) => type === 'tool-askUser'), {
        state: 'output-available',
        output: { answers: { format: 'md' } }
      })
      t.match(messages[1].parts.at(-1), { text: 'Markdown it is.' })
    })
  })

  if (version.approvals) {
    t.test(`a chat of ${version.name} gets the scopes of an approval beside the protocol's part`, async (t) => {
      const { app } = await withGateway(t, (_request, nth) => [{ toolCalls: [append('x')] }, { text: 'Done.' }][nth])
      const chat = await openChat(app, version, { id: 'chat' })
      await chat.say('go')
      const [item] = items(chat)
      t.match(chat.calls, [{ state: 'approval-requested', approval: { id: item.approvalId } }])
      t.match(item, { kind: 'tool', toolName: 'runCommand', input: append('x').input, scopes: [{ scope: 'once' }], expiresAt: Number })
      t.match(await decide(app, item.approvalId, { approved: true, scope: 'once' }), { status: 200 })
      while (app.agent.activeRunCount > 0) await new Promise((resolve) => setTimeout(resolve, 2))
      t.equal(effects(app.cwd), 'x')
      t.same(chat.errors, [])
    })
  }
}
