import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { rotate } from '../faults/rotate.ts'
import { UNASKED } from '../harness/undo.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

function lay (t: Test, config: object = {}) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ ...UNASKED, ...config }) }, work: { 'notes.txt': 'old' } })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  return { ...where, start: () => startService(t, where), notes: () => readFileSync(`${dir}/work/notes.txt`, 'utf8') }
}
const json = async (service: Sidecar, path: string, method = 'GET') => (await fetch(service.url + path, { method })).json() as any

t.test('the changes of a conversation can be taken back after a restart, and after the key was changed', async (t) => {
  const { home, start, notes } = lay(t)
  let service = await start()
  const { events } = await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'write "new" to notes.txt' }] })
  const { runId } = events[0].messageMetadata
  await service.stop()

  service = await start()
  t.match((await json(service, `/runs/${runId}/changes`)).changes, [{ kind: 'changed', canUndo: true }])
  await service.stop()

  const [copy] = readdirSync(`${home}/undo`)
  const bytes = readFileSync(`${home}/undo/${copy}`)
  t.match(await rotate(home), { code: 0 })
  t.ok(readFileSync(`${home}/undo/${copy}`).equals(bytes), 'only its key was encrypted anew')
  service = await start()
  const { restored, undoId } = await json(service, `/runs/${runId}/undo`, 'POST')
  t.equal(restored.length, 1)
  t.equal(notes(), 'old')
  await service.stop()

  service = await start()
  await json(service, `/runs/${undoId}/undo`, 'POST')
  t.equal(notes(), 'new', 'also the undo of the undo, after another restart')
  await service.stop()
})

t.test('the changes of a task can be listed while it waits, taken back when it is over, and go with it', async (t) => {
  const { home, start, notes } = lay(t, { permissions: { writeFile: 'allow', runCommand: 'ask' } })
  const service = await start()
  const tasks = await tasksOf(t, service)
  const events = await tasks.watch()
  const { id } = await tasks.create('write "new" to notes.txt, then run `true`', { approval: { mode: 'always' } })
  await tasks.post(`/${id}/start`)
  const { runId, approvalId } = await events.until('task:approval', { kind: 'tool' })
  t.match((await json(service, `/runs/${runId}/changes`)).changes, [{ toolName: 'writeFile', canUndo: true }])
  t.match(await json(service, `/runs/${runId}/undo`, 'POST'), { statusCode: 409, code: 'ERR_RUN_LIVE' })

  await tasks.post(`/${id}/approve`, { approved: true, approvalId })
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${id}/approve`, { approved: true })
  await events.ended(1)
  t.match(await json(service, `/runs/${runId}/undo`, 'POST'), {
    restored: [/notes\.txt$/],
    notCovered: []
  })
  t.equal(notes(), 'old')

  t.equal((await tasks.call('DELETE', `/${id}`)).status, 200)
  for (let n = 0; readdirSync(`${home}/undo`).length > 0 && n < 100; n++) await wait(50)
  t.same(readdirSync(`${home}/undo`), [])
  t.equal((await json(service, `/runs/${runId}/changes`)).statusCode, 404)
  await service.stop()
})

t.test('a service that changed nothing keeps nothing, and what a killed one left is removed after the start', async (t) => {
  const { home, start } = lay(t)
  let service = await start()
  await service.stop()
  t.notOk(existsSync(`${home}/undo`))
  service = await start()
  await postEvents(`${service.url}/run`, { messages: [{ role: 'user', content: 'write "new" to notes.txt' }] })
  await service.stop()
  writeFileSync(`${home}/undo/01a20482-fca8-71e4-a588-91311bed4bbb`, 'no record names it')
  service = await start()
  for (let n = 0; readdirSync(`${home}/undo`).length > 1 && n < 100; n++) await wait(50)
  t.equal(readdirSync(`${home}/undo`).length, 1)
  await service.stop()
})
