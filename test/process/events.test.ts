import t from 'tap'
import { readEvents } from '../harness/event-reader.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

t.test('after a restart a reader is told so first, and a run that was cut is interrupted', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const at = { home: `${dir}/home`, cwd: `${dir}/work` }
  const first = await startService(t, at)
  const reader = await readEvents(t, first.url)
  const body = JSON.stringify({ id: 'chat', resumable: true, messages: [{ role: 'user', content: 'write "x" to a.txt' }] })
  const run = async (url: string) =>
    (await fetch(`${url}/run`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
  await run(first.url)
  const { runId, approvalId } = await reader.until('approval:open')
  await first.stop('SIGKILL')
  await reader.ended()

  const second = await startService(t, at)
  const tasks = await tasksOf(t, second)
  const again = await readEvents(t, second.url, { headers: { 'last-event-id': reader.lastId()! } })
  const list = async (query: string) => (await (await fetch(`${second.url}/runs${query}`)).json() as any).runs
  t.match(await list('?threadId=chat'), [{ runId, status: 'pending_approval', questions: [{ approvalId }] }])
  await fetch(`${second.url}/approvals/${approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: true })
  })
  await again.until('run:end')
  t.same(again.types(), ['reset', 'approval:closed', 'run:start', 'run:end'])
  t.match(again.events, [{ reason: 'restarted' }, { approvalId, runId }, { runId }, { runId, status: 'completed' }])

  const task = await tasks.create('run `sleep 60`')
  await tasks.post(`/${task.id}/start`)
  const { runId: cut } = await again.until('run:start', { taskId: task.id })
  t.match(await second.stop(), { code: 0 })
  await again.ended()
  t.equal(again.types().at(-1), 'service:shutdown')

  const third = await startService(t, at)
  const last = await readEvents(t, third.url, { query: `?after=${again.lastId()}&taskId=${task.id}` })
  await (await tasksOf(t, third)).post(`/${task.id}/cancel`)
  t.match(await last.until('run:end'), { runId: cut, status: 'cancelled' })
  t.equal(last.types()[0], 'reset')
  await third.stop()
})
