import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { asked, say } from '../harness/agent.ts'
import { heldClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { oldTable, rot, storeWithTable } from '../services/store/rot.ts'
import { damage } from '../services/store/rewrite.ts'
import { tasksOf } from '../harness/tasks.ts'
import { approvalKey, taskKey, runKey } from '../../services/store/keys.ts'

t.test('/health tells of a damaged table that is found after the start, other requests get 503, and a restart repairs', async (t) => {
  const dir = t.testdir({ work: {} })
  const home = join(dir, 'home')
  await storeWithTable(home)
  rot(join(home, 'data', oldTable(home)), 30_000)
  const { clock, pass } = heldClock()
  const app = await build(t, { home, cwd: join(dir, 'work'), clock })
  const health = async () => (await app.inject('/health')).json()
  await app.listen({ port: 0 })
  t.match(await health(), { status: 'ok', checks: { store: 'ok' } }, 'it starts without reading the table')

  await pass(3_000)
  while ((await health()).status === 'ok') await systemClock.sleep(10)

  t.match(await health(), {
    status: 'degraded',
    checks: { store: /^latched: the table \d+\.ldb of the database is damaged on the disk\. Restart the service/ }
  })
  const refused = await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'I live in Rome.' } })
  t.match([refused.statusCode, refused.json()], [503, {
    code: 'ERR_STORE_UNAVAILABLE',
    error: /Restart the service: it repairs what can be repaired/
  }])
  await app.close()

  const again = await build(t, { home, cwd: join(dir, 'work') })
  t.match((await again.inject('/health')).json().checks, { store: 'repaired: records may be missing' })
})

const messages = [{ role: 'user', content: 'I live in Rome.' }, { role: 'assistant', content: 'Nice.' }]

t.test('a thread that is damaged on the disk holds up no other, says so, and can be removed', async (t) => {
  const before = await build(t)
  for (const id of ['head', 'message', 'metadata', 'whole', 'second']) {
    await before.inject({ method: 'PUT', url: `/threads/${id}`, payload: { title: id, messages } })
  }
  const digests = Object.fromEntries(['head', 'message', 'metadata', 'second'].map((id) => [id, before.store.digest(id)]))
  await before.close()
  await damage(before.home, [
    `thread/${digests.head}`,
    `thread/${digests.second}`,
    `message/${digests.message}/0000000000`,
    `metadata/${digests.metadata}`
  ])
  const app = await build(t, { home: before.home, cwd: before.cwd })
  const call = async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url, ...(payload && { payload }) })
    return { status: response.statusCode, body: response.json() }
  }
  const said = (id: string) => ({
    status: 500,
    body: { code: 'ERR_RECORD_DAMAGED', error: new RegExp(`thread "${id}" is damaged.*DELETE /threads/:id removes it`) }
  })
  const listed = async () => (await call('GET', '/threads')).body.threads.map(({ id }: { id: string }) => id).toSorted()

  t.same(await listed(), ['message', 'metadata', 'whole'])
  for (const [method, url, payload] of [['GET', ''], ['PUT', '', { title: 'x' }], ['POST', '/extract']] as const) {
    t.match(await call(method, `/threads/head${url}`, payload), said('head'), method)
  }
  t.match(await call('POST', '/run/sync', { id: 'head', message: { role: 'user', content: 'hi' } }), said('head'))
  t.match(await call('GET', '/threads/message'), said('message'))
  t.match(await call('GET', '/threads/metadata'), { status: 200, body: { title: 'I live in Rome.', messageCount: 2 } }, 'its title is lost')
  const run = () => call('POST', '/run/sync', { id: 'metadata', message: { role: 'user', content: 'system info' } })
  await app.threads.suggestTitle('metadata', 'Rome')
  const isUnset = { error: /settings of the thread "metadata" are damaged.*PUT \/threads/ }
  t.match(await run(), { status: 500, body: isUnset }, 'and what it allows')
  t.match(await call('PUT', '/threads/metadata', { title: 'again', settings: {} }), { body: { title: 'again' } })
  t.match(await run(), { status: 200 })
  const rested: string[] = []
  for await (const { id } of app.threadRepository.unreadThreads(new AbortController().signal)) rested.push(id)
  t.same(rested.toSorted(), ['message', 'metadata', 'whole'])
  t.equal(await app.threads.prune(Number.MAX_SAFE_INTEGER), 0)

  t.match(await call('DELETE', '/threads/head'), { status: 200 })
  t.match(await call('GET', '/threads/head'), { status: 404 })
  t.match(await call('PUT', '/threads/head', { messages }), { status: 200, body: { messageCount: 2 } })
  t.same(await listed(), ['head', 'message', 'metadata', 'whole'], 'once')
  t.match(await call('DELETE', '/threads'), { body: { deleted: 5 } })
  for await (const key of app.store.keys('')) {
    if (!key.startsWith('!')) t.notMatch(key, /^(?:thread|message|turn|recent|unread|read|found|metadata)\//)
  }
})

t.test('what is damaged is missing in searches and in the export for people, and keeps nothing else from them', async (t) => {
  const before = await build(t)
  await before.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'I live in Rome.' } })
  for (const id of ['torn', 'whole']) await before.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages } })
  const torn = before.store.digest('torn')
  await before.close()
  await damage(before.home, [`message/${torn}/0000000000`, `turn/${torn}/0000000000`, '!record/brain'])
  const app = await build(t, { home: before.home, cwd: before.cwd })

  const found = (await app.inject('/search?q=nice')).json().results
  t.match(found.map(({ threadId }: { threadId: string }) => threadId).toSorted(), ['torn', 'whole'])
  const exported = (await app.inject('/export?format=json')).json()
  t.match(exported.memory, { error: /damaged/ })
  t.match(exported.threads.toSorted((a: { id: string }, b: { id: string }) => a.id < b.id ? -1 : 1), [
    { id: 'torn', messages: [], error: /damaged/ },
    { id: 'whole', messages }
  ])
})

const hourly = { taskType: 'recurring', schedule: { interval: '1h' } }

/** A service that was closed and is there again after those records were damaged on the disk. */
async function again (t: Test, { home, cwd }: { home: string, cwd: string }, keys: string[]) {
  await damage(home, keys)
  const app = await build(t, { home, cwd })
  return { app, tasks: await tasksOf(t, app) }
}

t.test('a task that is damaged on the disk is named, holds up no other, and can be removed', async (t) => {
  const before = await build(t)
  const first = await tasksOf(t, before)
  const ids: string[] = []
  for (const goal of ['system info', 'list the files here', 'run `sleep 300`']) ids.push((await first.create(goal, hourly)).id)
  const [oldest, broken, newest] = ids
  for (const id of ids) await first.post(`/${id}/start`)
  const events = await first.watch()
  await first.post(`/${newest}/run`)
  await events.until('task:tool-start')
  await before.close()

  const { app, tasks } = await again(t, before, [taskKey(broken)])
  const page = await tasks.get('')
  t.same([page.tasks.map(({ id }: { id: string }) => id), page.damaged], [[newest, oldest], [broken]])
  t.match(await tasks.call('GET', `/${broken}`), {
    status: 500,
    body: { code: 'ERR_RECORD_DAMAGED', error: /"[-0-9a-f]{36}".* damaged.*DELETE \/tasks\/:id removes the task/ }
  })
  t.match((await app.inject('/health')).json(), { status: 'degraded', checks: { store: /damaged|repaired/, scheduler: /ok|starting/ } })
  const digest = await tasks.get('/digest?since=0')
  t.match(digest, { damaged: [broken], text: broken, next: { items: { length: 2 } } })
  t.match(await tasks.create('system info'), { status: 'planned' }, 'others are made')
  while ((await tasks.runs(newest))[0].completedAt === undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await tasks.runs(newest), [{ attempts: 2 }], 'what was under way of the newest goes on, though it comes behind the damaged one')
  const went = await tasks.watch()
  await tasks.post(`/${oldest}/run`)
  await went.until('task:complete', { taskId: oldest })

  t.same(await tasks.call('DELETE', `/${broken}`), { status: 200, body: { ok: true, taskId: broken } })
  t.notOk('damaged' in await tasks.get(''))
  t.equal((await tasks.call('GET', `/${broken}`)).status, 404)
})

t.test('a run that is damaged on the disk is named, and its task goes on without it', async (t) => {
  const before = await build(t)
  const first = await tasksOf(t, before)
  const events = await first.watch()
  const { id } = await first.create('system info', { taskType: 'triggered' })
  for (const runNumber of [1, 2]) {
    await first.post(`/${id}/run`)
    await events.until('task:complete', { runNumber })
  }
  const { id: asking } = await first.create('system info', { ...hourly, approval: { mode: 'always' } })
  await first.post(`/${asking}/start`)
  await first.post(`/${asking}/run`)
  await events.until('task:approval')
  const [{ runId }] = await first.runs(id)
  const [waiting] = await first.runs(asking)
  await before.close()

  const { tasks } = await again(t, before, [runKey(runId), runKey(waiting.runId)])
  t.match(await tasks.get(`/${id}/runs`), { runs: [{ runNumber: 1 }], damaged: [2] })
  t.match(await tasks.call('GET', `/${id}/runs/${runId}`), { status: 500, body: { error: /damaged and cannot be read/ } })
  t.match(await tasks.get('/digest?since=0'), { completed: { items: [{ runNumber: 1 }] } })
  await tasks.post(`/${id}/run`)
  while ((await tasks.runs(id))[0].completedAt === undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await tasks.runs(id), [{ runNumber: 3, status: 'completed' }, { runNumber: 1 }])

  while ((await tasks.runs(asking))[0]?.completedAt === undefined) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(
    await tasks.runs(asking),
    [{ runNumber: 1, status: 'interrupted', error: /cannot be read/ }],
    'what waited for a person can wait no more'
  )
  t.match(await tasks.get(`/${asking}`), { status: 'scheduled', waitingFor: undefined })
  for (const each of [id, asking]) t.equal((await tasks.call('DELETE', `/${each}`)).status, 200)
})

t.test('a damaged request for approval holds up neither its conversation nor the lists of runs', async (t) => {
  const before = await build(t)
  const { events } = await say(before, 'write "x" to a.txt', { id: 'chat' })
  const [approvalId] = asked(events)
  await before.close()
  await damage(before.home, [approvalKey(approvalId)])
  const app = await build(t, { home: before.home, cwd: before.cwd })
  t.match((await app.inject('/runs')).json(), { runs: [{ threadId: 'chat' }] })
  t.equal((await app.inject('/threads/chat')).statusCode, 200)
  t.match((await say(app, 'system info', { id: 'chat' })).events.at(-1), { type: 'finish', finishReason: 'stop' })
  t.match((await app.inject('/runs')).json(), { runs: [{ status: 'completed' }, { status: 'cancelled' }] })
})
