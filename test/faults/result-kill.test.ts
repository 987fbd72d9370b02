import t, { type Test } from 'tap'
import { insistentClient, prepareDirectory, startDying, writesIn } from './dying-service.ts'

/**
 * Runs a task twice and answers neither result, through one death of the service at a durable write (see kill-at-write.ts). Whenever
 * anybody looks, one result waits at most, and the older run is completed only when that of the newer waits.
 */
async function runTwice (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  const client = insistentClient(t, lives)
  const { insist } = client

  const open = async (): Promise<string[]> => {
    const { approvals } = await (await fetch(`${client.service.url}/approvals`)).json() as { approvals: Array<{ approvalId: string }> }
    return approvals.map(({ approvalId }) => approvalId)
  }

  const body = { goal: 'go', taskType: 'triggered', approval: { mode: 'always' } }
  const { id } = await insist((tasks) => tasks.post('', body, { 'idempotency-key': 'the task' }))
  const results: string[] = []
  for (const runNumber of [1, 2]) {
    await insist((tasks) => tasks.post(`/${id}/run`, undefined, { 'idempotency-key': `run ${runNumber}` }))
    const approvalId = await insist(async (tasks) => {
      const events = await tasks.watch()
      try {
        for (;;) {
          const count = events.events.length
          const runs = await tasks.runs(id)
          const [newest, older] = runs
          t.ok(runs.filter(({ status }: any) => status === 'pending_approval').length <= 1, 'one result waits at most')
          if (newest?.runNumber === runNumber && newest.status === 'pending_approval') {
            t.match(older, runNumber === 1 ? undefined : { status: 'completed', review: 'superseded', completedAt: Number })
            return newest.questions[0].approvalId
          }
          if (older?.status === 'pending_approval') {
            t.match(older, { questions: [{ approvalId: results[0] }] }, 'it still waits')
            await events.beyond(count)
          } else if (older === undefined) {
            await events.beyond(count)
          } else {
            // A page reads one run after the other: the newer run was read before its result took the place of the older one.
            t.match((await tasks.runs(id))[0], { runNumber, status: 'pending_approval' }, 'the result of the newer run waits')
          }
        }
      } finally {
        events.leave()
      }
    })
    results.push(approvalId)
  }
  const [first, second] = results
  t.same(await open(), [second])
  const writes = writesIn(client.service.log())
  await insist(async (tasks) => {
    t.match(await tasks.get(`/${id}`), { waitingFor: [{ kind: 'result', id: second }], totalRuns: 2, successfulRuns: 1 })
    const late = await tasks.call('POST', `/${id}/approve`, { approved: true, approvalId: first })
    t.equal(late.status, 409)
    t.match(late.body.error, second)
  })
  await insist((tasks) => tasks.post(`/${id}/approve`, { approved: true, approvalId: second }))
  t.match(await insist((tasks) => tasks.get(`/${id}`)), { waitingFor: undefined, successfulRuns: 2, approval: { approvedRuns: 1 } })
  t.same(await open(), [])
  const died = lives.died(client.service)
  await client.service.stop()
  return { died, writes }
}

t.test('killed when the result of a run takes the place of an older one, the service has one of the two open, and all runs', async (t) => {
  const prepared = await prepareDirectory(t, [{ text: 'done' }])
  const { writes } = await runTwice(t, prepared, 'count')
  for (const when of ['before', 'after']) {
    await t.test(when, async (t) => t.ok((await runTwice(t, prepared, `${writes - 1} ${when}`)).died))
  }
})
