import { existsSync, readFileSync } from 'node:fs'
import t from 'tap'
import { misbehaving } from '../harness/mcp.ts'
import { asking, FORMAT } from '../harness/questions.ts'
import { startService } from '../harness/sidecar.ts'
import { parseEvents, postEvents, textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

t.test('questions of a conversation and of a task outlast the service, and the answers let both go on', async (t) => {
  const config = { model: 'offline/scripted', offline: { script: [asking(), { text: 'Markdown it is.' }] } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const before = await startService(t, where)
  const body = { id: 'chat', messages: [{ role: 'user', content: 'go' }], options: { interactive: true } }
  const { events } = await postEvents(`${before.url}/run`, body)
  const { approvalId: chat } = events.find(({ type }) => type === 'question-request')!
  const first = await tasksOf(t, before)
  const announced = await first.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const { id: taskId } = await first.create('write the report', { plan, approval: { mode: 'always' } })
  await first.post(`/${taskId}/start`)
  const { approvalId: task } = await announced.until('task:approval', { kind: 'question' }) as Record<string, any>
  await before.stop('SIGKILL')

  const after = await startService(t, where)
  const answer = async (id: string) => {
    const { text } = await postEvents(`${after.url}/approvals/${id}`, { answers: { format: 'md' } })
    return JSON.parse(text)
  }
  t.match(await (await fetch(`${after.url}/approvals?kind=question`)).json(), {
    approvals: [{ approvalId: chat, threadId: 'chat', questions: [FORMAT] }, { approvalId: task, taskId, questions: [FORMAT] }]
  })
  const tasks = await tasksOf(t, after)
  const watched = await tasks.watch()
  t.match(await answer(task), { state: 'answered', taskId, continued: true })
  await watched.until('task:approval', { kind: 'result' })
  t.match((await tasks.runs(taskId))[0], { output: 'Markdown it is.', toolCalls: [{ output: { answers: { format: 'md' } } }] })

  t.match(await answer(chat), { state: 'answered', threadId: 'chat', continued: true })
  const content = [{ type: 'tool-approval-response', approvalId: chat, answers: { format: 'md' } }]
  const { text } = await postEvents(`${after.url}/run/approve`, { messages: [{ role: 'tool', content }] })
  t.match(text, /"output":{"answers":{"format":"md"}}.*/)
  t.match(text, /"finishReason":"stop"/)
  await after.stop()
})

const FORM = { message: 'Who?', requestedSchema: { properties: { name: { type: 'string' } } } }
const GOAL = `use ask with ${JSON.stringify(FORM)}`

t.test("a tool server's questions end with the service that is killed: they are withdrawn, and nobody is asked twice", async (t) => {
  // A call that only reads is repeated after a crash, unless it has asked.
  const config = { analysis: false, mcp: [misbehaving('travel', ['--reads=ask'])] }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const before = await startService(t, where)
  const accept = () => fetch(`${before.url}/mcp/servers/travel/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}'
  })
  while (!(await accept()).ok) continue
  const body = { id: 'chat', messages: [{ role: 'user', content: GOAL }], resumable: true }
  postEvents(`${before.url}/run`, body).catch(() => {})
  const first = await tasksOf(t, before)
  const announced = await first.watch()
  const { id: taskId } = await first.create(GOAL, { plan: { phases: [{ description: 'do it' }] }, approval: { mode: 'always' } })
  await first.post(`/${taskId}/start`)
  await announced.until('task:approval', { kind: 'question' })
  const list = async ({ url }: { url: string }) => (await (await fetch(`${url}/approvals?kind=question`)).json() as any).approvals
  let open: any[] = []
  while (open.length < 2) open = await list(before)
  await before.stop('SIGKILL')

  const after = await startService(t, where)
  t.same(await list(after), [])
  for (const { approvalId } of open) {
    const { text } = await postEvents(`${after.url}/approvals/${approvalId}`, { answers: { name: 'Ada' } })
    t.match(JSON.parse(text), { statusCode: 409, code: 'ERR_APPROVAL_WITHDRAWN' })
  }
  const tasks = await tasksOf(t, after)
  const watched = await tasks.watch()
  let [run] = await tasks.runs(taskId)
  while (run.status === 'running') [run] = await tasks.runs(taskId)
  t.match(run.toolCalls, [{ toolName: 'ask', status: 'error', error: /Outcome unknown/ }])
  t.same(watched.of('task:approval').filter(({ kind }) => kind === 'question'), [])
  const replayed = await (await fetch(`${after.url}/run/chat/stream`)).text()
  const outputs = parseEvents(replayed).filter(({ type }) => type === 'tool-input-available' || type === 'tool-output-error')
  t.match(outputs, [{ type: 'tool-input-available' }, { type: 'tool-output-error', errorText: /Outcome unknown/ }], 'it is not asked again')
  t.match(textOf(parseEvents(replayed)), /could not use ask: Outcome unknown/)
  t.notMatch(replayed, /ERR_INTERRUPTED/)
  t.same(await list(after), [])
  await after.stop()
})

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
