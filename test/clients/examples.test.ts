import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'

const execute = promisify(execFile)
const script = (name: string) => fileURLToPath(new URL(`../../examples/${name}.sh`, import.meta.url))
const SCRIPT = script('curl')

for (const token of [undefined, 'a-token-of-the-shell']) {
  t.test(`examples/curl.sh works against a service ${token ? 'with' : 'without'} a token`, async (t) => {
    const dir = t.testdir({ home: {}, work: {} })
    const env = token ? { LOCAL_AGENT_TOKEN: token } : {}
    const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })

    const { stdout, stderr } = await execute('bash', [SCRIPT, service.url], { timeout: 60_000, env: { PATH: process.env.PATH, ...env } })

    t.equal(stderr, '')
    for (
      const said of [
        '"status":"ok"',
        '"active_model"',
        '"status":"learned"',
        '"status":"set"',
        '"contextPreview":"## Known facts\\n- Tries',
        'tool-approval-request',
        'hello.txt now holds: hello',
        '"status":"removed"'
      ]
    ) {
      t.match(stdout, said)
    }
    const { brain } = await (await fetch(`${service.url}/memory/brain`, { headers: token ? { authorization: `Bearer ${token}` } : {} }))
      .json() as any
    t.same([brain.facts, brain.preferences], [[], { greeting: 'hello' }])
  })
}

t.test('examples/tasks.sh takes a task from its making to its end', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const env = { LOCAL_AGENT_TOKEN: 'a-token-of-the-shell' }
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })

  const { stdout, stderr } = await execute('bash', [script('tasks'), service.url], {
    timeout: 60_000,
    env: { PATH: process.env.PATH, ...env }
  })

  t.equal(stderr, '')
  const steps = [
    '"status":"planned"',
    '"status":"scheduled"',
    '"upcoming":[',
    '"runNumber":1',
    '"type":"task:approval"',
    '"toolName":"writeFile"',
    '"approved":true,"status":"running"',
    '"kind":"result"',
    '"approved":true,"status":"completed"',
    '"type":"task:complete"',
    'hello.txt now holds: hello',
    '"runTriggered":true',
    '"runNumber":2',
    '"trigger":"steer"',
    '"steering":["Be brief."]',
    '"status":"paused"',
    '"status":"scheduled"',
    '"status":"cancelled"',
    '"ok":true,"taskId"'
  ]
  let at = 0
  for (const said of steps) {
    const found = stdout.indexOf(said, at)
    t.not(found, -1, `then ${said}`)
    at = Math.max(found, at)
  }
  const tasks = await fetch(`${service.url}/tasks`, { headers: { authorization: `Bearer ${env.LOCAL_AGENT_TOKEN}` } })
  t.same(await tasks.json(), { tasks: [] })
})

t.test('examples/ci runs a scripted conversation with an empty environment', async (t) => {
  const server = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
  const folder = t.testdir({})
  const env = { PATH: process.env.PATH, TMPDIR: folder }
  const { stdout } = await execute(script('ci/conversation'), [process.execPath, server], { timeout: 60_000, env, cwd: folder })
  t.equal(stdout, [
    'ok: the run waits for an approval',
    'ok: nothing was written before it',
    'ok: the agent answers',
    'ok: the approved call has run',
    'ok: the service ended in order\n'
  ].join('\n'))
  const test = fileURLToPath(new URL('../../examples/ci/conversation.test.js', import.meta.url))
  await t.resolves(execute(process.execPath, ['--test', test], { timeout: 60_000, env, cwd: folder }))
  t.same(readdirSync(folder), [], 'nothing is left behind')
})

t.test('examples/ci/conversation.sh fails when the service cannot start or answers otherwise', async (t) => {
  const env = { PATH: process.env.PATH, TMPDIR: t.testdir({}) }
  await t.rejects(execute(script('ci/conversation'), ['false'], { timeout: 60_000, env }), { code: 1 })
})

t.test('examples/curl.sh stops at the first call that fails', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env: { LOCAL_AGENT_TOKEN: 'a-token-of-the-shell' } })

  const failed = await execute('bash', [SCRIPT, service.url], { env: { PATH: process.env.PATH } }).then(
    () => t.fail('it went on'),
    (error) => error
  )

  t.match(failed, { code: 22, stdout: /"status":"ok"[\s\S]*ERR_/ })
})
