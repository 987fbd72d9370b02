import t, { type Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { effects } from '../harness/effects.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'
import { insistentClient, prepareDirectory, startDying, writesIn } from './dying-service.ts'

// The command has its effect, then kills the service that waits for it, which no command in a box can.
const EFFECT = { toolName: 'runCommand', input: { command: 'printf a >> effects.log; kill -KILL $PPID' } }

t.test('killed inside an effect, a run goes on: nothing happens twice, and nothing urges the model to do it again', {
  skip: process.platform === 'win32'
}, async (t) => {
  const gateway = await startFakeGateway({
    reply: ({ structured, body: { prompt } }) =>
      structured !== undefined
        ? { object: { outcome: 'partly', claims: [], satisfied: false, score: 0.5, issues: ['The note may not be there.'] } }
        : prompt.some(({ role }: { role: string }) => role === 'tool')
          ? { text: 'The command was interrupted. It is not known whether the note was made.' }
          : { toolCalls: [EFFECT] }
  })
  t.teardown(() => gateway.close())
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ model: 'test/model', commands: { sandbox: 'off' } }) }, work: {} })
  const options = {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }
  }
  const first = await startService(t, options)
  const before = await tasksOf(t, first)
  const { id } = await before.create('make a note', { plan: { phases: [{ description: 'Make it' }] } })
  await before.post(`/${id}/start`)
  t.match(await first.exited, { signal: 'SIGKILL' })

  const second = await startService(t, options)
  const tasks = await tasksOf(t, second)
  const events = await tasks.watch()
  if ((await tasks.get(`/${id}`)).status === 'running') await events.ended(1)
  const [run] = await tasks.runs(id)
  t.match(run, {
    status: 'completed',
    attempts: 2,
    toolCalls: [{ status: 'error', error: /Outcome unknown/ }],
    evaluation: { outcome: 'partly', satisfied: false, qualityScore: 0.5, judge: 'model' }
  })
  t.equal(effects(options.cwd), 'a', 'the effect happened once')
  const prompts = gateway.requests.filter(({ structured }) => structured === undefined).map(({ body }) => JSON.stringify(body.prompt))
  t.equal(prompts.length, 2, 'the call and the report: nothing contradicts a report that says what is not known')
  t.match(prompts[1], /Outcome unknown/)
  await second.stop()
})

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

const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] }
const options = { object: { schema, retries: 1 }, instructions: 'Count twice.', allowTools: ['listDirectory'], maxSteps: 5 }
const give = (n: unknown) => ({ toolCalls: [{ toolName: 'answer', input: { n } }] })
/** An answer that does not fit, one beside another call, and none that a third attempt could use. */
const SCRIPT = [
  { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] },
  give('one'),
  { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, { toolName: 'answer', input: { n: 1 } }] },
  give(3)
]
const OVER = ['completed', 'failed', 'interrupted', 'cancelled', 'rejected']

t.test('a run that owes an object gives it once, with its options and its retries, wherever the service is killed', async (t) => {
  const prepared = await prepareDirectory(t, SCRIPT)
  for (const killAt of ['8 after', '14 before']) {
    await t.test(`killed ${killAt} a write`, async (t) => {
      const lives = await startDying(t, prepared, killAt)
      const client = insistentClient(t, lives)
      const { insist } = client
      const { id } = await insist((tasks) => tasks.create('count', { plan: { phases: [{ description: 'look' }] }, options }))
      await insist((tasks) => tasks.call('POST', `/${id}/start`))
      let run: any
      while (run === undefined || !OVER.includes(run.status)) {
        run = await insist(async (tasks) => {
          const [{ runId }] = await tasks.runs(id)
          return (await fetch(`${tasks.url}/runs/${runId}?waitMs=5000`)).json()
        })
      }
      t.equal(lives.deaths, 1)
      t.match(run, { status: 'completed', object: { n: 1 }, options })
      t.same(run.toolCalls.map(({ toolName, status }: any) => `${toolName} ${status}`), [
        'listDirectory completed',
        'answer error',
        'listDirectory completed',
        'answer completed'
      ])
    })
  }
})
