import { once } from 'node:events'
import { request } from 'node:http'
import type { Test } from 'tap'
import { follow } from '../harness/reader.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { tasksOf } from '../harness/tasks.ts'
import { memoryOf, openFiles, openRaw } from './load.ts'

const MiB = 1024 * 1024
/** What a step of the talkative task reads, and how often: each reading is an event of 64 KiB. */
const READS = 50

const SCRIPT = [{ toolCalls: Array.from({ length: READS }, () => ({ toolName: 'readFile', input: { path: 'long.txt' } })) }, {
  text: 'done'
}]

async function start (t: Test) {
  const dir = t.testdir({
    home: { 'config.json': JSON.stringify({ model: 'offline/scripted', offline: { script: SCRIPT } }) },
    work: { 'long.txt': 'x'.repeat(100 * 1024) }
  })
  return startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
}

/** A listener on a connection of its own. */
async function listenTo (t: Test, { url }: Sidecar, headers = {}) {
  const sent = request(`${url}/tasks/events`, { agent: false, headers })
  sent.end()
  t.teardown(() => sent.destroy())
  const { ended, says, said } = await follow(sent)
  /** What it heard, without comments. */
  const heard = () => said().split('\n\n').filter((block) => block !== '' && !block.startsWith(':'))
  return { ended, says, heard }
}

/** Many listen while comments come: everybody hears all of them, in order, and the end. Returns the memory it took, MiB. */
export async function everybodyHears (t: Test, { listeners: many, comments }: { listeners: number, comments: number }) {
  const service = await start(t)
  const tasks = await tasksOf(t, service)
  const { id } = await tasks.create('go', { taskType: 'triggered' })
  await tasks.post(`/${id}/steer`, { comment: 'before anybody listens' })
  const before = memoryOf(service.pid)
  const listeners = await Promise.all(Array.from({ length: many }, (_, n) => listenTo(t, service, n === 0 ? { 'last-event-id': '1' } : {})))
  let slowest = 0
  for (let n = 0; n < comments; n++) {
    await tasks.post(`/${id}/steer`, { comment: `comment ${n}` })
    const asked = performance.now()
    t.equal((await fetch(`${service.url}/health`)).status, 200)
    slowest = Math.max(slowest, performance.now() - asked)
  }
  const wanted = Array.from(
    { length: comments },
    (_, n) => `event: task:steer\ndata: ${JSON.stringify({ type: 'task:steer', taskId: id, comment: `comment ${n}` })}`
  )
  await Promise.all(listeners.map(({ says }) => says(wanted.at(-1)!)))
  const wrong = listeners.filter(({ heard }) => JSON.stringify(heard()) !== JSON.stringify(wanted))
  t.equal(wrong.length, 0, 'everybody hears what came since they listen, in order')
  const grown = (memoryOf(service.pid) - before) / MiB
  t.comment(`${many} listeners, ${comments} comments: ${grown.toFixed(0)} MiB more, /health within ${slowest.toFixed(0)} ms`)

  t.match(await service.stop(), { code: 0 })
  t.notMatch(service.log(), /did not close/, 'in time, without being ended')
  t.same(new Set(await Promise.all(listeners.map(({ ended }) => ended))), new Set(['whole']), 'every stream ends with the service')
  t.match(listeners[0].heard().at(-1), /^event: service:shutdown\n/)
  return grown
}

/** Some never read while much is told: they are dropped, and cost the others nothing. Returns the memory it took, MiB. */
export async function silentAreDropped (t: Test, { reading, silent }: { reading: number, silent: number }) {
  const service = await start(t)
  const tasks = await tasksOf(t, service)
  const { id } = await tasks.create('go', { taskType: 'triggered' })
  const watched = await tasks.watch()
  let runNumber = 0
  const run = async () => {
    await tasks.post(`/${id}/run`)
    await watched.until('task:complete', { runNumber: ++runNumber })
  }
  await run()
  const before = { memory: memoryOf(service.pid), files: openFiles(service.pid) }
  const idle = await Promise.all(Array.from({ length: silent }, () => openRaw(t, service, '/tasks/events')))
  const listeners = await Promise.all(Array.from({ length: reading }, () => listenTo(t, service)))
  // How much is on the way before anybody can tell that they do not read is the machine's choice.
  for (let more = 0; more < 20 && openFiles(service.pid) > before.files + reading + silent / 2; more++) {
    await run()
    t.equal((await fetch(`${service.url}/health`)).status, 200)
  }
  await Promise.all(listeners.map(({ says }) => says(`"runNumber":${runNumber},"status":"completed"`)))
  const grown = (memoryOf(service.pid) - before.memory) / MiB
  for (const { heard } of listeners) {
    t.equal(heard().filter((block) => block.startsWith('event: task:tool\n')).length, READS * (runNumber - 1), 'who reads hears all')
  }

  // Who was not dropped yet reads from now on, until the service ends.
  const ends = idle.map(async (socket) => {
    let bytes = 0
    socket.on('data', (chunk) => {
      bytes += chunk.length
    })
    await once(socket, 'close')
    return bytes
  })
  t.match(await service.stop(), { code: 0 })
  const heard = await Promise.all(ends)
  const dropped = heard.filter((bytes) => bytes < (runNumber - 1) * READS * 64 * 1024)
  t.ok(dropped.length >= silent / 2, 'who does not was dropped')
  t.comment(
    `${dropped.length} silent of ${silent + reading}: dropped after ${(Math.max(...dropped) / MiB).toFixed(1)} MiB, ` +
    `${grown.toFixed(0)} MiB more`
  )
  return grown
}
