import { mkdirSync, rmSync } from 'node:fs'
import t, { type Test } from 'tap'
import { effects } from '../harness/effects.ts'
import { layFolders } from '../harness/folders.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'

const GOAL = 'run `printf x >> effects.log`'

/** A service, and a task in the folder that `link` leads to which waits for approval of its command. */
async function waiting (t: Test, fields: object = {}) {
  const app = await build(t)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const folders = layFolders(app.cwd)
  const task = await tasks.create(GOAL, { cwd: folders.link, approval: { mode: 'always' }, ...fields })
  await tasks.post(`/${task.id}/start`)
  const asked = await events.until('task:approval', { kind: 'tool' })
  const approve = (approvalId: string, approved = true) => tasks.call('POST', `/${task.id}/approve`, { approvalId, approved })
  const questions = async () => (await tasks.runs(task.id))[0].questions
  return { app, tasks, events, task, asked, approve, questions, ...folders }
}

t.test('a question of a task shows the real path of its folder, in the event, in the run and in the digest', async (t) => {
  const { tasks, a, asked, questions } = await waiting(t)
  t.match(asked, { cwd: a, toolName: 'runCommand' })
  const [question] = await questions()
  t.match(question, { cwd: a, approvalId: asked.approvalId })
  t.notOk('folder' in question)
  t.match((await tasks.get('/digest?since=0')).waiting.items, [{ cwd: a }])
})

t.test('a task whose folder leads elsewhere when the answer comes runs nothing and asks anew', async (t) => {
  const { tasks, events, task, asked, approve, questions, a, b, retarget } = await waiting(t)
  retarget(b)
  t.match((await approve(asked.approvalId)).body, { status: 'running' })
  const anew = await events.until('task:approval', { kind: 'tool' })
  t.match(anew, {
    runId: asked.runId,
    input: asked.input,
    cwd: b,
    reason: `The working folder was "${a}" when this was asked, and is "${b}" now. The call was not run.`
  })
  t.not(anew.approvalId, asked.approvalId)
  t.equal(effects(a) + effects(b), '')
  t.match(await questions(), [{ approvalId: anew.approvalId, cwd: b, reason: anew.reason }])
  t.match(
    await approve(asked.approvalId),
    { status: 200, body: { approved: true, status: 'pending_approval' } },
    'the first answer still stands'
  )
  t.match(await approve(asked.approvalId, false), { status: 409 })
  t.match(await tasks.get(`/${task.id}`), { status: 'pending_approval' })

  await approve(anew.approvalId)
  const { approvalId } = await events.until('task:approval', { kind: 'result' })
  t.same([effects(a), effects(b)], ['', 'x'])
  await approve(approvalId)
  await events.until('task:complete')
  t.match(await tasks.get(`/${task.id}`), {
    status: 'completed',
    approvalHistory: [{ approved: true }, { approved: true }, { kind: 'result' }]
  })
})

t.test('a task that is given another folder while it asks, asks anew', async (t) => {
  const { tasks, events, task, asked, approve, a, b } = await waiting(t)
  t.equal((await tasks.call('PUT', `/${task.id}`, { cwd: b })).status, 200)
  await approve(asked.approvalId)
  t.match(await events.until('task:approval', { kind: 'tool' }), { cwd: b })
  t.equal(effects(a) + effects(b), '')
})

t.test('what a task asks anew may be denied, and counts as no use of the tool', async (t) => {
  const { events, asked, approve, a, b, retarget } = await waiting(t)
  retarget(b)
  await approve(asked.approvalId)
  const anew = await events.until('task:approval', { kind: 'tool' })
  await approve(anew.approvalId, false)
  t.match(await events.until('task:error'), { status: 'rejected', error: /denied runCommand/ })
  t.equal(effects(a) + effects(b), '')
})

t.test('a folder that was replaced at its path is asked about anew, after a restart too', async (t) => {
  const { app, events, task, asked, a, link, replace } = await waiting(t)
  const before = replace(a)
  events.leave()
  await app.close()
  const next = await build(t, { home: app.home, cwd: app.cwd })
  const tasks = await tasksOf(t, next)
  const watch = await tasks.watch()
  await tasks.post(`/${task.id}/approve`, { approved: true, approvalId: asked.approvalId })
  const anew = await watch.until('task:approval', { kind: 'tool' })
  t.match(anew, { cwd: a, reason: /replaced by another one/ })
  t.equal(effects(before) + effects(link), '')
  await tasks.post(`/${task.id}/approve`, { approved: true, approvalId: anew.approvalId })
  await watch.until('task:approval', { kind: 'result' })
  t.equal(effects(a), 'x')
})

t.test('a task whose folder is gone when the answer comes fails, and runs nothing', async (t) => {
  const { events, asked, approve, b, link } = await waiting(t)
  rmSync(link)
  await approve(asked.approvalId)
  t.match(await events.until('task:error'), { status: 'failed', error: /is not a folder that can be opened/ })
  t.equal(effects(b), '')
})

t.test('a person walks the folders of this computer from those of conversations and tasks, and sees which cannot be used', async (t) => {
  const app = await build(t, { token: 'secret', config: { roots: ['/usr'] } })
  const ask = (url: string, method: 'GET' | 'PUT' | 'POST' = 'GET', payload?: object) =>
    app.inject({ method, url, payload, headers: { authorization: 'Bearer secret' } })
  const { a, b, link } = layFolders(app.cwd)
  await ask('/tasks', 'POST', { goal: 'look around', cwd: a })
  await ask('/threads/one', 'PUT', { settings: { cwd: b }, messages: [{ id: 'm', role: 'user', content: 'hi' }] })
  await ask('/threads/two', 'PUT', { settings: { cwd: `${app.cwd}/none` } })
  mkdirSync(`${app.cwd}/soon-gone`)
  await ask('/threads/two', 'PUT', { settings: { cwd: `${app.cwd}/soon-gone` } })
  rmSync(`${app.cwd}/soon-gone`, { recursive: true })
  t.match((await ask('/folders/places')).json(), { workspace: app.cwd, roots: ['/usr'], drives: [], recent: [b, a] })
  t.match((await ask('/folders')).json(), { path: app.cwd, folders: [{ path: a }, { path: b }, { name: 'link', path: link, link: a }] })

  const problem = async (query: string) => (await ask(`/folders?${query}`)).json().problem
  t.equal(await problem(`path=${app.home}`), 'own')
  t.equal(await problem(`path=/etc&cwd=${a}`), 'outside', 'the file tools may not use it with that working folder')
  for (const path of ['/etc', `/usr/lib&cwd=${a}`, `${a}&cwd=${a}`]) t.equal(await problem(`path=${path}`), undefined, path)

  t.equal((await app.inject('/folders')).statusCode, 401)
  const fromElsewhere = { authorization: 'Bearer secret', origin: 'https://elsewhere.example' }
  t.equal((await app.inject({ url: '/folders', headers: fromElsewhere })).statusCode, 403)
  t.match((await ask('/folders?path=/none')).json(), { statusCode: 404, code: 'ERR_FOLDER_NOT_FOUND' })
  t.equal((await ask('/folders?path=%00')).statusCode, 400)
})
