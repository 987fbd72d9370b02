import t from 'tap'
import { asking, FORMAT } from '../harness/questions.ts'
import { postEvents } from '../harness/sse.ts'
import { startService } from '../harness/sidecar.ts'
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
