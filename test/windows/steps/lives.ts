import { AssertionError, deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { until } from '../../harness/exercise.ts'
import { ROOT } from '../../harness/source-tree.ts'
import {
  ALLOWED, ask, boot, call, configure, HOME, home, isHealthy, node, nodeFile, read, server, tell, up, url, WORK, work, type Step
} from '../app.ts'
import { TEST } from '../wine.ts'

const KILLS = 30
const execute = promisify(execFile)

async function allGoals (): Promise<Set<string>> {
  const goals = new Set<string>()
  for (let cursor = ''; ;) {
    const page = await ask(`/tasks?limit=100${cursor}`)
    for (const { goal } of page.tasks) goals.add(goal)
    if (page.nextCursor === undefined) return goals
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
  }
}

export const lives: Step[] = [
  ['everything is erased, and the service goes on', async () => {
    await ask('/data', { confirm: 'erase everything' }, 'DELETE')
    while (!await isHealthy()) await wait(50)
    strictEqual((await ask('/threads')).threads.length, 0)
    await call('writeFile', { path: 'after.txt', content: 'after' })
    strictEqual(read('after.txt'), 'after')
    await configure(ALLOWED)
  }],

  ['a backup is made and put back, and the key is changed', async () => {
    const headers = { 'x-export-passphrase': 'a long passphrase', 'content-type': 'application/octet-stream' }
    const body = await (await fetch(`${url}/export`, { headers })).arrayBuffer()
    const imported = await fetch(`${url}/import`, { method: 'POST', headers, body })
    strictEqual(imported.status, 200, await imported.text())
    while (!await isHealthy()) await wait(50)
    await tell('stop')
    const line = `set LOCAL_AGENT_HOME=${HOME}&& ${node} ${server} rotate-key`
    match((await tell('run', { command: 'C:\\windows\\system32\\cmd.exe', args: ['/d', '/c', line] })).stderr, /encrypted with the new key/)
    await up()
    ok((await ask('/threads')).threads.length > 0)
  }],

  ['a second service is refused as long as the first one runs', async () => {
    const { code, log } = await boot()
    strictEqual(code, 73, log)
    match(log, /in use by process/)
  }],

  [`${KILLS} kills, while much is written, lose nothing that was acknowledged`, async () => {
    const threads: string[] = []
    const tasks: string[] = []
    for (let lives = 0; lives < KILLS; lives++) {
      const done: number[] = []
      const facts: string[] = []
      const answered = async (what: Promise<Response>) => {
        const { ok: isTaken, status } = await what
        ok(isTaken, `status ${status}`)
        done.push(status)
      }
      const dead = new AbortController()
      const { signal } = dead
      const send = (path: string, method: string, body: object) =>
        fetch(url + path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body), signal })
      /** Writes again and again until the service is gone. */
      const go = async (write: (n: number) => Promise<unknown>) => {
        for (let n = 0; ; n++) {
          try {
            await write(n)
          } catch (error) {
            if (error instanceof AssertionError) throw error
            return
          }
        }
      }
      const writers = [
        go(async (n) => {
          await answered(send(`/threads/t${lives}-${n}`, 'PUT', { messages: [{ role: 'user', content: `message ${lives}-${n}` }] }))
          threads.push(`${lives}-${n}`)
        }),
        go(async (n) => {
          const body = { messages: [{ role: 'user', content: `message ${lives}-run${n}` }], context: { cwd: WORK } }
          await answered(send('/run/sync', 'POST', { id: `t${lives}-run${n}`, ...body }))
          threads.push(`${lives}-run${n}`)
        }),
        go(async (n) => {
          const fact = `Fact ${lives}-${n}`
          if (n === 0) await send('/memory/brain', 'DELETE', {}).catch(() => {})
          await answered(send('/memory/brain/fact', 'POST', { fact }))
          facts.push(fact)
          await wait(20)
        }),
        go(async (n) => {
          await answered(send('/tasks', 'POST', { goal: `goal ${lives}-${n}`, cwd: WORK }))
          tasks.push(`goal ${lives}-${n}`)
          await wait(50)
        })
      ]
      // At another moment each time, in the middle of what is written.
      while (done.length <= lives) await wait(1)
      await tell('kill')
      // Wine keeps a connection open that was accepted and not read.
      dead.abort()
      await Promise.all(writers)
      await up()
      const brain = JSON.stringify(await ask('/memory/brain'))
      for (const fact of facts) ok(brain.includes(fact), `${fact} is lost`)
    }
    for (const id of threads) match(JSON.stringify(await ask(`/threads/t${id}`)), new RegExp(`message ${id}"`))
    const goals = await allGoals()
    for (const goal of tasks) ok(goals.has(goal), `${goal} is lost`)
    ok(threads.length >= KILLS && tasks.length > 0)
  }],

  ['a lock whose process id another program has is taken over, and the end of an app ends the service in order', async () => {
    await tell('kill')
    const { pid } = await tell('pid')
    writeFileSync(join(home, 'service.lock'), JSON.stringify({ pid, started: 1 }))
    await up()
    const { code, log } = await tell('stop')
    strictEqual(code, 0, log)
    ok(!existsSync(join(home, 'service.lock')))
    await up()
  }],

  ['an end in order ends commands in the background, with what they started', async () => {
    await configure(ALLOWED)
    writeFileSync(join(work, 'beats.cjs'), 'setInterval(() => require("fs").appendFileSync("beats.txt", "x"), 50)')
    const start = 'require("child_process").spawn(process.execPath, ["beats.cjs"])'
    writeFileSync(join(work, 'starts.cjs'), `${start}; setInterval(() => {}, 1000)`)
    await call('runCommand', { command: `"${node}" starts.cjs`, background: true })
    await until(() => existsSync(join(work, 'beats.txt')))
    strictEqual((await tell('stop')).code, 0)
    const { length } = read('beats.txt')
    await wait(500)
    strictEqual(read('beats.txt').length, length)
  }],

  ['the service ends when the program is killed that started it, and the next start takes its place', async () => {
    await tell('stop')
    const script = `const child = require('node:child_process').spawn(process.execPath, [process.argv[2], '--port', '0', '--stdin'])
      child.stdin.write('{}\\n')
      child.stdout.pipe(process.stdout)`
    writeFileSync(join(TEST, 'parent.cjs'), script)
    await tell('open', { command: node, args: ['C:\\test\\parent.cjs', server], env: { LOCAL_AGENT_HOME: HOME } })
    const { lines: [line] } = await tell('hear')
    const ready = JSON.parse(line)
    await tell('shut', { isKilled: true })
    // Node has its children killed with it there, by a job of Windows.
    for (let n = 0; (await tell('alive', { pids: [ready.pid] })).alive.length > 0; n++) {
      ok(n < 100, 'it goes on')
      await wait(50)
    }
    await up()
    strictEqual((await tell('stop')).code, 0)
  }],

  ['the supervisor starts the service, restarts it after a crash on its port, and ends it', async () => {
    writeFileSync(join(TEST, 'app/supervise.mjs'), `import { createSupervisor } from 'local-agent-service/supervisor'
      import { createInterface } from 'node:readline'
      const say = (event) => console.log(JSON.stringify(event))
      const supervisor = createSupervisor({ onEvent: say, onLog: () => {}, limits: { backoffMs: 100 } })
      const lines = createInterface({ input: process.stdin })
      lines.on('line', (pid) => process.kill(Number(pid), 'SIGKILL')).on('close', () => supervisor.stop())
      await supervisor.start()
      say({ event: 'ended', ...await supervisor.ended })`)
    await tell('open', { command: node, args: ['C:\\test\\app\\supervise.mjs'], env: { LOCAL_AGENT_HOME: HOME } })
    const heard: any[] = []
    const next = async (event: string) => {
      for (let n = 0; ; n++) {
        const at = heard.findIndex((each) => each.event === event)
        if (at !== -1) return heard.splice(0, at + 1).at(-1)
        const { lines, code } = await tell('hear')
        ok(code === null && n < 20, JSON.stringify(heard))
        heard.push(...lines.map((line: string) => JSON.parse(line)))
      }
    }
    const first = await next('ready')
    await tell('say', { line: String(first.pid) })
    const second = await next('ready')
    strictEqual(second.url, first.url)
    ok(second.pid !== first.pid)
    strictEqual((await fetch(`${second.url}/health`)).status, 200)
    const { lines, code } = await tell('shut')
    match(lines.join('\n'), /"event":"ended"/)
    deepStrictEqual([code, existsSync(join(home, 'service.lock'))], [0, false])
  }],

  ['the sidecar archive for Windows, made on Linux, starts and works without a Node beside it', async () => {
    await tell('stop')
    const out = join(TEST, 'sidecar')
    const made = [join(ROOT, 'scripts/sidecar.ts'), '--for', 'win32-x64', '--node', nodeFile, '--out', out]
    // Not in the way of the connection to the driver, which is kept for some seconds.
    await execute(process.execPath, made)
    const place = join(TEST, 'Program Files (x86) & more')
    mkdirSync(place)
    await execute('tar', ['-xzf', join(out, readdirSync(out).find((name) => name.endsWith('.gz'))!), '-C', place])
    const [folder] = readdirSync(place)
    const executable = `C:\\test\\Program Files (x86) & more\\${folder}\\local-agent.exe`
    match((await tell('run', { command: executable, args: ['--version'] })).stdout, /^0\.1\.0/)
    await up({ command: executable, args: [] })
    match((await call('runCommand', { command: 'cd' })).text, /C:\\\\test\\\\work/)
    match(await ask('/console'), /<script/)
    // A damaged database is repaired in a child, which is this executable again.
    strictEqual((await tell('stop')).code, 0)
    rmSync(join(home, 'data/CURRENT'))
    await up({ command: executable, args: [] })
    ok(readdirSync(home).some((name) => name.startsWith('data.damaged-')))
    strictEqual((await tell('stop')).code, 0)
  }]
]
