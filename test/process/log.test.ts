import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { allGone } from '../services/process/alive.ts'
import { spawnService, startService } from '../sidecar.ts'
import { BURST, flood, made } from './flood.ts'
import { openTerminal } from './terminal.ts'

const SERVER = new URL('../../dist/server.js', import.meta.url).pathname
const WITHIN_MS = 5_000
const { O_NOCTTY, O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants

function place (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work`, mark: `${dir}/mark` }
}

/** The service on a sink; `end` floods it, and asks whether it answers and ends all the same. */
async function startOn (t: Test, stderr: number | undefined, where = place(t)) {
  const service = await startService(t, { ...where, stderr, preload: [flood(where.mark)] })
  return { service, where, end: () => floodAndEnd(t, { ...service, where, exited: once(service.child, 'exit').then(([code]) => code) }) }
}

async function floodAndEnd (t: Test, { url, pid, where, exited }: { url: string, pid: number, where: ReturnType<typeof place>, exited: Promise<unknown> }) {
  process.kill(pid, 'SIGWINCH')
  await made(where.mark)
  t.equal((await fetch(`${url}/health`)).status, 200, 'it answers')
  const begun = performance.now()
  process.kill(pid, 'SIGTERM')
  t.equal(await exited, 0)
  const ms = performance.now() - begun
  t.ok(ms < WITHIN_MS, `it ends in time: ${ms} ms`)
}

/** Starts it again at the same place. */
async function startAgain (t: Test, url: string, where: ReturnType<typeof place>) {
  const again = await startService(t, { ...where, port: new URL(url).port })
  t.match(await again.stop(), { code: 0 }, 'lock and port are free')
}

/** A pipe with a reader and its descriptor to write to. */
function openPipe (dir: string) {
  execFileSync('mkfifo', [`${dir}/pipe`])
  const reader = openSync(`${dir}/pipe`, O_RDONLY | O_NONBLOCK)
  return { reader, writer: openSync(`${dir}/pipe`, O_WRONLY) }
}

t.test('a full disk', async (t) => {
  await (await startOn(t, openSync('/dev/full', O_WRONLY))).end()
})

t.test('a descriptor that cannot be written', async (t) => {
  await (await startOn(t, openSync('/dev/null', O_RDONLY))).end()
})

t.test('a pipe that nobody reads', async (t) => {
  const where = place(t)
  const { service, end } = await startOn(t, openPipe(where.cwd).writer, where)
  await end()
  await startAgain(t, service.url, where)
})

t.test('a socket that nobody reads', async (t) => {
  const { service, end } = await startOn(t, undefined)
  service.child.stderr!.pause()
  await end()
})

t.test('a pipe that is closed', async (t) => {
  const where = place(t)
  const { reader, writer } = openPipe(where.cwd)
  const { end } = await startOn(t, writer, where)
  closeSync(reader)
  await end()
})

t.test('a file whose writes never end', async (t) => {
  // What is written to a terminal's other side waits for a program that would read it.
  const { end, service, where } = await startOn(t, openSync('/dev/ptmx', O_RDWR | O_NOCTTY))
  await end()
  await allGone([service.pid], 0)
  t.equal(readFileSync(`${where.mark}.exit`, 'utf8'), '0')
})

for (const [what, open] of [['pipe', (dir: string) => openPipe(dir)], ['socket', () => undefined]] as const) {
  t.test(`a ${what} that is read late gets the lines kept, and how many are lost`, async (t) => {
    const where = place(t)
    const pipe = open(where.cwd)
    const service = await startService(t, { ...where, stderr: pipe?.writer, preload: [flood(where.mark, { lasting: false })] })
    if (pipe) closeSync(pipe.writer)
    service.child.stderr?.pause()
    service.child.kill('SIGWINCH')
    await made(where.mark)
    t.equal((await fetch(`${service.url}/health`)).status, 200)

    const input = pipe ? new Socket({ fd: pipe.reader, writable: false }) : service.child.stderr!
    let log = ''
    input.setEncoding('utf8').on('data', (text) => { log += text }).resume()
    while (!/"lost":\d+.*\n/.test(log)) await once(input, 'data')
    const lines = log.trim().split('\n').map((line) => JSON.parse(line)).filter(({ n, lost }) => n ?? lost)
    const { lost } = lines.pop()
    t.same(lines.map(({ n }) => n), lines.map((_, at) => at + 1), 'none before is missing')
    t.ok(lost > 0)
    t.equal(lines.length + lost, BURST)

    service.child.kill('SIGHUP')
    while (!/config\.json was reloaded/.test(log)) await once(input, 'data')
    service.child.kill('SIGTERM')
    t.same(await once(service.child, 'exit'), [0, null])
    input.destroy()
  })
}

t.test('a failed start has its exit code and its sentence', async (t) => {
  const where = place(t)
  t.match(await spawnService({ ...where, args: ['--nonsense'] }).exited, { code: 64 })
  t.match(await spawnService({ ...where, args: ['--nonsense'], stderr: openSync('/dev/full', O_WRONLY) }).exited, { code: 64 })
})

t.test('the key is changed, and its end comes, though nobody is told', async (t) => {
  const where = place(t)
  await (await startService(t, where)).stop()
  const env = { PATH: process.env.PATH, LOCAL_AGENT_HOME: where.home }
  await promisify(execFile)('/bin/sh', ['-c', `exec "${process.execPath}" "${SERVER}" rotate-key 2>/dev/full`], { env })
  await startService(t, where)
})

/**
 * The service as a job of a shell on a terminal; undefined where there is no such thing. The shell tells it of a hang-up, as
 * interactive ones do, unless it is `detached`, and writes down its exit code.
 */
async function startOnTerminal (t: Test, { detached = false } = {}) {
  const where = place(t)
  const command = `${detached ? 'setsid' : ''} '${process.execPath}' --import '${flood(where.mark)}' '${SERVER}' --port 0`
  const terminal = await openTerminal(t, `cd '${where.cwd}'; ${command} & pid=$!; trap '${detached ? ':' : 'kill -HUP $pid'}' HUP
    while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done; echo $code > code; mv code ended`, { LOCAL_AGENT_HOME: where.home })
  if (!terminal) {
    t.pass('not tried', { skip: 'there is no script of util-linux here' })
    return undefined
  }
  const { url, pid } = JSON.parse((await terminal.shows(/{"event":"ready".*}/))[0]) as { url: string, pid: number }
  const exited = made(`${where.cwd}/ended`).then(() => Number(readFileSync(`${where.cwd}/ended`, 'utf8')))
  return { where, terminal, url, pid, exited }
}

t.test('a terminal that is stopped', async (t) => {
  const service = await startOnTerminal(t)
  if (!service) return
  service.terminal.stop()
  await floodAndEnd(t, service)
})

t.test('a terminal that is closed', async (t) => {
  const service = await startOnTerminal(t, { detached: true })
  if (!service) return
  await service.terminal.hangUp()
  await floodAndEnd(t, service)
})

t.test('the hang-up of its terminal ends it, and another SIGHUP does not', async (t) => {
  const service = await startOnTerminal(t)
  if (!service) return
  const { where, terminal, url, pid, exited } = service
  process.kill(pid, 'SIGHUP')
  await terminal.shows(/config\.json was reloaded/)
  t.equal((await fetch(`${url}/health`)).status, 200)

  await terminal.hangUp()
  t.equal(await exited, 0)
  await startAgain(t, url, where)
})
