import { readFileSync } from 'node:fs'
import type { Test } from 'tap'
import {
  createAgent, createTask, addGrant, getRun, getThread, getUsage, listApprovals, listToolCalls, runTask, startTask, undoRun,
  type Agent, type ServiceEvent
} from '../../client/index.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { effects } from '../harness/effects.ts'
import { startService } from '../harness/sidecar.ts'

const TOKEN = 'a-token-of-the-shell'
const USAGE = { usage: { inputTokens: 100, outputTokens: 10, cost: '0.01' } }
const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }], ...USAGE })
const say = (text: string | string[], rest: Plan = {}): Plan => ({ text, ...USAGE, ...rest })

const SLOW = Array.from({ length: 60 }, (_, n) => `word${n} `)

/** What the model answers, by a word of the request: at its first call and after a result. */
const ANSWERS: Record<string, Plan[]> = {
  inbox: [call('writeFile', { path: 'inbox.txt', content: 'new' }), say('Written.')],
  orders: [call('findOrders', { state: 'open' }), say('A-1 is open.')],
  json: [call('answer', { city: 'Oslo' })],
  other: [say('I am the other.')],
  undo: [call('editFile', { path: 'kept.txt', edits: [{ oldText: 'as it was', newText: 'changed' }] }), say('Changed.')],
  nightly: [call('runCommand', { command: 'printf x >> effects.log' }), say('It ran.')],
  slow: [say(SLOW, { partMs: 50 })]
}

function answer ({ body, structured }: GatewayRequest): Plan | undefined {
  if (structured !== undefined) return undefined
  const asked = body.prompt.findLastIndex(({ role, content }: any) => role === 'user' && keyOf(content) !== undefined)
  const plans = ANSWERS[keyOf(body.prompt[asked].content)!]
  return plans[Math.min(body.prompt.slice(asked).filter(({ role }: any) => role === 'tool').length, plans.length - 1)]
}
const keyOf = (content: unknown) => Object.keys(ANSWERS).find((key) => JSON.stringify(content).includes(`case ${key}`))

/** A service with a token that is killed and started again at its address, and the agent of an application that calls it. */
export async function openDay (t: Test) {
  const gateway = await startFakeGateway({ reply: answer })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: { 'kept.txt': 'as it was' } })
  const where = {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    env: { LOCAL_AGENT_TOKEN: TOKEN, AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }
  }
  let service = await startService(t, where)
  const { url } = service
  const agent = createAgent({ url, token: TOKEN, app: 'order-desk' })
  return {
    agent,
    gateway,
    cwd: where.cwd,
    async kill () {
      await service.stop('SIGKILL')
      service = await startService(t, { ...where, port: new URL(url).port })
    },
    end: () => service.stop()
  }
}
export type Day = Awaited<ReturnType<typeof openDay>>

/** Follows all events over every kill. `until` resolves once there was such an event. */
export function followDay (agent: Agent) {
  const controller = new AbortController()
  const seen: ServiceEvent[] = []
  let moved = Promise.withResolvers<void>()
  const reading = (async () => {
    for await (const event of agent.events({ signal: controller.signal })) {
      seen.push(event)
      moved.resolve()
      moved = Promise.withResolvers()
    }
  })()
  return {
    seen,
    async until (fits: (event: ServiceEvent) => boolean): Promise<void> {
      while (!seen.some(fits)) await moved.promise
    },
    /** Resolves after so many restarts of the service. */
    async resets (count: number): Promise<void> {
      while (seen.filter(({ type }) => type === 'reset').length < count) await moved.promise
    },
    async end () {
      controller.abort()
      await reading
    }
  }
}

/** What an application's developer does, one thing after the other. Between any two of them the service is killed. */
export function thingsOfADay (
  t: Test,
  { agent, gateway, cwd }: Day,
  events: ReturnType<typeof followDay>
): Array<[string, () => Promise<void>]> {
  const options = { client: agent.client, throwOnError: true } as const
  const tools = {
    findOrders: {
      description: 'Finds orders',
      inputSchema: { type: 'object' },
      effect: 'read' as const,
      execute: () => ({ orders: ['A-1'] })
    }
  }
  let runId = ''
  let taskId = ''
  let cost = 0
  return [
    ['asks for a file, and leaves the approval open', async () => {
      t.match(await agent.run({ prompt: 'case inbox', id: 'inbox' }).result(), { pending: [{ kind: 'tool' }] })
    }],
    ['finds it in the inbox and approves it there', async () => {
      const { approvals: [{ approvalId, threadId }] } = (await listApprovals(options)).data
      t.equal(threadId, 'inbox')
      t.match(await agent.decide(approvalId, true), { continued: true })
      await events.until((event) => event.type === 'run:end' && event.threadId === 'inbox' && event.status === 'completed')
      t.equal(readFileSync(`${cwd}/inbox.txt`, 'utf8'), 'new')
    }],
    ['gives the agent a tool of the application, and leaves its call open', async () => {
      const run = agent.run({ prompt: 'case orders', id: 'orders', tools })
      for await (const { type } of run) if (type === 'tool-call-request') break
      runId = run.runId!
      t.match((await listToolCalls(options)).data.toolCalls, [{ toolName: 'findOrders', app: 'order-desk', state: 'open' }])
    }],
    ['executes the call that was left open', async () => {
      t.equal((await agent.resume(runId, { tools }).result()).text, 'A-1 is open.')
    }],
    ['gets an object that fits a schema', async () => {
      const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } as const
      const { object, runId } = await agent.run({ prompt: 'case json', schema }).result()
      t.same(object, { city: 'Oslo' })
      t.match((await getRun({ ...options, path: { runId } })).data, { object: { city: 'Oslo' } })
    }],
    ['gives one conversation a model of its own', async () => {
      const { runId } = await agent.run({ prompt: 'case other', options: { model: 'other/large' } }).result()
      t.equal(gateway.requests.at(-1)!.modelId, 'other/large')
      t.match((await getRun({ ...options, path: { runId } })).data, { options: { model: 'other/large' } })
    }],
    ['has a file changed', async () => {
      ({ runId } = await agent.run({ prompt: 'case undo', approve: () => true }).result())
      t.equal(readFileSync(`${cwd}/kept.txt`, 'utf8'), 'changed')
    }],
    ['takes the change back', async () => {
      t.match((await undoRun({ ...options, path: { runId }, body: {} })).data, { restored: [/kept\.txt$/], skipped: [] })
      t.equal(readFileSync(`${cwd}/kept.txt`, 'utf8'), 'as it was')
    }],
    ['makes a task that may run one command unattended', async () => {
      const body = { goal: 'case nightly', plan: { phases: [{ description: 'do it' }] }, approval: { mode: 'granted' as const } }
      taskId = (await createTask({ ...options, body })).data.id
      const input = { command: 'printf x >> effects.log' }
      await addGrant({ ...options, body: { taskId, toolName: 'runCommand', input, scope: 'exact' } })
      await startTask({ ...options, path: { id: taskId } })
      await events.until((event) => event.type === 'task:complete' && event.taskId === taskId)
      t.equal(effects(cwd), 'x')
    }],
    ['runs it again', async () => {
      const { runId } = (await runTask({ ...options, path: { id: taskId } })).data
      await events.until((event) => event.type === 'run:end' && event.runId === runId)
      t.equal(effects(cwd), 'xx')
      t.same((await listApprovals(options)).data.approvals, [], 'nobody was asked')
    }],
    ['starts a long answer, which the kill cuts', async () => {
      const run = agent.run({ prompt: 'case slow', id: 'slow' })
      for await (const event of run) if (event.type === 'text-delta' && event.content === 'word25 ') break
    }],
    ['reads all of it once it comes back, and goes on', async () => {
      const { text } = await agent.resume('slow').result()
      t.equal(text, SLOW.join(''), 'the whole answer, once')
      t.equal((await agent.run({ prompt: 'case other', id: 'slow' }).result()).text, 'I am the other.')
      const { messages } = (await getThread({ ...options, path: { id: 'slow' } })).data
      const answered = (text: string) => ({ role: 'assistant', content: [{ text }] })
      t.match(messages, [{ role: 'user' }, answered(SLOW.join('')), { role: 'user' }, answered('I am the other.')])
    }],
    ['reads the cost', async () => {
      const { groups } = (await getUsage({ ...options, query: { by: 'model' } })).data
      cost = groups.reduce((sum, { costUsd = 0 }) => sum + costUsd, 0)
      t.ok(cost >= 0.1, `$${cost}`)
    }],
    ['reads the same cost again', async () => {
      const { groups } = (await getUsage({ ...options, query: { by: 'day' } })).data
      t.ok(Math.abs(groups[0].costUsd! - cost) < 1e-9)
    }]
  ]
}
