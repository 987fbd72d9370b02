import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { createAgent, createTask, listRuns, startTask, type RunOptions } from '../../client/index.ts'
import { createSupervisor, type SupervisorEvent } from '../../supervisor/index.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { calls, OPTIONS } from '../harness/app-tools.ts'
import { atEnd } from '../harness/at-end.ts'
import { serviceEnv } from '../harness/sidecar.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const CONFIG = { model: 'test/model', analysis: false, threads: { titles: false } }

/** A model that calls the application's tool, and then says that it is done. */
async function startModel (t: Test) {
  const gateway = await startFakeGateway({
    reply ({ body: { prompt }, structured }) {
      if (structured !== undefined) return undefined
      return prompt.some(({ role }: { role: string }) => role === 'tool') ? { text: 'Done.' } : calls('openDocument')
    }
  })
  atEnd(t, () => gateway.close())
  return gateway.url
}

/**
 * An application with one supervisor, one agent, one reader of events and served tools lives through `crashes` of the service, which
 * was started with `--port 0`: each time while it executes a call of a task. In the last crash another program takes the port.
 */
export async function livesThroughCrashes (t: Test, crashes: number) {
  const model = await startModel(t)
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(CONFIG) }, work: {} })
  const told: SupervisorEvent[] = []
  let thief: Server | undefined
  let executed = 0
  const supervisor = createSupervisor({
    command: process.execPath,
    args: [SERVER, '--port', '0'],
    cwd: `${dir}/work`,
    env: { ...serviceEnv(`${dir}/home`), AI_GATEWAY_API_KEY: 'key', AI_GATEWAY_BASE_URL: model },
    secrets: { token: 'a-token' },
    limits: { backoffMs: 10, healthyMs: 0 },
    onLog: () => {},
    onEvent (event) {
      told.push(event)
      if (event.event !== 'exit' || executed !== crashes || thief !== undefined) return
      thief = createServer().listen(ports.at(-1), '127.0.0.1')
    }
  })
  atEnd(t, () => supervisor.stop())
  atEnd(t, () => thief?.close())
  const ports: number[] = [(await supervisor.start()).port]
  const over = new AbortController()
  const agent = createAgent({ url: async () => (await supervisor.start()).url, token: 'a-token', app: 'editor' })
  const { client } = agent

  const completed = new Map<string, PromiseWithResolvers<void>>()
  const readers: string[] = []
  async function readLists () {
    const { data } = await listRuns({ client, query: { limit: 500 }, throwOnError: true })
    for (const { taskId, status } of data.runs) if (status === 'completed') completed.get(taskId!)?.resolve()
  }
  async function listen () {
    for await (const event of agent.events({ signal: over.signal })) {
      readers.push(event.type)
      // What a restart has forgotten is in the lists.
      if (event.type === 'reset') await readLists()
      if (event.type === 'task:complete') completed.get(event.taskId)?.resolve()
    }
  }
  const serving = agent.serveTools({
    signal: over.signal,
    tools: {
      async openDocument ({ name }: { name: string }) {
        executed++
        const { pid } = supervisor.ready!
        process.kill(pid, 'SIGKILL')
        return { name, pages: executed }
      }
    }
  })
  const listening = listen()
  listening.catch(() => {})
  serving.catch(() => {})

  const ended = supervisor.ended.then((exit) => {
    throw new Error(`the service is started no more: ${JSON.stringify(exit)}`)
  })
  ended.catch(() => {})

  const plan = { phases: [{ description: 'open it' }] }
  for (let n = 0; n < crashes; n++) {
    const body = { goal: 'open the budget', plan, approval: { mode: 'never' as const }, options: OPTIONS as RunOptions }
    const { data: { id } } = await createTask({ client, body, throwOnError: true })
    const done = Promise.withResolvers<void>()
    completed.set(id, done)
    await startTask({ client, path: { id }, throwOnError: true })
    await Promise.race([done.promise, listening, serving, ended])
    ports.push((await supervisor.start()).port)
  }
  t.equal(executed, crashes, 'each call was executed once, and its result arrived after the crash')
  t.equal(told.filter((event) => event.event === 'exit' && event.signal === 'SIGKILL').length, crashes)
  t.same(new Set(ports.slice(0, -1)), new Set([ports[0]]), 'the port stays')
  t.not(ports.at(-1), ports[0], 'and another one is followed, when it was taken')
  t.ok(readers.includes('reset'), 'the reader of events was told when something may be missing')
  over.abort()
  await Promise.all([listening, serving])
  if (thief?.listening) await once(thief.close(), 'close')
}
