import { execFileSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { cpSync, existsSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { type Sidecar, startService } from '../harness/sidecar.ts'
import { writesIn } from './dying-service.ts'

const PRELOAD = new URL('./kill-at-write.ts', import.meta.url).href
const LIVES = 25
const limits = { skip: process.platform === 'linux' ? false : 'bubblewrap is for Linux', timeout: 600_000 }

/** Leaves what programs obey, again and again. */
const LEAVING = `while :; do echo 'touch tripped' > .envrc; mkdir -p .vscode deep; echo '{}' > .vscode/tasks.json; echo evil > AGENTS.md
  [ -e deep/.git ] || git init -q deep; git -C deep config core.fsmonitor "touch $PWD/tripped"
  printf '#!/bin/sh\\ntouch tripped\\n' > deep/.git/hooks/post-commit; chmod +x deep/.git/hooks/post-commit; sleep 0.01; done`

/** A repository with instructions for agents, and a service whose model runs one command in it. */
async function setUp (t: Test, command: string) {
  const gateway = await startFakeGateway({
    reply: ({ body: { prompt } }) => prompt.some(({ role }: { role: string }) => role === 'tool')
      ? { text: 'done' }
      : { toolCalls: [{ toolName: 'runCommand', input: { command } }] }
  })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, permissions: { runCommand: 'allow' } }
  const dir = t.testdir({
    whole: { home: { 'config.json': JSON.stringify(config) }, work: { 'AGENTS.md': 'be kind\n', 'file.txt': 'one\n' } }
  })
  const [home, cwd] = [`${dir}/whole/home`, `${dir}/whole/work`]
  const options = { home, cwd, env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url } }
  const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', ...args], {
    cwd,
    stdio: 'ignore'
  })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'first')
  const ask = (service: Sidecar, id: string) => void fetch(`${service.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'go' }], id })
  }).then((response) => response.text()).catch(() => {})
  /** What is there that programs obey, and the instructions. */
  const left = () => [
    ['.envrc', '.vscode', 'deep/.git/hooks/post-commit'].filter((name) => existsSync(`${cwd}/${name}`)),
    readFileSync(`${cwd}/AGENTS.md`, 'utf8')
  ]
  return { dir, cwd, options, git, ask, left }
}

t.test('killed at any moment of a command, the next start leaves nothing that programs obey', limits, async (t) => {
  const { cwd, options, git, ask, left } = await setUp(t, LEAVING)
  let began = 0
  for (let life = 0; life < LIVES; life++) {
    const service = await startService(t, options)
    t.same(left(), [[], 'be kind\n'], `life ${life}`)
    if (existsSync(`${cwd}/deep/.git`)) {
      began++
      git('-C', 'deep', 'status')
    }
    t.notOk(existsSync(`${cwd}/tripped`))
    rmSync(`${cwd}/deep`, { recursive: true, force: true })
    ask(service, `life-${life}`)
    // On a slow computer, most random times come before the command begins.
    if (life % 2 === 0) while (!existsSync(`${cwd}/deep/.git`)) await wait(5)
    await wait(randomInt(life % 2 === 0 ? 200 : 1_500))
    await service.stop('SIGKILL')
  }
  t.ok(began >= LIVES / 3, `${began} of ${LIVES} lives ended while the command had begun`)
})

t.test('killed at any write while it puts back, the service puts back the rest and tells of all', limits, async (t) => {
  const leaving = 'echo evil > AGENTS.md; echo x > .envrc; mkdir .vscode; touch .vscode/tasks.json; sleep 999'
  const { dir, options, ask, left } = await setUp(t, leaving)
  const service = await startService(t, options)
  ask(service, 'cut')
  while (!existsSync(`${options.cwd}/.vscode/tasks.json`)) await wait(20)
  await service.stop('SIGKILL')
  const kept = `${dir}/kept`
  cpSync(`${dir}/whole`, kept, { recursive: true })

  const startAt = async (KILL_AT: string) => {
    rmSync(`${dir}/whole`, { recursive: true })
    cpSync(kept, `${dir}/whole`, { recursive: true })
    return startService(t, { ...options, preload: [PRELOAD], env: { ...options.env, KILL_AT } }).catch(() => undefined)
  }
  const calm = (await startAt('count'))!
  await calm.stop('SIGKILL')
  const writes = writesIn(calm.log())
  let deaths = 0
  for (const at of Array.from({ length: writes }, (_, n) => [`${n} before`, `${n} after`]).flat()) {
    const dying = await startAt(at)
    if (dying === undefined) deaths++
    await dying?.stop('SIGKILL')
    const next = await startService(t, options)
    const { notifications } = await fetch(`${next.url}/notifications`).then((response) => response.json()) as { notifications: any[] }
    const texts = notifications.filter(({ kind }) => kind === 'boxed').map(({ text }) => text)
    t.equal(texts.length, 1, `once, at ${at}`)
    for (const name of ['AGENTS.md', '.envrc', '.vscode']) t.match(texts[0], `${name} `, `${name}, at ${at}`)
    t.same(left(), [[], 'be kind\n'], at)
    await next.stop('SIGKILL')
  }
  t.ok(deaths > 4, `${deaths} of ${2 * writes} starts were cut`)
})
