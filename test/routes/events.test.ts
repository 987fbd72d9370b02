import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import { EVENT_TYPES, ownEvents } from '../../schemas/events.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { readEvents } from '../harness/event-reader.ts'
import { heldModel } from '../harness/held-model.ts'
import { build } from '../harness/helper.ts'
import { listen, sendBytes } from '../harness/raw.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { tasksOf } from '../harness/tasks.ts'
import type { App } from '../../app.ts'

const urlOf = async (app: App) => `http://127.0.0.1:${await listen(app)}`
const runIdOf = (events: any[]): string => of(events, 'start')[0].messageMetadata.runId

t.test('a conversation tells when its run begins, what waits, and how it ends, in order', async (t) => {
  const app = await build(t)
  const reader = await readEvents(t, await urlOf(app))
  const { events } = await say(app, 'write "x" to a.txt', { id: 'chat' })
  const runId = runIdOf(events)
  const [approvalId] = asked(events)
  const open = { approvalId, kind: 'tool', threadId: 'chat', runId, toolName: 'writeFile', state: 'pending' }
  t.match(await reader.until('approval:open'), open)
  await answer(app, { [approvalId]: true })
  await reader.until('run:end')
  t.same(reader.types(), ['run:start', 'approval:open', 'approval:closed', 'run:end'])
  const run = { threadId: 'chat', runId }
  t.match(reader.events, [run, {}, { approvalId, state: 'approved' }, { ...run, status: 'completed' }])
  for (const { id, ...event } of reader.events) {
    const schema = ownEvents.find(({ properties }) => properties.type.const === event.type)
    t.ok(schema && Value.Check(schema, event), `${event.type} is as it is documented`)
  }
})

t.test('changes of agents and of config.json are told, and nothing where nothing changed', async (t) => {
  const app = await build(t, { config: { threads: { titles: false } } })
  const reader = await readEvents(t, await urlOf(app))
  await app.inject({ method: 'PUT', url: '/agents/shop', payload: {} })
  await app.inject({ method: 'POST', url: '/config/reload' })
  await app.config.update((config) => ({ ...config, analysis: false, threads: undefined }))
  await app.inject({ method: 'DELETE', url: '/agents/shop' })
  await reader.until('agent:changed', { deleted: true })
  t.match(reader.events, [
    { type: 'agent:changed', name: 'shop', deleted: false },
    { type: 'config:changed', keys: ['threads', 'analysis'] },
    { type: 'agent:changed', name: 'shop', deleted: true }
  ])
})

t.test('a thread that goes back to an earlier version is told to be another', async (t) => {
  const app = await build(t)
  const reader = await readEvents(t, await urlOf(app))
  for (const content of ['hey', 'hello']) {
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [{ role: 'user', content, id: 'u' }] } })
  }
  const { versions: [{ id }] } = (await app.inject('/threads/chat/versions')).json()
  t.equal((await app.inject({ method: 'POST', url: `/threads/chat/versions/${id}/restore` })).statusCode, 200)
  t.match(await reader.until('thread:changed'), { threadId: 'chat', at: Number })
})

t.test('what the memory learns is told, in the words of the user', async (t) => {
  const app = await build(t)
  const reader = await readEvents(t, await urlOf(app))
  const source = { threadId: 'chat', message: 0, messageId: 'm', span: 'I live in Lisbon.' }
  const entry = { kind: 'fact' as const, fact: 'I live in Lisbon.', replaces: [], isRetraction: false, isUnsure: false, source }
  await app.brain.ingest([{ ...entry, said: app.clock.now() }])
  t.match(await reader.until('memory:changed'), { learned: [{ kind: 'fact', fact: 'I live in Lisbon.' }], threadId: 'chat', forgotten: [] })
})

t.test('a task tells the same beside its own events, and its state is stored before', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const reader = await readEvents(t, await urlOf(app))
  const task = await tasks.create('write "x" to a.txt', { taskType: 'triggered', approval: { mode: 'always' } })
  await tasks.post(`/${task.id}/run`)
  const { approvalId, runId } = await reader.until('approval:open')
  t.match((await app.inject(`/runs/${runId}`)).json(), { status: 'pending_approval' })
  await tasks.post(`/${task.id}/approve`, { approved: true })
  t.match(await reader.until('approval:closed'), { approvalId, taskId: task.id, state: 'approved' })
  await reader.until('approval:open', { kind: 'result' })
  await tasks.post(`/${task.id}/approve`, { approved: true })
  t.match(await reader.until('run:end'), { taskId: task.id, runId, status: 'completed' })
  await reader.until('task:complete')
  t.match((await app.inject(`/runs/${runId}`)).json(), { status: 'completed' })
  const shown = (type: string) => reader.events.filter((event) => event.type === type)
  t.equal(shown('run:start').length, 1)
  t.equal(shown('run:end').length, 1)
  t.match(reader.types().filter((type) => type.startsWith('run:') || type === 'task:start'), ['run:start', 'task:start', 'run:end'])
  t.equal(new Set(reader.events.map(({ id }) => id)).size, reader.events.length)
})

t.test('what was withdrawn, removed or paused is told to be over', async (t) => {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const reader = await readEvents(t, await urlOf(app))
  const first = runIdOf((await say(app, 'write "x" to a.txt', { id: 'one' })).events)
  await say(app, 'write "x" to b.txt', { id: 'one' })
  t.match(await reader.until('approval:closed'), { runId: first, state: 'withdrawn' })
  t.match(await reader.until('run:end'), { runId: first, status: 'cancelled' })
  await app.inject({ method: 'DELETE', url: '/threads/one' })
  t.match(await reader.until('run:end'), { threadId: 'one', status: 'cancelled' })
  t.equal(reader.events.filter(({ type }) => type === 'approval:closed').length, 2)

  const task = await tasks.create('run `sleep 60`')
  await tasks.post(`/${task.id}/start`)
  await reader.until('task:tool-start')
  await tasks.post(`/${task.id}/pause`)
  t.match(await reader.until('run:end'), { taskId: task.id, status: 'interrupted' })
  await tasks.post(`/${task.id}/resume`)
  await reader.until('run:start', { taskId: task.id })
  await tasks.post(`/${task.id}/cancel`)
  t.match(await reader.until('run:end'), { taskId: task.id, status: 'cancelled' })
})

t.test('a run that has waited since before a restart is told to be over when its conversation or task is deleted', async (t) => {
  const first = await build(t)
  const ofChat = runIdOf((await say(first, 'write "x" to a.txt', { id: 'one' })).events)
  const before = await tasksOf(t, first)
  const watched = await before.watch()
  const task = await before.create('write "x" to a.txt', { approval: { mode: 'always' } })
  await before.post(`/${task.id}/start`)
  const { runId: ofTask } = await watched.until('task:approval')
  await first.close()

  const app = await build(t, { home: first.home, cwd: first.cwd })
  const tasks = await tasksOf(t, app)
  const reader = await readEvents(t, await urlOf(app), { query: '?types=run:start,run:end' })
  await app.inject({ method: 'DELETE', url: '/threads/one' })
  t.match(await reader.until('run:end'), { threadId: 'one', runId: ofChat, status: 'cancelled' })
  await tasks.call('DELETE', `/${task.id}`)
  t.match(await reader.until('run:end'), { taskId: task.id, runId: ofTask, status: 'cancelled' })
  t.same(reader.types(), ['run:end', 'run:end'])
})

t.test('a reader gets what it asks for: one thread, one task, some types', async (t) => {
  const app = await build(t)
  const url = await urlOf(app)
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'triggered' })
  const chat = await readEvents(t, url, { query: '?threadId=chat' })
  const ofTask = await readEvents(t, url, { query: `?taskId=${task.id}&types=run:start,%20run:end` })
  const ends = await readEvents(t, url, { query: '?types=run:end' })
  await tasks.post(`/${task.id}/run`)
  await ofTask.until('run:end')
  await say(app, 'system info', { id: 'other' })
  await say(app, 'system info', { id: 'chat' })
  await chat.until('run:end')
  await ends.has(3)
  t.same(chat.types(), ['run:start', 'run:end'])
  t.same(ofTask.types(), ['run:start', 'run:end'])
  t.match(ends.events, [{ taskId: task.id }, { threadId: 'other' }, { threadId: 'chat' }])

  const wrong = (await app.inject('/events?types=run:end,run:over')).json()
  t.match(wrong, { statusCode: 400, code: 'ERR_BAD_REQUEST', error: /"run:over"/ })
  for (const type of EVENT_TYPES) t.ok(wrong.error.includes(type), `the error names ${type}`)
  t.match((await app.inject(`/events?threadId=a&taskId=${task.id}`)).json(), { statusCode: 400 })
  t.match((await app.inject('/events?type=run:end')).json(), { statusCode: 400, error: /unknown field "type"/ })
})

t.test('fifty reconnects under load lose nothing and repeat nothing', async (t) => {
  const app = await build(t)
  const url = await urlOf(app)
  const tasks = await tasksOf(t, app)
  const { id } = await tasks.create('go', { taskType: 'triggered' })
  const whole = await readEvents(t, url)
  await whole.connected()
  const RECONNECTS = 50
  const ended = new AbortController()
  let sent = 0
  const load = (async () => {
    for (; !ended.signal.aborted; sent++) await tasks.post(`/${id}/steer`, { comment: `comment ${sent}` })
  })()
  const heard: string[] = []
  let lastId: string | undefined
  for (let n = 0; n < RECONNECTS; n++) {
    // The header and the query say the same; the header wins when a page reconnects to its old address.
    const at = n % 2 === 0 ? { headers: { ...(lastId !== undefined && { 'last-event-id': lastId }) } } : { query: `?after=${lastId}` }
    const reader = await readEvents(t, url, at)
    await reader.has(n % 4)
    await reader.connected()
    reader.hangUp()
    await reader.ended()
    heard.push(...reader.events.map((event) => event.id!))
    lastId = reader.lastId()
  }
  ended.abort()
  await load
  const last = await readEvents(t, url, { headers: { 'last-event-id': lastId! }, query: '?after=0-0' })
  await whole.until('task:steer', { comment: `comment ${sent - 1}` })
  await last.until('task:steer', { comment: `comment ${sent - 1}` })
  heard.push(...last.events.map((event) => event.id!))
  const all = whole.events.map((event) => event.id!)
  t.same(heard, all.slice(all.indexOf(heard[0])))
  t.ok(heard.length > 50, `${heard.length} events`)
})

t.test('who was away for too long, or comes with an id that is none, is told so first and then goes on', async (t) => {
  const app = await build(t)
  const url = await urlOf(app)
  const first = await readEvents(t, url)
  await first.connected()
  for (let n = 0; n < 10_001; n++) app.events.emit({ type: 'task:steer', taskId: 'x', comment: `${n}` })
  const late = await readEvents(t, url, { headers: { 'last-event-id': first.lastId()! } })
  const start = first.lastId()!.split('-')[0]
  const kept = await readEvents(t, url, { headers: { 'last-event-id': `${start}-1` } })
  const odd = await readEvents(t, url, { query: '?after=first' })
  const future = await readEvents(t, url, { query: `?after=${start}-99999` })
  const other = await readEvents(t, url, { query: '?after=0123456789abcdef-1' })
  app.events.emit({ type: 'task:steer', taskId: 'x', comment: 'next' })
  await kept.until('task:steer', { comment: 'next' })
  t.equal(kept.events.length, 10_001, 'the last ten thousand are kept')
  for (const [reader, reason] of [[late, 'too_old'], [odd, 'unknown'], [future, 'unknown'], [other, 'restarted']] as const) {
    await reader.until('task:steer')
    t.match(reader.events, [{ type: 'reset', reason }, { comment: 'next' }], reason)
    t.equal(reader.lastId(), `${start}-10002`)
  }
})

t.test('a request for the head of a stream gets it, and holds up no request behind it', async (t) => {
  const model = await heldModel(t)
  const app = await build(t, model.parts)
  const run = await openRun(app, { ...userSays('go'), id: 'chat' })
  await model.begun(1)
  const port = await listen(app)
  for (const path of ['/events', '/tasks/events', '/run/chat/stream']) {
    const head = `HEAD ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`
    const { body } = await sendBytes(port, `${head}GET /events?types=x HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n\r\n`)
    t.match(body, 'There is no event type', path)
    t.equal(app.events.size, 0)
  }
  model.finish(0)
  t.equal(await run.ended, 'whole')
})

t.test('with a token, events are only for who has it', async (t) => {
  const app = await build(t, { token: 'a-token-of-some-length' })
  const url = await urlOf(app)
  t.equal((await fetch(`${url}/events`)).status, 401)
  t.equal((await fetch(`${url}/events?after=a-token-of-some-length`)).status, 401)
  const known = { headers: { authorization: 'Bearer a-token-of-some-length' } }
  const reader = await readEvents(t, url, known)
  t.equal(reader.response.statusCode, 200)
  await fetch(`${url}/run/sync`, {
    method: 'POST',
    headers: { ...known.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] })
  })
  await reader.until('run:end')
})

t.test('the last event is that the service ends, and then the stream is over', async (t) => {
  const app = await build(t)
  const url = await urlOf(app)
  const reader = await readEvents(t, url, { query: '?types=run:end' })
  const ofTasks = await readEvents(t, url, { path: '/tasks/events' })
  await reader.connected()
  await app.close()
  await Promise.all([reader.ended(), ofTasks.ended()])
  for (const { events, response } of [reader, ofTasks]) {
    t.same(events.map(({ type }) => type), ['service:shutdown'])
    t.equal(response.complete, true)
  }
  t.notMatch(ofTasks.all(), /id:/, 'the events of tasks have no ids')
})
