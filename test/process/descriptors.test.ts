import { chmodSync, readdirSync, readFileSync, readlinkSync, realpathSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { ClassicLevel } from 'classic-level'
import t from 'tap'
import { systemClock as clock } from '../../services/lib/clock.ts'
import { spawnGuarded } from '../../services/process/spawn-guarded.ts'
import { noDisplay, startDisplay } from '../harness/display.ts'
import { misbehaving } from '../harness/mcp.ts'
import { withArgument } from '../services/process/alive.ts'
import { startService } from '../harness/sidecar.ts'

const linux = process.platform === 'linux' ? false : 'needs /proc'

/** Parent, process group and name of every process. */
const processes = () =>
  readdirSync('/proc').map(Number).filter((pid) => pid > 0).flatMap((pid) => {
    try {
      const [, name, parent, group] = /^\d+ \((.*)\) \S (\d+) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'latin1'))!
      return [{ pid, name, parent: Number(parent), group: Number(group) }]
    } catch {
      return []
    }
  })

/** What a process has open; links of a process that ends meanwhile are left out. */
const opened = (pid: number): string[] => {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)]
      } catch {
        return []
      }
    })
  } catch {
    return []
  }
}

t.test('commands, tool servers, the desktop worker and their guards have no file of the store open', { skip: linux }, async (t) => {
  const display = noDisplay === false ? await startDisplay(t) : undefined
  const dir = t.testdir({
    home: { 'config.json': JSON.stringify({ analysis: false, permissions: { runCommand: 'allow' } }) },
    work: {},
    // Runs in the place of the real one, and notes what it got.
    bin: { mkfifo: '#!/bin/sh\nls -l /proc/$$/fd >>"$(dirname "$0")/seen"\nexec /usr/bin/env PATH=/usr/bin:/bin mkfifo "$@"\n' }
  })
  chmodSync(`${dir}/bin/mkfifo`, 0o755)
  const home = realpathSync(`${dir}/home`)
  const service = await startService(t, {
    home,
    cwd: `${dir}/work`,
    env: { PATH: `${dir}/bin:${process.env.PATH}`, ...(display && { DISPLAY: display.name }) }
  })
  const post = (path: string, body: object) =>
    fetch(service.url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  const say = (content: string) => post('/run', { messages: [{ role: 'user', content }] })
  t.ok(opened(service.pid).some((path) => path.startsWith(`${home}/data/`)), 'the service itself has some')

  t.match(await (await post('/mcp/connect', misbehaving('odd'))).json(), { status: 'connected' })
  if (display) t.match(await (await say('take a screenshot')).text(), /"width":800/)
  const marker = `86400.${service.pid}`
  const command = await say(`run \`sleep ${marker} & sleep ${marker}\``)
  const sleeping = () => processes().filter(({ name, pid }) => name === 'sleep' && withArgument(marker).includes(pid))
  while (sleeping().length < 2) await new Promise((resolve) => setTimeout(resolve, 20))

  const children = processes().filter(({ parent }) => parent === service.pid).map(({ pid }) => pid)
  const all = processes().filter(({ group }) => children.includes(group))
  t.equal(children.length, display ? 3 : 2, 'a command, a tool server, the desktop worker')
  t.ok(all.length >= 3 * children.length - 1, 'guards and what the command started are looked at, too')
  // The conversation's own home and /tmp of its commands are mounted by their open folders.
  const ofService = (path: string) => path.startsWith(home) && !path.startsWith(`${home}/boxes/`)
  t.same(all.flatMap(({ pid }) => opened(pid)).filter(ofService), [])
  t.notMatch(readFileSync(`${dir}/bin/seen`, 'utf8'), new RegExp(`${home}/`), 'nor what makes their pipes')
  await command.body!.cancel()
  t.match(await service.stop(), { code: 0 })
})

t.test('nor has a child that is started while files are being compacted', { skip: linux }, async (t) => {
  const dir = realpathSync(t.testdir())
  const level = new ClassicLevel<string, string>(dir, { writeBufferSize: 64 * 1024, maxFileSize: 128 * 1024 })
  await level.open()
  const over = new AbortController()
  const writing = (async () => {
    for (let round = 0; !over.signal.aborted; round++) {
      await level.batch(
        Array.from(
          { length: 200 },
          (_, n) => ({ type: 'put' as const, key: `${n * 7919 % 1000} ${round % 5}`, value: 'x'.repeat(500 + round % 100) })
        )
      )
      if (round % 4 === 0) await level.compactRange('', '~')
    }
  })()
  for (let n = 0; n < 25; n++) {
    const child = await spawnGuarded('/bin/sh', ['-c', 'ls -l /proc/$$/fd'], { cwd: '/', env: process.env, stdin: 'closed', clock })
    const told = await text(child.stdout)
    t.match(told, /\/dev\/null/)
    if (told.includes(dir)) t.fail(`child ${n} got ${told.split('\n').filter((line) => line.includes(dir))}`)
  }
  over.abort()
  await writing
  await level.close()
})

t.test('what children use descriptors for works with those numbers taken', { skip: linux }, async (t) => {
  const dir = t.testdir()
  writeFileSync(`${dir}/child.mjs`, "import { execSync } from 'node:child_process'; process.stdout.write(execSync('echo of node'))")
  const line = `cat <(echo substituted) <<<x; exec 7>seven; echo seven >&7; exec 7>&-; cat seven; cat <<EOF
here
EOF
exec {fd}<seven; cat <&$fd; sh -c 'exec 3>&1; echo three >&3'; '${process.execPath}' child.mjs`
  const child = await spawnGuarded('bash', ['-c', line], { cwd: dir, env: process.env, stdin: 'closed', clock })
  t.same((await text(child.stdout)).split('\n'), ['substituted', 'seven', 'here', 'seven', 'three', 'of node', ''])
})
