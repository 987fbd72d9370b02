import { existsSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { createLedger } from '../../services/approvals/ledger.ts'
import { newId } from '../../services/lib/ids.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = async (app: App, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const response = await app.inject({ method, url, ...(payload && { payload }) })
  return { status: response.statusCode, body: response.json() }
}
const thread = async (app: App, id: string) => (await call(app, 'GET', `/threads/${encodeURIComponent(id)}`)).body
const list = async (app: App, query = '') => (await call(app, 'GET', `/threads${query}`)).body
const user = (content: string) => ({ role: 'user', content })

t.test('a thread is made, read, changed and removed, with everything its client keeps in it', async (t) => {
  const app = await build(t)
  const messages = [{ role: 'user', content: [{ type: 'text', text: 'hi', mine: 1 }], metadata: { a: [null] } }, {
    id: 'm2',
    role: 'assistant',
    parts: [{ type: 'text', text: 'hello' }]
  }]
  t.match(await call(app, 'POST', '/threads', { id: 'über/', messages }), { status: 400 })
  t.match(await call(app, 'POST', '/threads', { id: 'über uns', title: ' Trip ', messages, pinned: { deep: [1] }, status: 'mine' }), {
    status: 201,
    body: { id: 'über uns', title: 'Trip', status: 'idle', messageCount: 2, lastMessage: 'hello' }
  })
  t.match(await call(app, 'POST', '/threads', { id: 'über uns' }), { status: 409, body: { code: 'ERR_THREAD_EXISTS' } })
  t.match(await thread(app, 'über uns'), { messages, pinned: { deep: [1] } })
  t.strictSame((await thread(app, 'über uns')).messages, messages)

  t.match(await call(app, 'PUT', '/threads/%C3%BCber%20uns', { title: '', pinned: false }), {
    status: 200,
    body: { title: 'hi', messageCount: 2 }
  })
  t.match(await thread(app, 'über uns'), { messages, pinned: false })
  t.match(await call(app, 'PUT', '/threads/%C3%BCber%20uns', { order: { id: 'A-1' }, notes: 'x'.repeat(5_000) }), { status: 200 })
  const [listed] = (await list(app)).threads
  t.match(listed, { id: 'über uns', status: 'idle', pinned: false, order: { id: 'A-1' }, notes: undefined }, 'lists have them, too')
  t.equal((await thread(app, 'über uns')).notes.length, 5_000)
  t.match(await call(app, 'PUT', '/threads/%C3%BCber%20uns', { messages: [user('anew')] }), {
    body: { title: 'anew', messageCount: 1, lastMessage: 'anew' }
  })
  t.match(await call(app, 'PUT', '/threads/other', {}), { status: 200, body: { id: 'other', title: '', messageCount: 0 } })
  const whole = await thread(app, 'über uns')
  await call(app, 'PUT', '/threads/copy', whole)
  t.match(await thread(app, 'copy'), { id: 'copy', messages: whole.messages, pinned: false })

  t.match(await call(app, 'DELETE', '/threads/%C3%BCber%20uns'), { status: 200, body: { ok: true, threadId: 'über uns' } })
  for (const method of ['GET', 'DELETE'] as const) {
    t.match(await call(app, method, '/threads/%C3%BCber%20uns'), { status: 404, body: { code: 'ERR_THREAD_NOT_FOUND' } })
  }
  t.same((await call(app, 'DELETE', '/threads')).body, { deleted: 2 })
  t.same(await list(app), { threads: [] })
  const left: string[] = []
  for await (const [key] of app.store.list('')) left.push(key)
  t.same(left.filter((key) => !key.startsWith('conversation/')), [], 'nothing of them is left')
})

t.test('two requests that make the same thread at once lose none of what they say', async (t) => {
  const app = await build(t)
  const put = (payload: object) => call(app, 'PUT', '/threads/new', payload)
  await Promise.all([put({ messages: [user('hi')] }), put({ title: 'Trip' }), put({ pinned: true })])
  t.match(await thread(app, 'new'), { title: 'Trip', pinned: true, messages: [user('hi')] })
})

t.test('a message that cannot be one is named', async (t) => {
  const app = await build(t)
  for (const bad of [{ role: 'user' }, { role: 'robot', content: 'x' }, { role: 'user', parts: 'x' }, { role: 'user', content: [null] }]) {
    t.match(await call(app, 'POST', '/threads', { messages: [user('fine'), bad] }), {
      status: 400,
      body: { code: 'ERR_INVALID_MESSAGES', error: /^messages\[1\]/ }
    })
  }
  t.match(await call(app, 'POST', '/threads', { title: 'x'.repeat(201) }), { status: 400 })
})

t.test('threads are listed by their last change, page by page, and keep their titles', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    await call(app, 'POST', '/threads', { id, messages: [user(`This is what ${id} is about, ${'and more '.repeat(20)}`)] })
    await clock.advance(1000)
  }
  await call(app, 'PUT', '/threads/b', { title: 'B' })
  await say(app, 'hello', { id: 'c' })
  const first = await list(app, '?limit=3')
  t.match(first.threads, [{ id: 'c', lastMessage: /^I could not read|command/, messageCount: 3 }, { id: 'e' }, { id: 'd' }])
  t.match(first.threads[1].title, /^This is what e is about, and more.*…$/)
  t.ok(first.threads[1].title.length <= 61)
  const second = await list(app, `?limit=3&cursor=${first.nextCursor}`)
  t.match(second.threads, [{ id: 'b', title: 'B' }, { id: 'a' }])
  t.notOk('nextCursor' in second)
  const found = async (search: string) => (await list(app, `?search=${search}`)).threads.map(({ id }: { id: string }) => id)
  t.same(await found('what%20D%20is'), ['d'], 'a search reads titles and last messages, in any case of letters')
  t.same(await found('about,'), ['c', 'e', 'd', 'b', 'a'])
  t.same(await found('nowhere'), [])

  await call(app, 'PUT', '/threads/a', { pinned: true, settings: { cwd: tmpdir(), options: { effort: 'high' } } })
  await call(app, 'PUT', '/threads/d', { pinned: true })
  await call(app, 'PUT', '/threads/e', { pinned: false })
  const pinned = (await list(app, '?pinned=true&limit=5')).threads
  t.match(pinned, [{ id: 'd', pinned: true }, { id: 'a' }])
  t.same(pinned[1].settings, { cwd: realpathSync(tmpdir()) }, 'a list tells the folder, and no other settings')
})

t.test('a long thread is read from its end, page by page', async (t) => {
  const app = await build(t)
  await call(app, 'POST', '/threads', { id: 'long', messages: Array.from({ length: 10 }, (_, n) => user(`${n}`)) })
  const said = ({ messages }: any) => messages.map(({ content }: any) => content).join('')
  const first = await call(app, 'GET', '/threads/long?limit=4')
  t.match([said(first.body), first.body.nextCursor, first.body.messageCount], ['6789', '6', 10])
  const second = (await call(app, 'GET', '/threads/long?limit=4&cursor=6')).body
  t.match([said(second), second.nextCursor], ['2345', '2'])
  const last = (await call(app, 'GET', '/threads/long?limit=4&cursor=2')).body
  t.match([said(last), last.nextCursor], ['01', undefined])
  t.equal((await thread(app, 'long')).messages.length, 10)
})

t.test('a page holds no more than an answer can: a thread of large pictures, and large questions, are read in several', async (t) => {
  const app = await build(t)
  const large = 'x'.repeat(12 * 1024 * 1024)
  await app.store.transact(await app.threadRepository.replace('pictures', [...'123'].map((n) => user(n + large))))
  const newest = (await call(app, 'GET', '/threads/pictures')).body
  const older = (await call(app, 'GET', `/threads/pictures?cursor=${newest.nextCursor}`)).body
  t.same([older, newest].map(({ messages, nextCursor }) => [messages.map(({ content }: any) => content[0]), nextCursor]), [[
    ['1'],
    undefined
  ], [['2', '3'], '1']])

  const question = {
    kind: 'tool' as const,
    runId: newId(),
    toolCallId: 'call',
    toolName: 'writeFile',
    input: { path: 'a', content: large },
    cwd: app.cwd,
    folder: { dev: '1', ino: '1' },
    segment: 0
  }
  const ledger = createLedger(app)
  const items = ledger.ask({ threadId: 'pictures' }, [...'123'].map(() => question))
  await app.store.transact(ledger.record(items))
  const first = (await call(app, 'GET', '/approvals')).body
  const rest = (await call(app, 'GET', `/approvals?cursor=${first.nextCursor}`)).body
  t.same(
    [first, rest].map((page) => page.approvals.map(({ approvalId }: any) => approvalId)),
    [items.slice(0, 2), items.slice(2)].map((page) => page.map(({ approvalId }) => approvalId))
  )
  t.notOk('nextCursor' in rest)
})

t.test('a thread says that its run is under way or waits for an answer', async (t) => {
  const release = Promise.withResolvers<void>()
  const { app } = await withGateway(t, async (_request, nth) => {
    if (nth === 0) return { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
    await release.promise
    return { text: 'Written.' }
  })
  const { events } = await say(app, 'go', { id: 'chat' })
  t.match(await list(app), { threads: [{ id: 'chat', status: 'pending_approval', messageCount: 2 }] })
  const answered = answer(app, { [asked(events)[0]]: true })
  while (app.agent.activeRunCount === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal((await thread(app, 'chat')).status, 'running')
  t.match(await call(app, 'PUT', '/threads/chat', { messages: [] }), { status: 409, body: { code: 'ERR_CONVERSATION_BUSY' } })
  t.match(await call(app, 'PUT', '/threads/chat', { title: 'Mine' }), { status: 200, body: { title: 'Mine', status: 'running' } })
  release.resolve()
  await answered
  t.match(await thread(app, 'chat'), { title: 'Mine', status: 'idle', messageCount: 4, lastMessage: 'Written.' })
})

t.test('a question that ran out or whose thread got other messages is none any more', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  for (const id of ['expires', 'replaced']) await say(app, "write 'x' to a.txt", { id })
  t.match((await list(app)).threads.map(({ status }: any) => status), ['pending_approval', 'pending_approval'])
  await call(app, 'PUT', '/threads/replaced', { messages: [user('never mind')] })
  t.equal((await thread(app, 'replaced')).status, 'idle')
  t.equal((await call(app, 'GET', '/approvals')).body.approvals.length, 1)
  await clock.advance(24 * 60 * 60 * 1000)
  t.equal((await thread(app, 'expires')).status, 'idle')
})

t.test('deleting a thread stops its run, and takes its runs and approvals along', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) =>
      nth === 0
        ? { toolCalls: [{ toolName: 'runCommand', input: { command: 'sleep 30; touch late' } }] }
        : { text: ['a', 'b'], ending: 'stall' as const }
  )
  const { events } = await say(app, 'go', { id: 'chat' })
  const answered = answer(app, { [asked(events)[0]]: true })
  while (app.agent.activeRunCount === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await call(app, 'DELETE', '/threads/chat'), { status: 200 })
  t.match((await answered).events.slice(-2), [{ type: 'abort', reason: 'delete' }, { type: 'finish' }])
  t.match(await call(app, 'GET', '/threads/chat'), { status: 404 })
  t.match(await answer(app, { [asked(events)[0]]: true }), { status: 404 })
  const left: string[] = []
  for await (const [key] of app.store.list('')) left.push(key)
  t.strictSame(left.map((key) => key.split('/')[0]), ['usage'], 'the totals of the day')
  t.notOk(existsSync(`${app.cwd}/late`))
  t.equal(gateway.requests.length, 1)
})

t.test('a message of a thread that no model can be told is named, with what to do', async (t) => {
  const app = await build(t)
  await call(app, 'PUT', '/threads/odd', { messages: [user('hi'), { role: 'user', content: [{ type: 'text' }] }] })
  t.match(await call(app, 'POST', '/run', { id: 'odd', message: user('and?') }), {
    status: 400,
    body: { code: 'ERR_INVALID_MESSAGES', error: /^messages\[1\] of the thread .*PUT \/threads\/:id/ }
  })
  t.equal((await thread(app, 'odd')).messageCount, 2)
})

t.test('threads that nobody has named are forgotten after 90 days', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const { createRetention } = await import('../../services/store/retention/retention.ts')
  const unnamed = await say(app, 'hello')
  const titled = await say(app, 'hello')
  await call(app, 'PUT', `/threads/${titled.headers['x-thread-id']}`, { title: 'Mine' })
  await say(app, 'hello', { id: 'named' })
  const { sweep } = createRetention({ store: app.store, clock, log: app.log, prune: app.threads.prune })
  await clock.advance(89 * 24 * 60 * 60 * 1000)
  await sweep()
  t.equal((await list(app)).threads.length, 3)
  await clock.advance(2 * 24 * 60 * 60 * 1000)
  await sweep()
  t.same((await list(app)).threads.map(({ id }: any) => id).toSorted(), [titled.headers['x-thread-id'], 'named'].toSorted())
  t.match(await call(app, 'GET', `/threads/${unnamed.headers['x-thread-id']}`), { status: 404 })
})

/** A conversation whose messages are edited and answered again, as chats do it. */
async function edited (t: Test, more: Parameters<typeof withGateway>[2] = {}) {
  let answers = 0
  const { app } = await withGateway(t, () => ({ text: `answer ${++answers}` }), more)
  const said = (id: string, text: string, ...files: object[]) => ({ id, role: 'user', parts: [{ type: 'text', text }, ...files] })
  const shown = async () => (await call(app, 'GET', '/threads/chat?protocol=ui')).body.messages as Array<{ id: string, parts: any[] }>
  return {
    app,
    said,
    texts: async () => (await shown()).map(({ parts }) => parts.find(({ type }) => type === 'text').text),
    versions: async () => (await call(app, 'GET', '/threads/chat/versions')).body.versions,
    restore: (id: string) => call(app, 'POST', `/threads/chat/versions/${id}/restore`),
    say: async (message: object) => call(app, 'POST', '/run/sync', { id: 'chat', message }),
    /** Sends a message in the place of the `n`-th, with those before it, in the form of chats. */
    async edit (n: number, message: { id: string, [field: string]: unknown }, trigger = 'submit-message') {
      const messages = [...(await shown()).slice(0, n), message]
      const payload = { id: 'chat', messages, trigger, ...(trigger === 'submit-message' && { messageId: message.id }) }
      return (await app.inject({ method: 'POST', url: '/run?protocol=ui', payload })).statusCode
    }
  }
}

t.test('what an edit or another answer replaces is an earlier version, to which the thread can go back, and forth again', async (t) => {
  const { app, said, say, edit, texts, versions, restore } = await edited(t)
  await say(said('a', 'one'))
  await say(said('b', 'two'))
  t.same(await versions(), [])
  t.equal(await edit(2, said('b', 'two'), 'regenerate-message'), 200)
  t.equal(await edit(2, said('b', 'zwei')), 200)
  t.match(await versions(), [
    { messageId: 'b', text: 'two', messageCount: 2, replacedAt: Number },
    { messageId: 'b', text: 'two', messageCount: 2 }
  ])
  await edit(0, said('a', 'uno'))
  t.same(await texts(), ['uno', 'answer 5'])
  const [whole, ...others] = await versions()
  t.match([whole, others], [{ messageId: 'a', text: 'one', messageCount: 4 }, []], 'those of later messages are within it')
  t.match(await call(app, 'GET', `/threads/chat/versions/${whole.id}?protocol=documented`), {
    status: 200,
    body: { ...whole, messages: [{ content: 'one' }, { role: 'assistant' }, { content: 'zwei' }, { content: [{ text: 'answer 4' }] }] }
  })
  const readable = (await call(app, 'GET', '/export?format=json')).body.threads[0]
  const says = (text: string) => ({ role: 'user', parts: [{ text }] })
  t.match(readable, { messages: [says('uno'), {}], versions: [{ id: whole.id, messages: [says('one'), {}, says('zwei'), {}] }] })

  t.match(await restore(whole.id), { status: 200, body: { id: 'chat', messageCount: 4, lastMessage: 'answer 4' } })
  t.same(await texts(), ['one', 'answer 1', 'zwei', 'answer 4'])
  const back = await versions()
  t.same(back.map(({ messageId, text }: any) => [messageId, text]), [['b', 'two'], ['b', 'two'], ['a', 'uno']])
  t.match(await restore(back[0].id), { status: 200 })
  t.same(await texts(), ['one', 'answer 1', 'two', 'answer 2'])
  await say(said('c', 'three'))
  t.same(await texts(), ['one', 'answer 1', 'two', 'answer 2', 'three', 'answer 6'], 'the conversation goes on from there')

  for (const [method, url] of [['GET', ''], ['POST', '/restore']] as const) {
    t.match(await call(app, method, `/threads/chat/versions/${whole.id}${url}`), { status: 404, body: { code: 'ERR_VERSION_NOT_FOUND' } })
  }
  t.match(await call(app, 'GET', '/threads/none/versions'), { status: 404, body: { code: 'ERR_THREAD_NOT_FOUND' } })
  await call(app, 'PUT', '/threads/chat', { messages: [said('a', 'redacted')] })
  t.same(await versions(), [], 'a client that puts other messages in their place is rid of them')
})

t.test('earlier versions keep their files, go with their thread, are in backups, and are not without end', async (t) => {
  const { app, said, say, edit, versions } = await edited(t)
  const { url, digest } = (await app.inject({ method: 'POST', url: '/attachments', payload: 'a list of teas' })).json()
  await say(said('a', 'one', { type: 'file', url, mediaType: 'text/plain' }))
  await edit(0, said('a', 'without the file'))
  t.equal((await app.inject(`/attachments/${digest}`)).statusCode, 200, 'the version names it')
  for (let n = 0; n < 20; n++) await edit(0, said('a', `edit ${n}`))
  const kept = await versions()
  t.same([kept.length, kept[0].text, kept[19].text], [20, 'without the file', 'edit 18'])
  t.equal((await app.inject(`/attachments/${digest}`)).statusCode, 404, 'the oldest version has gone with its file')

  const headers = { 'x-export-passphrase': 'correct horse battery', 'content-type': 'application/octet-stream' }
  const { rawPayload: payload } = await app.inject({ url: '/export', headers })
  await call(app, 'DELETE', '/threads/chat')
  const left: string[] = []
  for (const prefix of ['message/', 'turn/', 'attachment-use/']) for await (const key of app.store.keys(prefix)) left.push(key)
  t.same(left, [])
  t.equal((await app.inject({ method: 'POST', url: '/import', headers, payload })).statusCode, 200)
  await app.close()
  const next = await build(t, { home: app.home, cwd: app.cwd })
  t.same((await call(next, 'GET', '/threads/chat/versions')).body.versions, kept)
})

t.test('a search comes to its end, page by page, however slow each page is', async (t) => {
  const clock = fakeClock()
  let slow = 0
  const app = await build(t, { clock: { ...clock, monotonic: () => clock.monotonic() + (slow += 1_000) } })
  const messages = [{ role: 'user', content: 'walnuts' }, { role: 'assistant', content: 'walnuts too' }]
  for (const id of ['a', 'b']) await app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages } })
  const found: string[] = []
  let cursor: string | undefined = ''
  for (let pages = 0; pages < 20 && cursor !== undefined; pages++) {
    const page: any = (await app.inject(`/search?q=walnuts${cursor === '' ? '' : `&cursor=${cursor}`}`)).json()
    found.push(...page.results.map(({ threadId, position }: any) => `${threadId} ${position}`))
    cursor = page.nextCursor
  }
  t.same(found.sort(), ['a 0', 'a 1', 'b 0', 'b 1'])
  t.equal(cursor, undefined)
})
