import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startService } from '../harness/sidecar.ts'

const LIVES = 25

/** Leaves what programs obey, again and again. */
const LEAVING = `while :; do echo 'touch tripped' > .envrc; mkdir -p .vscode deep; echo '{}' > .vscode/tasks.json; echo evil > AGENTS.md
  [ -e deep/.git ] || git init -q deep; git -C deep config core.fsmonitor "touch $PWD/tripped"
  printf '#!/bin/sh\\ntouch tripped\\n' > deep/.git/hooks/post-commit; chmod +x deep/.git/hooks/post-commit; sleep 0.01; done`

t.test('killed at any moment of a command, the next start leaves nothing that programs obey', {
  skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux',
  timeout: 600_000
}, async (t) => {
  const gateway = await startFakeGateway({
    reply: ({ body: { prompt } }) => prompt.some(({ role }: { role: string }) => role === 'tool')
      ? { text: 'done' }
      : { toolCalls: [{ toolName: 'runCommand', input: { command: LEAVING } }] }
  })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, permissions: { runCommand: 'allow' } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: { 'AGENTS.md': 'be kind\n', 'file.txt': 'one\n' } })
  const options = { home: `${dir}/home`, cwd: `${dir}/work`, env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url } }
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd: options.cwd,
    stdio: 'ignore'
  })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  let began = 0
  for (let life = 0; life < LIVES; life++) {
    const service = await startService(t, options)
    const names = ['.envrc', '.vscode', 'deep/.git/hooks/post-commit'].filter((name) => existsSync(`${options.cwd}/${name}`))
    t.same([names, readFileSync(`${options.cwd}/AGENTS.md`, 'utf8')], [[], 'be kind\n'], `life ${life}`)
    if (existsSync(`${options.cwd}/deep/.git`)) {
      began++
      git('-C', 'deep', 'status')
    }
    t.notOk(existsSync(`${options.cwd}/tripped`))
    rmSync(`${options.cwd}/deep`, { recursive: true, force: true })
    const request = fetch(`${service.url}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: 'go' }], id: `life-${life}` })
    }).then((response) => response.text())
    request.catch(() => {})
    await wait(randomInt(1_500))
    await service.stop('SIGKILL')
  }
  t.ok(began > LIVES / 10, `${began} of ${LIVES} lives ended while the command had begun`)
})
