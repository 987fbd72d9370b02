import t from 'tap'
import { asked, of } from '../harness/agent.ts'
import { parseEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const SCOPES = ['once', 'exact', 'folder'] as const
const CALL = { toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'x' } }] }
const answerOf = (approvalId: string, scope: string) =>
  ({ messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true, scope }] }] })

t.test('of fifty answers with different scopes that come at once through all doors, one counts, and gives one grant or none', async (t) => {
  const { app } = await withGateway(t, ({ body: { prompt } }) => prompt.at(-1).role === 'user' ? CALL : { text: 'done' })
  const post = (url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  const grantsOf = async (owner: string) => (await app.inject(`/grants?${owner}`)).json().grants as Array<{ scope: string, uses: number }>
  /** Sends the answers, and returns the scopes of those that were taken. */
  const atOnce = async (doors: Array<(scope: string) => ReturnType<typeof post>>) => {
    const answers = await Promise.all(Array.from({ length: 50 }, async (_, n) => {
      const scope = SCOPES[n % 3]
      return { scope, response: await doors[n % doors.length](scope) }
    }))
    t.same(answers.filter(({ response: { statusCode } }) => ![200, 409].includes(statusCode)).map(({ response }) => response.body), [])
    return new Set(answers.filter(({ response }) => response.statusCode === 200).map(({ scope }) => scope))
  }

  for (let round = 0; round < 3; round++) {
    const id = `chat-${round}`
    const events = parseEvents((await post('/run', { messages: [{ role: 'user', content: 'go' }], id })).body)
    const [approvalId] = asked(events)
    const doors = [
      (scope: string) => post(`/approvals/${approvalId}`, { approved: true, scope }),
      (scope: string) => post('/run/approve', { ...answerOf(approvalId, scope), id }),
      (scope: string) => post('/run', { ...answerOf(approvalId, scope), id })
    ]
    const taken = await atOnce([...doors.slice(round), ...doors.slice(0, round)])
    t.equal(taken.size, 1, [...taken].join())
    t.same((await grantsOf(`threadId=${id}`)).map(({ scope }) => scope), [...taken].filter((scope) => scope !== 'once'))
    t.equal(of(events, 'tool-approval-request').length, 1)
    while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
  }

  const tasks = await tasksOf(t, app)
  const watch = await tasks.watch()
  const plan = { phases: [{ description: 'do it' }] }
  const { id } = await tasks.create('write it', { plan, taskType: 'triggered', approval: { mode: 'always' } })
  await tasks.post(`/${id}/run`)
  const { approvalId } = await watch.until('task:approval', { kind: 'tool' })
  const taken = await atOnce([
    (scope) => post(`/approvals/${approvalId}`, { approved: true, scope }),
    (scope) => post(`/tasks/${id}/approve`, { approvalId, approved: true, scope })
  ])
  t.equal(taken.size, 1, [...taken].join())
  t.same((await grantsOf(`taskId=${id}`)).map(({ scope }) => scope), [...taken].filter((scope) => scope !== 'once'))
  await watch.until('task:approval', { kind: 'result' })
})
