import { existsSync } from 'node:fs'
import t from 'tap'
import { append, calling, effects } from '../harness/effects.ts'
import { startService } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'

const TOKEN = 'correct horse'
const plan = { plan: { phases: [{ description: 'do it' }] } }

t.test('a nightly task runs what was granted and nothing else, also after the service was killed, and the digest tells it', async (t) => {
  const granted = append('x')
  const model = calling(
    granted,
    { toolName: 'writeFile', input: { path: 'made.txt', content: 'x' } },
    { toolName: 'runCommand', input: { command: 'printf x  >> effects.log' } }
  )
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(model) }, work: {} })
  const where = { home: `${dir}/home`, cwd: `${dir}/work`, env: { LOCAL_AGENT_TOKEN: TOKEN } }
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
  let service = await startService(t, where)
  let tasks = await tasksOf(t, service, TOKEN)
  const nightly = { taskType: 'recurring', schedule: { interval: 'daily', at: '03:00' }, approval: { mode: 'granted' } }
  const { id } = await tasks.create('test at night', { ...plan, ...nightly })
  const body = JSON.stringify({ taskId: id, toolName: granted.toolName, input: granted.input, scope: 'exact' })
  t.equal((await fetch(`${service.url}/grants`, { method: 'POST', headers, body })).status, 201)
  await tasks.post(`/${id}/start`)

  for (const night of [1, 2]) {
    const events = await tasks.watch()
    await tasks.post(`/${id}/run`)
    const { runId } = await events.until('task:complete')
    t.same(events.of('task:approval'), [], 'nobody is asked')
    t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [
      { status: 'completed', grantId: String },
      { status: 'denied', error: /no grant covers this call/ },
      { status: 'denied', error: /no grant covers this call/ }
    ])
    await service.stop('SIGKILL')
    service = await startService(t, where)
    tasks = await tasksOf(t, service, TOKEN)
    t.match(await (await fetch(`${service.url}/grants?taskId=${id}`, { headers })).json(), { grants: [{ uses: night, scope: 'exact' }] })
  }
  t.equal(effects(where.cwd), 'xx')
  t.notOk(existsSync(`${where.cwd}/made.txt`))
  const { completed: { items } } = await tasks.get('/digest?since=0')
  t.match(items.map(({ text }: { text: string }) => text), [/1 call by grant, 2 others denied/])
  await service.stop()
})
