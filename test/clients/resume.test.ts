import t from 'tap'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat, waiting } from './chat.ts'
import { versions } from './versions.ts'

for (const version of versions) {
  const path = version.approvals ? '/run' : '/run?protocol=ui5'

  t.test(`a page with a chat of ${version.name} that is reloaded takes up the run where it is`, async (t) => {
    const release = Promise.withResolvers<void>()
    const { app, gateway } = await withGateway(t, async (_request, nth) => {
      if (nth === 0) return { text: 'Looking. ', toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] }
      await release.promise
      return { text: 'Nothing there.' }
    })
    const before = await openChat(app, version, {
      id: 'chat',
      path,
      prepareSendMessagesRequest: ({ messages, id }) => ({ body: { messages, id, resumable: true } })
    })
    const said = before.say('look')
    while (gateway.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))

    const reloaded = await openChat(app, version, { id: 'chat', messages: before.chat.messages.slice(0, 1) })
    const resumed = reloaded.chat.resumeStream()
    while (reloaded.chat.status !== 'streaming') await new Promise((resolve) => setTimeout(resolve, 2))
    await before.chat.stop()
    release.resolve()
    await Promise.all([said, resumed])

    t.match(reloaded.text, 'Looking. Nothing there.')
    t.match(reloaded.calls, [{ state: 'output-available', output: { entries: [] } }])
    t.same(reloaded.chat.messages.map(({ role }) => role), ['user', 'assistant'])
    t.equal(gateway.requests.length, 2, 'the model was asked once for each step')
    t.same([...before.errors, ...reloaded.errors], [])

    const later = await openChat(app, version, { id: 'chat', messages: reloaded.chat.messages })
    await later.chat.resumeStream()
    t.same(later.chat.messages, reloaded.chat.messages, 'with nothing under way, nothing changes')
    t.same(later.errors, [])
  })

  t.test(`a page with a chat of ${version.name} that is reloaded after an approval shows the whole message once`, async (t) => {
    const rest = Array.from({ length: 40 }, (_, n) => `word${n} `)
    const { app } = await withGateway(t, (_request, nth) =>
      nth === 0
        ? { text: 'Writing. ', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } }] }
        : { text: rest, partMs: 25 })
    let content: object[] = []
    const before = await openChat(app, version, {
      id: 'chat',
      path,
      sendAutomaticallyWhen: version.release.lastAssistantMessageIsCompleteWithApprovalResponses,
      prepareSendMessagesRequest: ({ messages, id }) =>
        content.length === 0
          ? { body: { messages, id, resumable: true } }
          : { api: '/run/approve?protocol=ui5', body: { messages: [...messages, { role: 'tool', content }], id, resumable: true } }
    })
    await before.say('write it')
    if (version.approvals) await before.chat.addToolApprovalResponse({ id: waiting(before)[0], approved: true })
    else {
      const { data } = before.parts.find(({ type }) => type === 'data-approval-request')
      content = [{ type: 'tool-approval-response', approvalId: data.approvalId, approved: true }]
      void before.chat.sendMessage()
    }
    while (!before.text.includes('word3')) await new Promise((resolve) => setTimeout(resolve, 2))

    const restored = async () => (await app.inject('/threads/chat')).json().messages
    const reloaded = await openChat(app, version, { id: 'chat', messages: await restored() })
    t.match(reloaded.calls, [{ state: 'output-available' }], 'the thread has what was done')
    const resumed = reloaded.chat.resumeStream()
    while (reloaded.chat.status !== 'streaming') await new Promise((resolve) => setTimeout(resolve, 2))
    await before.chat.stop()
    await resumed

    const whole = `Writing. ${rest.join('')}`
    t.equal(reloaded.text, version.resumesOntoCopy ? `Writing. ${whole}` : whole)
    t.same(reloaded.chat.messages.map(({ role }) => role), ['user', 'assistant'])
    t.match(reloaded.calls.at(-1), { state: 'output-available', output: { path: 'a.txt' } })
    t.same(reloaded.errors, [])
    const again = await openChat(app, version, { id: 'chat', messages: await restored() })
    t.equal(again.text, whole, 'the thread has it once in any case')
    t.equal(again.calls.length, 1)
  })
}

/** How often each release stops and sends; 200 times in all. */
const TRIES = 40

for (const version of versions) {
  t.test(`a chat of ${version.name} that is stopped sends the next message at once, and is never refused`, async (t) => {
    const { app } = await withGateway(
      t,
      (_request, nth) => nth % 2 === 0 ? { text: ['and then ', 'nothing'], ending: 'stall', after: 4 } : { text: 'Here I am.' }
    )
    const path = version.approvals ? '/run' : '/run?protocol=ui5'
    const texts = new Set<string>()
    for (let n = 0; n < TRIES; n++) {
      const chat = await openChat(app, version, { id: `chat ${n}`, path })
      const said = chat.say('go')
      while (chat.last?.role !== 'assistant' || chat.text === '') await new Promise((resolve) => setTimeout(resolve, 2))
      // The stream has then ended here; whether the service knows it, no release waits for.
      await Promise.all([chat.chat.stop(), said])
      await chat.say('and now?')
      t.same(chat.errors, [])
      texts.add(chat.text)
    }
    t.same([...texts], ['Here I am.'])
    const { messages } = (await app.inject('/threads/chat%201')).json()
    t.same(messages.map(({ role }: { role: string }) => role), ['user', 'assistant', 'user', 'assistant'], 'nothing that was said is lost')
  })
}
