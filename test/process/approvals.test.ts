import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parseEvents } from '../harness/sse.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

t.test('what waits when the service is killed, of a conversation and of a task, waits after it, and is answered at one ' +
  'address', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const before = await startService(t, where)
  const json = { 'content-type': 'application/json' }
  const run = await fetch(`${before.url}/run`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ id: 'chat', messages: [{ role: 'user', content: 'write "hello" to chat.txt' }] })
  })
  const [{ approvalId: chat }] = parseEvents(await run.text()).filter(({ type }) => type === 'tool-approval-request')
  const first = await tasksOf(t, before)
  const announced = await first.watch()
  const { id: taskId } = await first.create('write "x" to task.txt', { approval: { mode: 'always' } })
  await first.post(`/${taskId}/start`)
  const { approvalId }: Record<string, any> = await announced.until('task:approval')
  await before.stop('SIGKILL')

  const after = await startService(t, where)
  const waiting = async (): Promise<any[]> => (await (await fetch(`${after.url}/approvals`)).json() as any).approvals
  const decide = async (id: string) =>
    (await fetch(`${after.url}/approvals/${id}`, { method: 'POST', headers: json, body: '{"approved":true}' })).json()
  t.match(await waiting(), [{ approvalId: chat, kind: 'tool', threadId: 'chat' }, { approvalId, kind: 'tool', taskId }])
  t.notOk(existsSync(`${where.cwd}/chat.txt`) || existsSync(`${where.cwd}/task.txt`))

  t.match(await decide(chat), { state: 'approved', threadId: 'chat', continued: true })
  const followed = await fetch(`${after.url}/run/chat/stream`)
  await followed.text()
  t.equal(readFileSync(`${where.cwd}/chat.txt`, 'utf8'), 'hello')

  const events = await (await tasksOf(t, after)).watch()
  t.match(await decide(approvalId), { state: 'approved', taskId, continued: true })
  const result: Record<string, any> = await events.until('task:approval', { kind: 'result' })
  t.equal(readFileSync(`${where.cwd}/task.txt`, 'utf8'), 'x')
  t.match(await waiting(), [{ approvalId: result.approvalId, kind: 'result', taskId }])
  t.match(await decide(result.approvalId), { state: 'approved', taskId, continued: false })
  t.same(await waiting(), [])
  await after.stop()
})
