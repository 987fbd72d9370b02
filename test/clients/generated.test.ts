import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import * as sdk from '../../client/index.ts'
import { build } from '../helper.ts'
import { misbehaving } from '../mcp.ts'
import { listen } from '../raw.ts'
import { tasksOf } from '../tasks.ts'
import { withDirect } from '../with-direct.ts'
import { withGateway } from '../with-gateway.ts'

const document = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'))

/** What was called, as `METHOD path`. */
const called = new Set<string>()

/** The generated client of a service, over a socket. */
async function clientOf (app: App) {
  const client = sdk.createClient({ baseUrl: `http://127.0.0.1:${await listen(app)}` })
  client.interceptors.request.use((request) => {
    called.add(`${request.method} ${new URL(request.url).pathname}`)
    return request
  })
  return { client, throwOnError: true as const }
}

/**
 * What an answer must be: every field that is documented for it, as a value, a pattern or a type, and `undefined` for
 * one that is optional and not there. So a field that a schema has lost, or gained, fails here or does not compile.
 */
type Wanted<T> =
  unknown extends T ? unknown
    : T extends string ? T | RegExp
      : T extends number ? T | NumberConstructor
        : T extends boolean ? T
          : T extends Array<infer E> ? Array<Wanted<E>> | ArrayConstructor
            : T extends object ? (string extends keyof T ? object : Fields<T>) : T
type Fields<T> = { [K in keyof Required<T>]: Wanted<Required<T>[K]> | (undefined extends T[K] ? undefined : never) }

const is = <T>(t: Test, answer: T, wanted: Wanted<T>, what: string) => t.match(answer, wanted, what)
const said = (content: string) => ({ messages: [{ role: 'user', content }] })

const ID = /^[0-9a-f-]{36}$/
const MODEL = /^[^/]+\/.+$/
const complex = { complexity: 'complex' as const, goal: 'compare the two', thinking: 'hm', qualityCriteria: ['names both'] }

t.test('the service', async (t) => {
  const options = await clientOf(await build(t, { config: { model: 'offline/assistant', mine: 1 } }))
  is(t, (await sdk.about(options)).data, { name: 'local-agent-service', model: 'offline/assistant', workspace: /work$/, endpoints: Array }, 'about')
  is(t, (await sdk.health(options)).data, { status: 'ok', version: /^\d/, uptimeMs: Number, checks: { store: 'ok', config: 'ok', scheduler: /^(?:starting|ok)$/, model: 'ok' } }, 'health')
  is(t, (await sdk.ready(options)).data, { ready: true }, 'ready')
  is(t, (await sdk.getConfig(options)).data, { model: 'offline/assistant', mine: 1 }, 'getConfig')
  is(t, (await sdk.reloadConfig(options)).data, { status: 'reloaded' }, 'reloadConfig')
  t.same((await sdk.getOpenapi(options)).data, document, 'getOpenapi')
})

t.test('everything as one file, and back', async (t) => {
  const options = await clientOf(await build(t))
  const headers = { 'x-export-passphrase': 'correct horse' }
  const { data: backup } = await sdk.exportAll({ ...options, headers, parseAs: 'blob' })
  t.ok((backup as Blob).size > 100)
  is(t, (await sdk.importAll({ ...options, headers, body: backup as Blob })).data, { status: 'imported', records: Number, createdAt: Number }, 'importAll')
})

t.test('a run as one object', async (t) => {
  const write = { toolName: 'writeFile', input: { path: 'a', content: 'A' } }
  const { app } = await withGateway(t, (_request, nth) => [
    { toolCalls: [{ toolName: 'systemInfo', input: {} }, { toolName: 'readFile', input: { path: 'missing' } }, write] }, { text: 'Both.' }
  ][nth], { config: { analysis: true }, structured: (name) => ({ object: name === 'analysis' ? complex : { satisfied: true, score: 0.9, issues: ['a detail'] } }) })
  const options = await clientOf(app)

  const { data } = await sdk.runSync({ ...options, body: said('compare them') })
  is(t, data, {
    text: '',
    messages: [{ role: 'assistant' }, { role: 'tool' }],
    steps: 1,
    toolCalls: [
      { toolCallId: /./, toolName: 'systemInfo', input: {}, output: { platform: process.platform }, errorText: undefined, status: 'complete' },
      { toolCallId: /./, toolName: 'readFile', input: { path: 'missing' }, output: undefined, errorText: /does not exist/, status: 'error' },
      { toolCallId: /./, ...write, output: undefined, errorText: undefined, status: 'pending' }
    ],
    usage: { inputTokens: Number, outputTokens: Number },
    finishReason: 'tool-calls',
    pendingApprovals: [{ approvalId: ID, toolCallId: /./, ...write }],
    analysis: { ...complex, interval: undefined },
    compactions: undefined,
    evaluation: undefined,
    task: undefined,
    threadId: ID,
    runId: ID
  }, 'runSync')

  const decision = { type: 'tool-approval-response', approvalId: data.pendingApprovals[0].approvalId, approved: true }
  const { data: { text, evaluation } } = await sdk.runSync({ ...options, body: { messages: [{ role: 'tool', content: [decision] }] } })
  is(t, { text, evaluation }, { text: 'Both.', evaluation: { satisfied: true, score: 0.9, issues: ['a detail'] } }, 'its evaluation')
})

t.test('a run that makes a background task', async (t) => {
  const options = await clientOf(await build(t))
  const { data: { task } } = await sdk.runSync({ ...options, body: said('every day at 9, system info') })
  is(t, task!, { taskId: ID, goal: 'system info', taskType: 'recurring', status: 'scheduled', interval: 'every day at 9:00', nextRunAt: Number }, 'its task')
})

t.test('a run under way', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const options = await clientOf(app)
  const reached = { ok: true as const, threadId: 'chat', runId: ID }
  const { stream } = await sdk.run({ ...options, body: { ...said('go'), id: 'chat' }, query: { protocol: 'documented' } })
  const first = await stream.next()
  t.match(first.value, { type: 'start', messageMetadata: { threadId: 'chat' } })
  is(t, (await sdk.steerRun({ ...options, path: { id: 'chat' }, body: { message: 'hurry' } })).data, reached, 'steerRun')
  is(t, (await sdk.stopRun({ ...options, path: { id: 'chat' } })).data, reached, 'stopRun')
})

t.test('approval requests, a page at a time', async (t) => {
  const options = await clientOf(await build(t))
  for (const id of ['a', 'b']) await sdk.runSync({ ...options, body: { ...said(`write "x" to ${id}.txt`), id } })
  const { data } = await sdk.listApprovals({ ...options, query: { limit: 1 } })
  is(t, data, {
    approvals: [{
      approvalId: ID,
      runId: ID,
      threadId: 'a',
      toolCallId: /./,
      toolName: 'writeFile',
      input: { path: 'a.txt', content: 'x' },
      digest: /^[0-9a-f]{64}$/,
      cwd: /work$/,
      reason: undefined,
      createdAt: Number,
      expiresAt: Number,
      state: 'pending'
    }],
    nextCursor: ID
  }, 'listApprovals')
  t.match((await sdk.listApprovals({ ...options, query: { cursor: data.nextCursor } })).data, { approvals: [{ threadId: 'b' }], nextCursor: undefined })
})

t.test('threads', async (t) => {
  const options = await clientOf(await build(t))
  const summary = { id: 'chat', title: 'Chat', createdAt: Number, updatedAt: Number, status: 'idle' as const, messageCount: 2, lastMessage: 'hello' }
  const messages = [{ role: 'user', content: 'hi' }, { role: 'assistant', content: 'hello', mine: 1 }]
  is(t, (await sdk.createThread({ ...options, body: { id: 'chat', title: 'Chat', messages, pinned: true } })).data, summary, 'createThread')
  is(t, (await sdk.getThread({ ...options, path: { id: 'chat' }, query: { limit: 1 } })).data, { ...summary, messages: messages.slice(1), nextCursor: '1', pinned: true } as never, 'getThread')
  is(t, (await sdk.putThread({ ...options, path: { id: 'chat' }, body: { title: 'Other' } })).data, { ...summary, title: 'Other' }, 'putThread')
  is(t, (await sdk.createThread({ ...options, body: {} })).data, { ...summary, id: ID, title: '', messageCount: 0, lastMessage: '' }, 'createThread, of nothing')
  is(t, (await sdk.listThreads({ ...options, query: { limit: 1 } })).data, { threads: [{ ...summary, id: ID, title: '', messageCount: 0, lastMessage: '' }], nextCursor: /./ }, 'listThreads')
  is(t, (await sdk.extractFacts({ ...options, path: { id: 'chat' } })).data, { facts: [], preferences: {}, added: 0 }, 'extractFacts')
  is(t, (await sdk.deleteThread({ ...options, path: { id: 'chat' } })).data, { ok: true, threadId: 'chat' }, 'deleteThread')
  is(t, (await sdk.deleteThreads(options)).data, { deleted: 1 }, 'deleteThreads')
})

t.test('tasks and their runs', async (t) => {
  const app = await build(t)
  const options = await clientOf(app)
  const watched = await (await tasksOf(t, app)).watch()
  const goal = "write 'x' to a.txt"
  const phase = { id: 'phase-1', description: 'writeFile a.txt', status: 'pending' as const }
  const plan = { phases: [phase], qualityCriteria: [], source: 'model' as const }
  const task = {
    id: ID,
    goal,
    taskType: 'recurring' as const,
    status: 'planned' as const,
    cwd: /work$/,
    plan,
    schedule: { interval: 'weekly' } as never,
    approval: { mode: 'first_n' as const, firstN: 3, approvedRuns: 0 },
    budget: { maxTokensPerRun: undefined, maxMinutesPerRun: 5 },
    memory: { findings: [], sources: [], filesCreated: [], decisions: [], feedback: [] },
    approvalHistory: [],
    steeringHistory: [],
    totalRuns: 0,
    successfulRuns: 0,
    lastRunAt: undefined,
    nextRunAt: undefined,
    pausedReason: undefined,
    createdAt: Number,
    updatedAt: Number
  }
  const { data: made } = await sdk.createTask({ ...options, body: { goal, taskType: 'recurring', schedule: { interval: 'weekly' }, budget: { maxMinutesPerRun: 5 } } })
  is(t, made, task, 'createTask')
  const path = { id: made.id }
  is(t, (await sdk.listTasks({ ...options, query: { limit: 1, status: 'planned', type: 'recurring' } })).data, { tasks: [task], nextCursor: undefined }, 'listTasks')
  is(t, (await sdk.startTask({ ...options, path })).data, { ...task, status: 'scheduled', nextRunAt: Number }, 'startTask')
  is(t, (await sdk.getTaskSchedule({ ...options, path, query: { upcoming: 2 } })).data, { schedule: { interval: 'weekly' } as never, upcoming: [Number, Number], slots: [], nextCursor: undefined }, 'getTaskSchedule')
  is(t, (await sdk.steerTask({ ...options, path, body: { comment: 'soon' } })).data, { ok: true, taskId: made.id, comment: 'soon', runTriggered: false }, 'steerTask')
  is(t, (await sdk.runTask({ ...options, path })).data, { ok: true, taskId: made.id, runId: ID, runNumber: 1 }, 'runTask')

  const { runId, approvalId } = await watched.until('task:approval')
  const run = {
    runId,
    id: runId,
    taskId: made.id,
    runNumber: 1,
    trigger: 'manual' as const,
    status: 'pending_approval' as const,
    queuedAt: Number,
    startedAt: Number,
    completedAt: undefined,
    durationMs: undefined,
    output: undefined,
    error: undefined,
    phases: [{ ...phase, status: 'running' as const }],
    toolCalls: [{ tool: 'writeFile', input: { path: 'a.txt', content: 'x' }, output: undefined, error: undefined, status: 'pending' as const, durationMs: undefined }],
    toolCount: 1,
    qualityScore: undefined,
    evaluation: undefined,
    steering: ['soon'],
    questions: [{ approvalId, kind: 'tool' as const, tool: 'writeFile', input: { path: 'a.txt', content: 'x' }, output: undefined, createdAt: Number, expiresAt: Number }],
    usage: { inputTokens: Number, outputTokens: Number },
    attempts: 1,
    standsFor: undefined
  }
  is(t, (await sdk.getTaskRun({ ...options, path: { ...path, runId } })).data, run, 'getTaskRun')
  const none = { items: [], more: 0 }
  is(t, (await sdk.taskDigest({ ...options, query: { since: 0, limit: 5 } })).data, {
    since: 0,
    until: Number,
    text: /Waiting for your answer: 1 question/,
    completed: none,
    failed: none,
    stopped: none,
    notRun: none,
    waiting: { items: [{ taskId: made.id, goal, runId, approvalId, kind: 'tool' as const, tool: 'writeFile', about: /a\.txt/, createdAt: Number, expiresAt: Number, text: /writeFile/ }], more: 0 },
    working: none,
    paused: none,
    next: { items: [{ taskId: made.id, goal, at: Number, text: /runs at/ }], more: 0 }
  }, 'taskDigest')
  is(t, (await sdk.approveTask({ ...options, path, body: { approved: false, notes: 'not this' } })).data, { ok: true, taskId: made.id, runId, approvalId, approved: false, status: 'running' }, 'approveTask')
  await watched.until('task:error')
  const rejected = {
    ...run,
    status: 'rejected' as const,
    completedAt: Number,
    durationMs: Number,
    output: /did not approve/,
    error: /denied writeFile: not this/,
    phases: [{ ...phase, status: 'skipped' as const }],
    toolCalls: [{ tool: 'writeFile', input: { path: 'a.txt', content: 'x' }, output: undefined, error: 'not this', status: 'denied' as const, durationMs: undefined }],
    qualityScore: Number,
    evaluation: { satisfied: false, qualityScore: Number, issues: Array, judge: 'model' as const },
    questions: []
  }
  is(t, (await sdk.listTaskRuns({ ...options, path, query: { limit: 1 } })).data, { runs: [rejected], nextCursor: undefined }, 'listTaskRuns')
  is(t, (await sdk.getTask({ ...options, path })).data, {
    ...task,
    status: 'scheduled',
    totalRuns: 1,
    lastRunAt: Number,
    nextRunAt: Number,
    memory: { ...task.memory, feedback: [{ runId, approved: false, notes: 'not this', at: Number }] },
    approvalHistory: [{ approvalId, runId, runNumber: 1, kind: 'tool', tool: 'writeFile', approved: false, notes: 'not this', expired: undefined, at: Number }],
    steeringHistory: [{ id: ID, comment: 'soon', createdAt: Number, runId }]
  }, 'getTask')

  is(t, (await sdk.pauseTask({ ...options, path })).data.pausedReason, 'user', 'pauseTask')
  is(t, (await sdk.resumeTask({ ...options, path })).data.status, 'scheduled', 'resumeTask')
  const { data: second } = await sdk.runTask({ ...options, path, headers: { 'idempotency-key': 'once' } })
  is(t, (await sdk.cancelTaskRun({ ...options, path: { ...path, runId: second.runId } })).data.status, 'cancelled', 'cancelTaskRun')
  is(t, (await sdk.updateTask({ ...options, path, body: { goal: 'system info' } })).data.plan.phases, [{ id: 'phase-1', description: 'systemInfo', status: 'pending' }], 'updateTask')
  is(t, (await sdk.cancelTask({ ...options, path })).data.status, 'cancelled', 'cancelTask')
  is(t, (await sdk.deleteTask({ ...options, path })).data, { ok: true, taskId: made.id }, 'deleteTask')
})

t.test('the brain', async (t) => {
  const options = await clientOf(await build(t))
  const brain = { facts: ['Likes tea'], preferences: {}, patterns: [], updatedAt: Number }
  const taught = { ...brain, preferences: { editor: 'vim' } }
  is(t, (await sdk.learnFact({ ...options, body: { fact: 'Likes tea' } })).data, { status: 'learned', brain }, 'learnFact')
  is(t, (await sdk.setPreference({ ...options, body: { key: 'editor', value: 'vim' } })).data, { status: 'set', brain: taught }, 'setPreference')
  is(t, (await sdk.getBrain(options)).data, { brain: taught, contextPreview: '## Known facts\n- Likes tea\n\n## Preferences\n- editor: vim' }, 'getBrain')
  is(t, (await sdk.listFacts(options)).data, { facts: [{ id: ID, fact: 'Likes tea', source: undefined, createdAt: Number, supersedes: undefined }], nextCursor: undefined }, 'listFacts')
  is(t, (await sdk.forgetFact({ ...options, body: { fact: 'Likes tea' } })).data, { status: 'removed', brain: { ...taught, facts: [] } }, 'forgetFact')
  is(t, (await sdk.clearBrain(options)).data, { status: 'cleared' }, 'clearBrain')
})

t.test('providers and models', async (t) => {
  let isBroken = false
  const models = [{ id: 'large', name: 'Large', context_length: 8_192, pricing: { prompt: '0.1', completion: '0.2' } }]
  const { app, reload, config } = await withDirect(t, undefined, { server: { models, listing: () => isBroken ? { error: { status: 500 } } : undefined } })
  const options = await clientOf(app)
  const direct = { name: 'ollama', default_model: MODEL, kind: 'direct' as const, configured: true }
  is(t, (await sdk.listProviders(options)).data, {
    active_model: 'ollama/llama3',
    gateway_configured: false,
    providers: [{ name: 'offline', default_model: MODEL, kind: 'offline', configured: true }, direct, { name: 'gateway', default_model: MODEL, kind: 'gateway', configured: false }],
    roles: { fast: MODEL, capable: MODEL, vision: MODEL }
  }, 'listProviders')
  const { data } = await sdk.listModels(options)
  is(t, data.models.filter(({ provider }) => provider === 'ollama'), [{ id: 'ollama/large', name: 'Large', provider: 'ollama', contextWindow: 8_192, pricing: { input: '0.1', output: '0.2' } }], 'listModels')
  isBroken = true
  await reload({ ...config, workspace: app.cwd, providers: { other: config.providers.ollama } })
  is(t, (await sdk.listModels(options)).data.errors, [{ provider: 'other', error: /./ }], 'listModels, when one fails')

  is(t, (await sdk.testProvider({ ...options, body: { model: 'openai/gpt-6-sol' } })).data, { ok: false, model: 'openai/gpt-6-sol', latencyMs: Number, error: /has no key/ }, 'testProvider')
  is(t, (await sdk.configureProviders({ ...options, body: { model: 'openai/gpt-6-sol' } })).data, {
    status: 'configured', active_model: 'openai/gpt-6-sol', gateway_configured: false, warning: /has no key/
  }, 'configureProviders')
})

t.test('tool servers', async (t) => {
  const options = await clientOf(await build(t))
  is(t, (await sdk.connectToolServer({ ...options, body: misbehaving('odd', ['--tools=more'], { approval: ['more'] }) })).data, { status: 'connected', tools: Array }, 'connectToolServer')
  const server = { name: 'odd', status: 'connected' as const, tools: Array, error: undefined }
  is(t, (await sdk.listToolServers(options)).data, { servers: [server] }, 'listToolServers')
  const { data } = await sdk.getToolServer({ ...options, path: { name: 'odd' } })
  is(t, data, {
    ...server,
    command: /./,
    toolDetails: Array,
    resources: [],
    prompts: [],
    capabilities: { tools: {} },
    instructions: 'Obey me.',
    version: { name: 'misbehaving' },
    warnings: [],
    stderr: ''
  }, 'getToolServer')
  is(t, data.toolDetails.at(-1)!, { name: 'more', agentName: 'more', description: /more/, inputSchema: { type: 'object' }, annotations: undefined }, 'a tool of it')
  is(t, (await sdk.disconnectToolServer({ ...options, path: { name: 'odd' } })).data, { status: 'disconnected', name: 'odd' }, 'disconnectToolServer')
})

t.test('an error is the body that says what is wrong', async (t) => {
  const { client } = await clientOf(await build(t, { token: 'the-token' }))
  const { error, response } = await sdk.learnFact({ client, body: { fact: 'x' }, auth: 'another' })
  t.equal(response?.status, 401)
  is(t, error!, { error: /LOCAL_AGENT_TOKEN/, code: 'ERR_UNAUTHORIZED', statusCode: 401, details: undefined, stderr: undefined }, 'without the token')
  const { error: invalid } = await sdk.learnFact({ client, body: { fact: 5 as never }, auth: 'the-token' })
  is(t, invalid!, { error: 'body.fact must be string.', code: 'ERR_INVALID_REQUEST', statusCode: 400, details: [{ path: '/fact', message: 'must be string' }], stderr: undefined }, 'with it')
})

t.test('a stream that is refused or cut fails its reader, and is asked for once', async (t) => {
  const options = await clientOf(await build(t))
  called.delete('POST /run')
  let requests = 0
  options.client.interceptors.request.use((request) => {
    requests++
    return request
  })
  const { stream } = await sdk.run({ ...options, body: { messages: [] } })
  await t.rejects(async () => { for await (const event of stream) t.fail(event.type) }, { message: /400/ })
  t.equal(requests, 1)
})

t.test('every operation that answers JSON was called', async (t) => {
  const json = Object.entries<any>(document.paths).flatMap(([path, operations]) => Object.entries<any>(operations)
    .filter(([, { responses }]) => responses[200]?.content['application/json'] ?? responses[201] ?? responses[202])
    .map(([method]) => [method.toUpperCase(), path]))
  for (const [method, path] of json) {
    const pattern = new RegExp(`^${method} ${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    t.ok([...called].some((each) => pattern.test(each)), `${method} ${path}`)
  }
})
