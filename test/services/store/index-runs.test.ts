import t from 'tap'
import { fakeClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { layStoreOfSchema1, SCHEMA_1 } from '../../harness/schema-1.ts'

t.test('runs of earlier versions are in the list of all runs, of conversations and of tasks', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  await layStoreOfSchema1(`${dir}/home`, `${dir}/work`)
  const app = await build(t, { home: `${dir}/home`, cwd: `${dir}/work`, clock: fakeClock(SCHEMA_1.at + 1_000) })
  const read = async (path: string) => (await app.inject(path)).json()

  const { runs } = await read('/runs')
  const ids: string[] = runs.map(({ runId }: any) => runId)
  t.same(ids, ids.toSorted().reverse())
  for (const taskId of Object.values(SCHEMA_1.tasks)) {
    t.same(runs.filter((run: any) => run.taskId === taskId), (await read(`/tasks/${taskId}/runs`)).runs, taskId)
  }
  const [chat] = (await read('/runs?threadId=chat')).runs
  t.match(chat, {
    threadId: 'chat',
    status: 'pending_approval',
    toolCalls: [{ tool: 'writeFile', status: 'pending' }],
    questions: [{ kind: 'tool', tool: 'writeFile' }],
    usage: { inputTokens: Number, cachedInputTokens: 0 }
  })
  t.match(await read(`/runs/${chat.runId}`), chat)
  t.match((await read('/runs?status=pending_approval')).runs.length, 4)
  await app.inject({ method: 'POST', url: `/approvals/${chat.questions[0].approvalId}`, payload: { approved: true } })
  t.match(await read(`/runs/${chat.runId}?waitMs=20000`), { status: 'completed' }, 'it goes on as the same run')
})
