import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Test } from 'tap'
import { atEnd } from '../harness/at-end.ts'
import { alive } from '../services/process/alive.ts'
import { fileURLToPath } from 'node:url'
import { startService } from '../harness/sidecar.ts'
import { BURST, flood, made } from './flood.ts'
import { openTerminal } from './terminal.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const WITHIN_MS = 5_000

export type Place = ReturnType<typeof place>

export function place (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work`, mark: `${dir}/mark` }
}

/** The service whose log goes to that descriptor, or to a socket that is not read; `end` is `floodAndEnd`. */
export async function startOn (t: Test, stderr?: number, where = place(t)) {
  const service = await startService(t, { ...where, stderr, preload: [flood(where.mark)] })
  service.child.stderr?.pause()
  const exited = once(service.child, 'exit').then(([code]) => code)
  return { service, where, end: () => floodAndEnd(t, { ...service, where, exited }) }
}

/** Has the service log more than its sink takes: it answers and ends all the same. */
export async function floodAndEnd (
  t: Test,
  { url, pid, where, exited }: { url: string, pid: number, where: Place, exited: Promise<unknown> }
) {
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
export async function startAgain (t: Test, url: string, where: Place) {
  const again = await startService(t, { ...where, port: new URL(url).port })
  t.match(await again.stop(), { code: 0 }, 'lock and port are free')
}

/** A pipe: the end that is read, and the one that is written to. */
export function openPipe (dir: string) {
  execFileSync('mkfifo', [`${dir}/pipe`])
  const reader = openSync(`${dir}/pipe`, constants.O_RDONLY | constants.O_NONBLOCK)
  return { reader, writer: openSync(`${dir}/pipe`, constants.O_WRONLY) }
}

/** Has the service log more than a pipe or a socket takes before that is read. */
export async function readLate (t: Test, kind: 'pipe' | 'socket') {
  const where = place(t)
  const pipe = kind === 'pipe' ? openPipe(where.cwd) : undefined
  const service = await startService(t, { ...where, stderr: pipe?.writer, preload: [flood(where.mark, { lasting: false })] })
  if (pipe) closeSync(pipe.writer)
  service.child.stderr?.pause()
  service.child.kill('SIGWINCH')
  await made(where.mark)
  t.equal((await fetch(`${service.url}/health`)).status, 200)

  const input = pipe ? new Socket({ fd: pipe.reader, writable: false }) : service.child.stderr!
  let log = ''
  input.setEncoding('utf8').on('data', (text) => {
    log += text
  }).resume()
  while (!/"lost":\d+.*\n/.test(log)) await once(input, 'data')
  countedWhole(t, log)

  service.child.kill('SIGHUP')
  while (!/config\.json was reloaded/.test(log)) await once(input, 'data')
  service.child.kill('SIGTERM')
  t.same(await once(service.child, 'exit'), [0, null])
  input.destroy()
}

/** The log has the first lines of a burst, none missing between, and then how many of it are lost. */
export function countedWhole (t: Test, log: string) {
  const lines = log.trim().split('\n').map((line) => JSON.parse(line)).filter(({ n, lost }) => n ?? lost)
  const { lost } = lines.pop()
  t.same(lines.map(({ n }) => n), lines.map((_, at) => at + 1), 'none before is missing')
  t.equal(lines.length + lost, BURST)
}

/**
 * The service as a job of a shell on a terminal; undefined where there is no such thing. The shell tells it of a hang-up, as
 * interactive ones do, unless it is `detached`, and writes down its exit code.
 */
export async function startOnTerminal (t: Test, { detached = false } = {}) {
  const where = place(t)
  const command = `${detached ? 'setsid' : ''} '${process.execPath}' --import '${flood(where.mark)}' '${SERVER}' --port 0`
  const terminal = await openTerminal(
    t,
    `cd '${where.cwd}'; ${command} & pid=$!; trap '${detached ? ':' : 'kill -HUP $pid'}' HUP
    while kill -0 $pid 2>/dev/null; do wait $pid; code=$?; done; echo $code > code; mv code ended`,
    { LOCAL_AGENT_HOME: where.home }
  )
  if (!terminal) {
    t.pass('not tried', { skip: 'there is no script of util-linux here' })
    return undefined
  }
  const { url, pid } = JSON.parse((await terminal.shows(/{"event":"ready".*}/))[0]) as { url: string, pid: number }
  atEnd(t, () => {
    if (alive(pid)) process.kill(pid, 'SIGKILL')
  })
  const exited = made(`${where.cwd}/ended`).then(() => Number(readFileSync(`${where.cwd}/ended`, 'utf8')))
  return { where, terminal, url, pid, exited }
}
