import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { App } from '../../app.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const DAY = 24 * 60 * 60 * 1000
const write = (path: string) => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content: 'tea' } }] })
const config = {
  model: 'offline/scripted',
  threads: { titles: false },
  offline: { script: [write('a.txt'), { text: 'Wrote the zinnia list.' }] }
}

const call = async (app: App, method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
  const response = await app.inject({ method, url, ...payload && { payload } })
  return { status: response.statusCode, body: response.json() }
}
/** Everything that lists or finds the conversation. */
async function found (app: App, runId: string) {
  const { body: { threads } } = await call(app, 'GET', '/threads')
  const { body: { runs } } = await call(app, 'GET', '/runs')
  const { body: search } = await call(app, 'GET', '/search?q=zinnia')
  const { status } = await call(app, 'GET', `/runs/${runId}`)
  return { threads: threads.length, runs: runs.length, run: status, words: search.results.length }
}
const NOTHING = { threads: 0, runs: 0, run: 404, words: 0 }

t.test('a deleted conversation can be brought back for 30 days, and meanwhile nothing finds it', async (t) => {
  const clock = fakeClock(Date.now())
  const app = await build(t, { config, clock })
  const upload = { method: 'POST', url: '/attachments', headers: { 'content-type': 'text/plain' }, payload: 'seeds' } as const
  const file = (await app.inject(upload)).json()
  const parts = [{ type: 'text', text: 'write the list' }, { type: 'file', url: file.url, mediaType: 'text/plain', filename: 'a.txt' }]
  const first = await say(app, '', { id: 'garden', messages: [{ id: 'm1', role: 'user', parts }] })
  const [approvalId] = asked(first.events)
  await answer(app, { [approvalId]: true })
  await call(app, 'PUT', '/threads/garden', { title: 'Garden', pinned: true })
  const { runId } = (await call(app, 'GET', '/runs')).body.runs[0]
  const input = { path: 'a.txt', content: 'tea' }
  t.match(await call(app, 'POST', '/grants', { threadId: 'garden', toolName: 'writeFile', input, scope: 'folder' }), { status: 201 })
  const before = (await call(app, 'GET', '/threads/garden')).body
  const run = (await call(app, 'GET', `/runs/${runId}`)).body
  while ((await found(app, runId)).words === 0) continue
  t.equal((await call(app, 'GET', `/runs/${runId}/changes`)).body.changes.length, 1)

  t.match(await call(app, 'DELETE', '/threads/garden?restorable=true'), { status: 200, body: { threadId: 'garden' } })
  t.match(await call(app, 'GET', '/threads/garden'), { status: 404 })
  t.match(await call(app, 'DELETE', '/threads/garden?restorable=true'), { status: 404 })
  t.same(await found(app, runId), NOTHING)
  const { body: { threads: [listed] } } = await call(app, 'GET', '/threads?deleted=true')
  t.match(listed, { id: 'garden', title: 'Garden', lastMessage: 'Wrote the zinnia list.', deletedAt: Number })

  await app.close()
  await clock.advance(29 * DAY)
  const later = await build(t, { home: app.home, cwd: app.cwd, clock })
  await later.threads.sweep()
  const restored = await call(later, 'PUT', '/threads/garden', { restore: true })
  t.match(restored, { status: 200, body: { id: 'garden', title: 'Garden', pinned: true } })
  t.same((await call(later, 'GET', '/threads/garden')).body, before)
  t.same((await call(later, 'GET', `/runs/${runId}`)).body, run)
  while ((await found(later, runId)).words === 0) continue
  t.same(await found(later, runId), { threads: 1, runs: 1, run: 200, words: 1 })
  t.equal((await later.inject(`/attachments/${file.digest}`)).body, 'seeds')
  t.same((await call(later, 'GET', '/grants?threadId=garden')).body.grants, [], 'its permissions have ended')
  t.same((await call(later, 'GET', `/runs/${runId}/changes`)).body.changes, [], 'the copies for undo are gone')
  t.same((await call(later, 'GET', '/threads?deleted=true')).body.threads, [])
  t.match(await call(later, 'PUT', '/threads/garden', { restore: true }), { status: 200 }, 'what is there stays')
  t.match(await say(later, 'go on', { id: 'garden' }), { status: 200 })

  await call(later, 'DELETE', '/threads/garden?restorable=true')
  await clock.advance(30 * DAY)
  t.match(await call(later, 'PUT', '/threads/garden', { restore: true }), { status: 404, body: { code: 'ERR_THREAD_NOT_FOUND' } })
  await later.threads.sweep()
  t.equal((await later.inject(`/attachments/${file.digest}`)).statusCode, 404, 'its files go with it')
})

t.test('a delete without the word erases, also what could be brought back', async (t) => {
  const app = await build(t, { config })
  const left = async () => {
    const keys: string[] = []
    for await (const key of app.store.keys('thread-trash')) keys.push(key)
    return keys
  }
  const put = (id: string) => call(app, 'PUT', `/threads/${id}`, { messages: [{ role: 'user', content: 'hello' }] })
  for (const id of ['a', 'b', 'c']) await put(id)
  t.match(await call(app, 'DELETE', '/threads/a'), { status: 200 })
  t.match(await call(app, 'PUT', '/threads/a', { restore: true }), { status: 404 })

  await call(app, 'DELETE', '/threads/b?restorable=true')
  t.match(await put('b'), { status: 200 }, 'the id is free')
  t.match(await call(app, 'DELETE', '/threads/b'), { status: 200 })
  t.same(await left(), [])

  await call(app, 'DELETE', '/threads/c?restorable=true')
  t.ok((await left()).length > 0)
  t.match(await call(app, 'DELETE', '/threads/c'), { status: 200 })
  t.same(await left(), [])

  await put('d')
  await call(app, 'DELETE', '/threads/d?restorable=true')
  t.same((await call(app, 'DELETE', '/threads')).body, { deleted: 0 })
  t.same(await left(), [])
  t.match(await call(app, 'DELETE', '/threads/x?restorable=maybe'), { status: 400 })
})

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

t.test('a deletion that can be taken back also ends commands and erases their home, /tmp and copies for undo', { skip }, async (t) => {
  const command = 'echo warm > ~/warm; echo 1 > /tmp/one; echo new > a.txt; touch /tmp/up; while :; do sleep 1; done'
  const { app } = await withGateway(t, ({ body }) => body.prompt.at(-1).role === 'tool'
    ? { text: 'It works.' }
    : { toolCalls: [{ toolName: 'runCommand', input: { command, background: true } }] }, { boxes: BUBBLEWRAP })
  const [boxes, undo] = ['boxes', 'undo'].map((name) => join(app.home, name))
  const homes = () => readdirSync(boxes, { recursive: true, encoding: 'utf8' }).map((path) => path.replace(/^thread-[^/]+\/?/, ''))
  for (const query of ['?restorable=true', '']) {
    writeFileSync(join(app.cwd, 'a.txt'), 'the old words')
    const { events } = await say(app, 'go', { id: 'works' })
    await answer(app, { [asked(events)[0]]: true })
    while (!homes().includes('tmp/up')) await new Promise((resolve) => setTimeout(resolve, 10))
    t.ok(homes().includes('home/warm'))
    t.match((await call(app, 'GET', '/commands')).body.commands, [{ threadId: 'works' }])

    t.match(await call(app, 'DELETE', `/threads/works${query}`), { status: 200 })
    t.same(readdirSync(boxes), [], 'when it is acknowledged')
    t.same((await call(app, 'GET', '/commands')).body.commands, [])
    await app.undo.idle()
    t.same(existsSync(undo) ? readdirSync(undo) : [], [])
  }
})

t.test('the export for people leaves out what was deleted, a backup can bring it back, and an erasure of all data erases it', async (t) => {
  const app = await build(t, { config })
  const headers = { 'x-export-passphrase': 'correct horse battery', 'content-type': 'application/octet-stream' }
  await call(app, 'PUT', '/threads/left', { messages: [{ role: 'user', content: 'about oleander' }] })
  await call(app, 'PUT', '/threads/gone', { messages: [{ role: 'user', content: 'about zinnias' }] })
  await call(app, 'DELETE', '/threads/gone?restorable=true')
  const readable = (await app.inject('/export?format=json')).body
  t.match(readable, 'oleander')
  t.notMatch(readable, 'zinnias')

  const backup = (await app.inject({ url: '/export', headers })).rawPayload
  t.match(await call(app, 'DELETE', '/data', { confirm: 'erase everything' }), { status: 200 })
  await app.close()
  const anew = await build(t, { home: app.home, cwd: app.cwd })
  t.match(await call(anew, 'PUT', '/threads/gone', { restore: true }), { status: 404 })
  t.same((await call(anew, 'GET', '/threads?deleted=true')).body.threads, [])

  t.match((await anew.inject({ method: 'POST', url: '/import', headers, payload: backup })).json(), { status: 'imported' })
  await anew.close()
  const imported = await build(t, { home: app.home, cwd: app.cwd })
  t.match((await call(imported, 'GET', '/threads')).body.threads, [{ id: 'left' }])
  t.match(await call(imported, 'PUT', '/threads/gone', { restore: true }), { status: 200, body: { messageCount: 1 } })
})
