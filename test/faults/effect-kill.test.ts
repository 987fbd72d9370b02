import t from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { effects } from '../harness/effects.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

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
  t.equal(prompts.length, 3, 'the call, the report, and its one refinement')
  t.match(prompts[2], /Nobody knows whether these calls had their effect\. Do not repeat them:\\n- runCommand/)
  t.match(prompts[2], /or say that it was not done/)
  await second.stop()
})
