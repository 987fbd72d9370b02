import { execFile } from 'node:child_process'
import { constants, openSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { allGone } from '../services/process/alive.ts'
import { spawnService, startService } from '../harness/sidecar.ts'
import { floodAndEnd, openPipe, place, readLate, startAgain, startOn, startOnTerminal } from './sinks.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const { O_NOCTTY, O_RDWR, O_WRONLY } = constants

t.test('a full disk', async (t) => {
  await (await startOn(t, openSync('/dev/full', O_WRONLY))).end()
})

t.test('a pipe that nobody reads', async (t) => {
  const where = place(t)
  const { service, end } = await startOn(t, openPipe(where.cwd).writer, where)
  await end()
  await startAgain(t, service.url, where)
})

t.test('a socket that nobody reads', async (t) => {
  await (await startOn(t)).end()
})

t.test('a file whose writes never end', async (t) => {
  // What is written to a terminal's other side waits for a program that would read it.
  const { end, service, where } = await startOn(t, openSync('/dev/ptmx', O_RDWR | O_NOCTTY))
  await end()
  await allGone([service.pid], 0)
  t.equal(readFileSync(`${where.mark}.exit`, 'utf8'), '0')
})

t.test('a pipe that is read late gets the lines kept, and how many are lost', (t) => readLate(t, 'pipe'))

t.test('a start that fails has its exit code, though nobody is told why', async (t) => {
  t.match(await spawnService({ ...place(t), args: ['--nonsense'], stderr: openSync('/dev/full', O_WRONLY) }).exited, { code: 64 })
})

t.test('the key is changed, though nobody is told', async (t) => {
  const where = place(t)
  await (await startService(t, where)).stop()
  await t.resolves(
    promisify(execFile)('/bin/sh', ['-c', `exec '${process.execPath}' '${SERVER}' rotate-key 2>/dev/full`], {
      env: { PATH: process.env.PATH, LOCAL_AGENT_HOME: where.home }
    })
  )
  await startService(t, where)
})

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
