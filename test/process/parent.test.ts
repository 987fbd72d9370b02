import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { VERSION } from '../../services/lib/version.ts'
import { atEnd } from '../harness/at-end.ts'
import { allGone } from '../services/process/alive.ts'
import { serviceEnv, spawnService, startService, type Sidecar } from '../harness/sidecar.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const SUPERVISOR = fileURLToPath(new URL('../../examples/supervisor.ts', import.meta.url))
const posix = process.platform === 'win32' && 'uses sh'
/** The end of a service takes 5 s at most, and its start what a busy machine makes of it. */
const END_MS = 20_000

function place (t: Test, config: object = { permissions: { runCommand: 'allow' }, commands: { sandbox: 'off' } }) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}

/** A run under way whose command ignores TERM, so that the service takes its time to end; resolves to the command's processes. */
async function cling (url: string, cwd: string): Promise<number[]> {
  const body = JSON.stringify({
    messages: [{ role: 'user', content: "run `trap '' TERM; sleep 600 & echo $$ $! > pids.new; mv pids.new pids; sleep 600; sleep 600`" }]
  })
  const response = await fetch(`${url}/run`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  response.text().catch(() => {})
  while (!existsSync(`${cwd}/pids`)) await new Promise((resolve) => setTimeout(resolve, 20))
  return readFileSync(`${cwd}/pids`, 'utf8').trim().split(' ').map(Number)
}

/** A shell that has started the service, and the service's ready line. */
async function startShell (
  t: Test,
  { home, cwd }: { home: string, cwd: string },
  command: string,
  args: string[]
): Promise<{ shell: ChildProcess, url: string, pid: number }> {
  const shell = spawn(command, args, {
    cwd,
    env: serviceEnv(home),
    stdio: ['ignore', 'pipe', 'inherit']
  })
  const { url, pid } = await new Promise<{ url: string, pid: number }>((resolve) => {
    // A supervisor tells more than the ready line.
    createInterface({ input: shell.stdout! }).on('line', (line) => {
      const told = JSON.parse(line)
      if (told.event === 'ready') resolve(told)
    })
  })
  atEnd(t, () => {
    for (const each of [shell.pid!, pid]) {
      try {
        process.kill(each, 'SIGKILL')
      } catch {}
    }
  })
  return { shell, url, pid }
}

const SHELLS: Array<[string, string, string[]]> = [
  ['its id', '/bin/sh', ['-c', '"$0" "$1" --port 0 --parent-pid $$ & wait', process.execPath, SERVER]],
  ['the id of a process further up', '/bin/sh', [
    '-c',
    'sh -c \'"$0" "$1" --port 0 --parent-pid $2; true\' "$0" "$1" $$ & wait',
    process.execPath,
    SERVER
  ]],
  ['nothing, as npx does', '/bin/sh', [
    '-c',
    'npm_lifecycle_event=npx npm_lifecycle_script="\'local-agent\' --port 0" "$0" "$1" --port 0 & wait',
    process.execPath,
    SERVER
  ]],
  ['its end of a pipe', process.execPath, [SUPERVISOR, '--', process.execPath, SERVER, '--port', '0']]
]
for (const [what, command, args] of SHELLS) {
  t.test(
    `a shell that gave ${what} and is killed leaves no service and no child of it, and its next start works at once`,
    { skip: posix },
    async (t) => {
      const where = place(t)
      const { shell, url, pid } = await startShell(t, where, command, args)
      const left = await cling(url, where.cwd)
      shell.kill('SIGKILL')
      const next = await startService(t, where)
      t.equal((await fetch(`${next.url}/health`)).status, 200)
      await t.resolves(allGone([pid, ...left], END_MS))
      t.match(JSON.parse(readFileSync(`${where.home}/instance.json`, 'utf8')), { pid: next.pid, url: next.url })
      t.match(await next.stop(), { code: 0 })
    }
  )
}

t.test('a start while another service is ending waits for its end', async (t) => {
  const where = place(t)
  const first = await startService(t, where)
  const pids = await cling(first.url, where.cwd)
  first.child.kill('SIGTERM')
  let isOver = false
  void first.exited.then(() => {
    isOver = true
  })
  while (!JSON.parse(readFileSync(`${where.home}/service.lock`, 'utf8')).ending) await new Promise((resolve) => setTimeout(resolve, 5))
  const second = await startService(t, where)
  t.ok(isOver || !existsSync(`/proc/${first.pid}`))
  t.match(await first.exited, { code: 0 })
  t.equal((await fetch(`${second.url}/health`)).status, 200)
  await allGone(pids, 0)
})

t.test('a start that waits for another and is told to end ends with 0', async (t) => {
  const where = place(t)
  const first = await startService(t, where)
  await cling(first.url, where.cwd)
  first.child.kill('SIGSTOP')
  const lock = `${where.home}/service.lock`
  writeFileSync(lock, JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), ending: true }))
  const early =
    'data:text/javascript,process.on("newListener", function early (event) { if (event === "SIGTERM") process.off("newListener", ' +
    'early), setTimeout(() => process.kill(process.pid, "SIGTERM"), 300) })'
  const second = spawnService({ ...where, preload: [early] })
  atEnd(t, () => second.child.kill('SIGKILL'))
  t.match(await second.exited, { code: 0, signal: null })
  t.equal(second.out(), '')
})

t.test("instance.json says where the service is while it runs, exit code 73 names both, and a killed service's is not " +
  'believed', async (t) => {
  const where = place(t)
  const file = `${where.home}/instance.json`
  const before = Date.now()
  const first = await startService(t, where)
  const instance = JSON.parse(readFileSync(file, 'utf8'))
  t.match(instance, { url: first.url, pid: first.pid, version: new RegExp(`^${VERSION}[+]`), startedAt: Number })
  t.same(Object.keys(instance).sort(), ['pid', 'startedAt', 'url', 'version'])
  t.ok(instance.startedAt > before - 1_000 && instance.startedAt <= Date.now())
  t.equal(statSync(file).mode & 0o777, process.platform === 'win32' ? 0o666 : 0o600)
  const refused = spawnService(where)
  t.match(await refused.exited, { code: 73 })
  t.match(
    refused.log(),
    `in use by process ${first.pid}, a service at ${first.url}. Use that service, or stop it first, or set LOCAL_AGENT_HOME`
  )
  t.ok(existsSync(file), 'the second leaves it alone')

  await first.stop('SIGKILL')
  t.ok(existsSync(file))
  const second = await startService(t, where)
  t.match(JSON.parse(readFileSync(file, 'utf8')), { url: second.url, pid: second.pid })
  t.match(await second.stop(), { code: 0 })
  t.notOk(existsSync(file))
})

const USAGE: Array<[string, { args: string[], stdin?: string }, RegExp]> = [
  ['a parent that does not live', { args: ['--parent-pid', String(2 ** 22 + 1)] }, /no live process/],
  ['--stdin from no pipe', { args: ['--stdin'] }, /--stdin needs a pipe or a socket/],
  [
    'a first line that makes no sense',
    { args: ['--stdin'], stdin: '{"tokn":"x"}\n' },
    /unknown field "tokn".*token, passphrase, gatewayKey, keys/
  ]
]
for (const [what, options, message] of USAGE) {
  t.test(`${what} ends with 64 and says why`, async (t) => {
    const service = spawnService({ ...place(t), ...options })
    atEnd(t, () => service.child.kill('SIGKILL'))
    t.match(await service.exited, { code: 64 })
    t.equal(service.out(), '')
    t.match(service.log(), message)
    t.notMatch(service.log(), /^ +at |hidden/m, 'no stack, and nothing of the line')
  })
}

t.test('--stdin takes no file and no terminal, and any pipe or socket', { skip: posix }, async (t) => {
  const { home, cwd } = place(t)
  const env = serviceEnv(home)
  const run = async (command: string, args: string[], stdin: 'pipe' | number = 'pipe') => {
    const child = spawn(command, args, { cwd, env, stdio: [stdin, 'pipe', 'pipe'] })
    atEnd(t, () => child.kill('SIGKILL'))
    let log = ''
    for (const output of [child.stdout, child.stderr]) {
      output!.on('data', (text) => {
        log += text
      })
    }
    const [code] = await once(child, 'close')
    return { code, log }
  }
  writeFileSync(`${cwd}/line`, '{}\n')
  const file = openSync(`${cwd}/line`, 'r')
  t.match(await run(process.execPath, [SERVER, '--stdin', '--port', '0'], file), { code: 64, log: /it is a file/ })
  closeSync(file)
  t.match(await run('sh', ['-c', 'exec "$0" "$1" --stdin --port 0 <&-', process.execPath, SERVER]), {
    code: 64,
    log: /it is a terminal or a device/
  }, 'closed')
  t.match(await run('sh', ['-c', '(echo "{}"; sleep 0.01) | "$0" "$1" --stdin --port 0', process.execPath, SERVER]), {
    code: 0,
    log: /Standard input has ended/
  }, 'a real pipe')
  t.match(await run('sh', ['-c', ': | "$0" "$1" --stdin --port 0', process.execPath, SERVER]), {
    code: 64,
    log: /ended before its first line/
  })
})

t.test('the end of standard input is an orderly end, whether signals come with it or not', async (t) => {
  const where = place(t)
  const ended = async (end: (service: Sidecar) => void, wanted: object) => {
    const service = await startService(t, { ...where, args: ['--stdin'], stdin: '{}\n{"token":"ignored"}\n' })
    t.equal((await fetch(`${service.url}/memory/brain`)).status, 200, 'what follows the first line is ignored')
    end(service)
    t.match(await service.exited, wanted)
    t.notOk(existsSync(`${where.home}/service.lock`), 'the store was closed')
  }
  await ended(({ child }) => child.stdin!.end(), { code: 0, signal: null })
  await ended(({ child }) => {
    child.stdin!.end()
    child.kill('SIGTERM')
  }, { code: 0, signal: null })
  await ended(({ child }) => {
    child.kill('SIGINT')
    child.stdin!.end()
  }, { code: 0, signal: null })
})

t.test('a start that fails is not held up by standard input, and one whose input has ended prints no ready line', async (t) => {
  const where = place(t)
  const taken = createServer().listen(0, '127.0.0.1')
  t.teardown(() => taken.close())
  await once(taken, 'listening')
  const failed = spawnService({ ...where, args: ['--stdin'], port: String((taken.address() as AddressInfo).port), stdin: '{}\n' })
  t.match(await failed.exited, { code: 98 })
  const late = spawnService({ ...where, args: ['--stdin'], stdin: '{}\n' })
  late.child.stdin!.end()
  t.match(await late.exited, { code: 0 })
  t.equal(late.out(), '')
})
