import t from 'tap'
import { misbehaving } from '../harness/mcp.ts'
import { postEvents } from '../harness/sse.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

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
  t.match(replayed, /Outcome unknown/)
  t.match(replayed, /ERR_INTERRUPTED/)
  await after.stop()
})
