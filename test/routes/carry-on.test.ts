import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { openChat } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import type { Plan } from '../fakes/gateway.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { isLastWord, of, say, sayAll } from '../harness/agent.ts'
import { fakeClock, hastyClock } from '../harness/clock.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'

const allow = { permissions: { '*': 'allow' } }
const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })
/** Calls that differ, and not always of one tool: thirty of one with the same answer would end the run. */
const look = (n: number) => n % 9 === 0 ? call('searchFiles', { pattern: `x${n}` }) : call('listDirectory', { path: '.', limit: n + 1 })
const sync = async (app: App, payload: object) => (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
const user = (content: string) => ({ role: 'user', content })
const runsOf = async (app: App, id: string) => (await app.inject(`/runs?threadId=${id}`)).json().runs
const lastOf = (prompt: Array<{ content: any }>): string => prompt.at(-1)!.content[0].text

t.test('a hundred steps with tools, then the model says what is left, and the run can go on', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth < 101 ? look(nth) : { text: 'All done.' })
  const { events } = await say(app, 'go through it', { id: 'long' })
  t.equal(of(events, 'tool-output-available').length, 100)
  t.match(of(events, 'data-stopped'), [{ data: { reason: 'steps', text: /all its steps/ } }])
  t.match(events.at(-1), { type: 'finish', finishReason: 'other', stopped: { reason: 'steps' } })
  t.equal(gateway.requests.length, 101)
  const [before, last] = gateway.requests.slice(-2).map(({ body }) => body)
  t.match(lastOf(last.prompt), /used all your steps.*what is done and what is left/)
  t.same({ ...last, prompt: 0 }, { ...before, prompt: 0 }, 'tools and settings stay, so that the beginning is cached')
  for (const { body } of gateway.requests) t.equal(body.prompt[0].content, before.prompt[0].content)
  t.equal(of(events, 'tool-input-error').length, 1, 'its call was not carried out')
  t.match(await runsOf(app, 'long'), [{ status: 'completed', stopped: { reason: 'steps' } }])

  const { events: more } = await sayAll(app, undefined as never, { id: 'long', continue: true })
  t.equal(textOf(more), 'All done.')
  t.match(lastOf(gateway.requests.at(-1)!.body.prompt), /go on where you stopped/)
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /go through it/)
  t.match((await runsOf(app, 'long'))[0], { status: 'completed', stopped: undefined })
  const again = await app.inject({ method: 'POST', url: '/run', payload: { id: 'long', continue: true } })
  t.match({ ...again.json(), status: again.statusCode }, { status: 409, code: 'ERR_NOTHING_TO_CONTINUE' })
  const both = await app.inject({ method: 'POST', url: '/run', payload: { id: 'long', continue: true, message: user('x') } })
  t.equal(both.statusCode, 400)
})

t.test('config.json and the options of a run set its steps, the nearest of them', async (t) => {
  const config = { agent: { steps: { conversation: 2, task: 3 } } }
  const { app } = await withGateway(t, (request, nth) => isLastWord(request) ? { text: 'Looked.' } : look(nth), { config })
  t.equal((await sync(app, { messages: [user('go')] })).toolCalls.filter(({ status }: any) => status === 'completed').length, 2)
  const given = await sync(app, { messages: [user('go')], options: { maxSteps: 4 } })
  t.equal(given.toolCalls.filter(({ status }: any) => status === 'completed').length, 4, 'also more than config.json')
  t.match(given, { finishReason: 'other', stopped: { reason: 'steps' } })
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const { id } = await tasks.create('count the files', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await watched.until('task:complete')
  t.match((await tasks.runs(id))[0], { stopped: { reason: 'steps' }, toolCount: 3, status: 'completed' }, 'judged as it stands')
})

t.test('a run that repeats itself is told, then stopped; polling and slow looks are no repetition', async (t) => {
  const calls = async (t: Test, plans: (nth: number) => Plan, { clock = fakeClock(), during = async () => {} }: any = {}) => {
    const made = await withGateway(t, async (_request, nth) => {
      await during(clock)
      return nth < 30 ? plans(nth) : { text: 'enough' }
    }, { config: allow, clock })
    return { ...made, result: await sync(made.app, { id: 'r', messages: [user('go')] }) }
  }
  await t.test('the same call', async (t) => {
    const { result, gateway } = await calls(t, () => look(0))
    t.match(result, { finishReason: 'other', stopped: { reason: 'repeating', text: /again and again/ } })
    t.equal(gateway.requests.length, 6)
    t.match(lastOf(gateway.requests[3].body.prompt), /same call three times/)
    t.match(lastOf(gateway.requests[5].body.prompt), /You made the same calls again and again.*no tool runs/)
  })
  await t.test('three calls in turn', async (t) => {
    const { result, gateway } = await calls(t, (nth) => look(nth % 3))
    t.match(result.stopped, { reason: 'repeating' })
    t.equal(gateway.requests.length, 16)
  })
  await t.test('a look every ten seconds', async (t) => {
    const { result, gateway } = await calls(t, () => look(0), { during: (clock: any) => clock.advance(10_000) })
    t.match(result, { text: 'enough', stopped: undefined })
    t.equal(gateway.requests.length, 31)
  })
  await t.test('looks at a command that runs', async (t) => {
    const { result } = await calls(t, () => call('readCommand', { id: 'none' }))
    t.match(result.stopped, { reason: 'repeating' }, 'an error is the same error')
  })
  await t.test('a call whose result differs', async (t) => {
    const plans = (nth: number): Plan => nth < 12 ? call('runCommand', { command: 'date +%s%N' }) : { text: 'enough' }
    const { result } = await calls(t, plans, { clock: hastyClock() })
    t.match(result, { text: 'enough', stopped: undefined })
  })
})

t.test('an answer that says nothing is asked for once more, then told', async (t) => {
  const silent: Record<string, Plan> = { empty: { text: [] }, blank: { text: ['\n ', '\n'] }, thinking: { reasoning: 'hm', text: [] } }
  for (const [name, plan] of Object.entries(silent)) {
    await t.test(name, async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => nth === 1 ? { text: 'Here.' } : plan)
      t.match(await sync(app, { id: 'e', messages: [user('go')] }), { text: 'Here.', finishReason: 'stop', stopped: undefined })
      t.match(lastOf(gateway.requests[1].body.prompt), /held no text/)
      t.match(await sync(app, { id: 'f', messages: [user('go')] }), { finishReason: 'other', stopped: { reason: 'empty' } })
      t.equal(gateway.requests.length, 4, 'not a third time')
    })
  }
})

t.test('an answer that is refused or cut off is told', async (t) => {
  const reasons = { refused: 'content-filter', 'output-limit': 'length' }
  for (const [reason, finishReason] of Object.entries(reasons)) {
    await t.test(reason, async (t) => {
      const { app } = await withGateway(t, () => ({ text: 'Well, I', finishReason }))
      t.match(await sync(app, { messages: [user('go')] }), { text: 'Well, I', finishReason, stopped: { reason } })
    })
  }
})

t.test('a call that the output limit cut off is told how to be made in parts; twice stops the run', async (t) => {
  const cut = (input: string): Plan => ({
    parts: [
      { type: 'tool-input-start', id: 'c', toolName: 'writeFile' },
      { type: 'tool-input-delta', id: 'c', delta: input },
      ...input.endsWith('!') ? [{ type: 'tool-call', toolCallId: 'c', toolName: 'writeFile', input }] : [],
      { type: 'finish', finishReason: { unified: 'length' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } }
    ]
  })
  // As an SDK reports it, with the call or without.
  for (const input of ['{"path":"a.txt","content":"the begin!', '{"path":"a.txt","content":"the begin']) {
    await t.test(input, async (t) => {
      const reply = (_request: unknown, nth: number) => nth === 1 ? call('listDirectory', { path: '.' }) : cut(input)
      const { app, gateway } = await withGateway(t, reply, { config: allow })
      const { toolCalls, ...result } = await sync(app, { messages: [user('go')] })
      t.match(result, { stopped: { reason: 'output-limit' } })
      t.match(toolCalls[0], { status: 'error', errorText: /cut off.*in parts/ })
      t.equal(gateway.requests.length, 4, 'one is no end, two in a row are')
    })
  }
})

t.test('the input of a call is read leniently where it has one meaning, and the approval shows that', async (t) => {
  const raw = (input: string, toolName = 'readFile'): Plan => ({
    parts: [
      { type: 'tool-call', toolCallId: `c${Math.random()}`, toolName, input },
      { type: 'finish', finishReason: { unified: 'tool-calls' }, usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } }
    ]
  })
  let log = ''
  const { app } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? plans[nth / 2] : { text: 'ok' }, {
    log: new Writable({
      write (chunk, _encoding, done) {
        log += chunk
        done()
      }
    })
  })
  const good = [
    raw('{"path":"a.txt","limit":"10","offset":null}'),
    raw('{"path":"a.txt","limit":10,}'),
    raw(JSON.stringify('{"path":"a.txt","limit":10}')),
    raw("{'path': 'a.txt', 'limit': 10}"),
    raw('```json\n{"path":"a.txt","limit":10}\n```'),
    raw('{"path":"a.txt","limit":10}', 'read_file'),
    raw('{"path":"a.txt","limit":10}', 'ReadFile'),
    raw('{"path":"a.txt","limit":10}', 'functions.readFile')
  ]
  const bad = [
    raw('{"path":"a.txt","limit":10'),
    raw('{"path":"a.txt","limit":"ten"}'),
    raw('{"path":"a" "b"}'),
    raw('{"path":"a.txt"}', 'file')
  ]
  const plans = [...good, ...bad]
  for (const plan of plans) {
    const { toolCalls } = await sync(app, { messages: [user('go')] })
    const [{ input, toolName, errorText }] = toolCalls
    const meant = { input: { path: 'a.txt', limit: 10 }, toolName: 'readFile' }
    if (good.includes(plan)) t.same({ input, toolName }, meant, JSON.stringify(plan.parts![0]))
    else t.match(errorText, /is not JSON|is not valid|no tool named/)
  }
  const mended = log.split('\n').filter((line) => line.includes('read leniently')).map((line) => JSON.parse(line))
  t.equal(mended.length, good.length, 'the log says so')
  t.same(mended.flatMap(({ named }) => named ?? []), ['read_file', 'ReadFile', 'functions.readFile'])
  t.notMatch(JSON.stringify(mended), /a\.txt/, 'without what the call says')
})

t.test('reasoning in tags at the beginning is reasoning, and an answer that is calls alone is those calls', async (t) => {
  const write = JSON.stringify({ name: 'writeFile', arguments: { path: 'x.txt', content: 'x' } })
  const list = JSON.stringify({ name: 'listDirectory', arguments: { path: '.' } })
  const find = JSON.stringify({ name: 'searchFiles', arguments: { pattern: 'x {' } })
  const texts = [
    ['<th', 'ink>Let me', ' see.</thi', 'nk>\n\nIt is ', 'so.'],
    ['<tool_call>\n', list, '\n</tool_call>\n<tool', `_call>\n${find}\n</tool_call>`],
    ['Listed.'],
    ['<think>I write.</think>', '<tool_', `call>${write}</tool_call>`],
    [`<tool_call>${write}</tool_call> is what I would send.`],
    [`<tool_call>${list}</tool_call> and <tool_call>${write}</tool_call>`],
    ['<thinking aloud> is no tag']
  ]
  const { app, server } = await withDirect(t, (_request, nth) => ({ text: texts[nth] }), { config: allow })
  const first = await say(app, 'go')
  t.equal(textOf(first.events).trim(), 'It is so.')
  t.equal(of(first.events, 'reasoning-delta').map(({ delta }) => delta).join(''), 'Let me see.')
  const listed = await sync(app, { messages: [user('go')] })
  const made = [{ toolName: 'listDirectory', status: 'completed' }, { toolName: 'searchFiles', status: 'completed' }]
  t.match(listed, { text: 'Listed.', toolCalls: made })
  const seen = server.calls.at(-1)!.body.messages.at(-3).tool_calls
  t.same(seen.map(({ function: { name } }: any) => name), ['listDirectory', 'searchFiles'], 'the model sees its calls')
  const asks = await sync(app, { messages: [user('go')] })
  const pendingApprovals = [{ toolName: 'writeFile', input: { path: 'x.txt' } }]
  t.match(asks, { finishReason: 'tool-calls', pendingApprovals }, 'asks, though writing is allowed')
  for (const text of texts.slice(4)) {
    t.match(await sync(app, { messages: [user('go')] }), { text: text.join(''), toolCalls: [], finishReason: 'stop' })
  }
})

t.test('a turn that its provider paused goes on as it is', async (t) => {
  const paused: Plan = {
    parts: [
      { type: 'text-start', id: 't' },
      { type: 'text-delta', id: 't', delta: 'Half of it.' },
      { type: 'text-end', id: 't' },
      { type: 'finish', finishReason: { unified: 'stop', raw: 'pause_turn' }, usage: { inputTokens: {}, outputTokens: {} } }
    ]
  }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? paused : { text: 'The rest.' })
  t.match(await sync(app, { messages: [user('go')] }), { text: 'The rest.', steps: 2, finishReason: 'stop', stopped: undefined })
  t.match(gateway.requests[1].body.prompt.at(-1), { role: 'assistant', content: [{ text: 'Half of it.' }] }, 'nothing is said in between')
})

t.test('a chat goes on in the same message', async (t) => {
  for (const version of versions) {
    await t.test(version.name, async (t) => {
      const half = { text: 'Half of', finishReason: 'length' }
      const { app } = await withGateway(t, (_request, nth) => nth === 0 ? half : { text: 'the whole.' })
      let isContinued = false
      const open = await openChat(app, version, {
        id: 'c',
        ...(version.approvals ? {} : { path: '/run?protocol=ui5' }),
        prepareSendMessagesRequest: ({ id, messages }) => ({ body: { id, ...isContinued ? { continue: true } : { messages } } })
      })
      await open.say('tell me')
      t.match(open.last.metadata, { stopped: { reason: 'output-limit' }, finishReason: 'length' })
      t.match(open.parts.at(-1), { type: 'data-stopped', data: { reason: 'output-limit' } })
      const { id } = open.last
      isContinued = true
      await open.chat.sendMessage()
      isContinued = false
      const { messages } = (await app.inject('/threads/c')).json()
      t.equal(messages.length, 2)
      const whole = { id, parts: [{}, { text: 'Half of' }, {}, {}, { text: 'the whole.' }], metadata: { finishReason: 'stop' } }
      t.match([messages[1], open.last], [whole, whole])
      const metadata: any[] = [messages[1].metadata, open.last.metadata]
      t.notOk(metadata.some(({ stopped }) => stopped), 'an answer that is finished has not stopped')
      t.same(open.errors, [])
      await open.say('thanks')
      t.same(open.errors, [])
    })
  }
})

t.test('a plan is shown, replaced, and kept in the thread', async (t) => {
  const step = (status: string) => ({ text: 'Look', status })
  const { app } = await withGateway(t, (_request, nth) =>
    nth < 2 ? call('updatePlan', { steps: [step(nth === 0 ? 'running' : 'done')] }) : { text: 'Done.' })
  const { events } = await say(app, 'plan it', { id: 'p' })
  t.match(of(events, 'data-plan'), [
    { id: 'plan', data: { steps: [step('running')] } },
    { id: 'plan', data: { steps: [step('done')] } }
  ])
  for (const version of versions) {
    const open = await openChat(app, version, { id: version.name })
    await open.say('hi')
    t.same(open.errors, [])
  }
})

t.test('a greeting, a job and a task run of five calls send few tokens, with the settings of an app', async (t) => {
  const objects: Record<string, object> = {
    analysis: { complexity: 'simple', goal: 'greet', thinking: '', qualityCriteria: [] },
    title: { title: 'A greeting' },
    judgement: { outcome: 'done', claims: [], satisfied: true, score: 1, issues: [] }
  }
  let steps = 0
  let told = () => {}
  const { app, gateway } = await withGateway(t, () => --steps >= 0 ? look(steps) : { text: 'It is done, and I have checked it.' }, {
    boxes: BUBBLEWRAP,
    config: { analysis: true, threads: { titles: true } },
    structured: (name) => {
      if (name === 'title') told()
      return { object: objects[name] }
    }
  })
  const spent = async (calls: number, work: () => Promise<unknown>) => {
    steps = calls
    const before = gateway.requests.length
    await work()
    const sent = gateway.requests.slice(before).map(({ body: { prompt, tools = [], responseFormat = {} } }) =>
      JSON.stringify(prompt).length + JSON.stringify(tools).length + JSON.stringify(responseFormat.schema ?? {}).length)
    return { requests: sent.length, tokens: sent.reduce((sum, characters) => sum + characters) / 4 }
  }
  const titled = async (id: string) => {
    const asked = Promise.withResolvers<void>()
    told = asked.resolve
    await say(app, 'hi', { id })
    await asked.promise
  }
  const greeting = await spent(0, () => titled('g'))
  t.equal(greeting.requests, 3, 'analysis, answer and title')
  t.ok(greeting.tokens <= 3_000, `a greeting sends ${greeting.tokens} tokens by estimate`)
  const job = await spent(5, () => titled('j'))
  t.equal(job.requests, 8)
  t.ok(job.tokens < 20_000, `a job sends ${job.tokens}`)
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const run = await spent(5, async () => {
    const { id } = await tasks.post('', { goal: 'Add the values', plan: { phases: [{ description: 'add them' }] } })
    await tasks.post(`/${id}/start`)
    await watched.until('task:complete')
  })
  t.equal(run.requests, 8)
  t.ok(run.tokens <= 20_000, `a task run sends ${run.tokens}`)
})

t.test('an investigation reads in a conversation of its own, and answers with a report', async (t) => {
  const isInner = ({ body }: { body: any }) => /You investigate a question/.test(body.prompt[0].content)
  const inner: Plan[] = [
    { toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }, { toolName: 'writeFile', input: { path: 'x', content: 'x' } }] },
    { toolCalls: [{ toolName: 'investigate', input: { question: 'deeper' } }] },
    { text: 'There is one file: note.txt.' }
  ]
  let outer = 0
  const asks = call('investigate', { question: 'What is here?' })
  const { app, gateway } = await withGateway(t, (request) =>
    isInner(request) ? inner.shift()! : outer++ === 0 ? asks : { text: 'One file.' }, { config: allow })
  writeFileSync(`${app.cwd}/note.txt`, 'secret words')
  const { events } = await say(app, 'what is here', { id: 'i' })
  const [{ output }] = of(events, 'tool-output-available')
  t.match(output, { report: 'There is one file: note.txt.', calls: [{ toolName: 'listDirectory', status: 'completed' }] })
  t.equal(output.calls.length, 1, 'it can neither write nor investigate on')
  t.notOk(existsSync(`${app.cwd}/x`))
  const asked = gateway.requests.filter(isInner)
  t.equal(asked.length, 3)
  t.notMatch(JSON.stringify(asked[0].body.tools), /writeFile|runCommand|investigate|updatePlan/)
  t.match(lastOf(asked[0].body.prompt), 'What is here?')
  t.match(JSON.stringify(asked[1].body.prompt), /note\.txt.*it only reads/)
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /note\.txt.*secret|entries/, 'what it read is not told')
  t.equal(events.at(-1)!.usage.inputTokens, 5 * 10, 'its calls are counted with those of the run')
  t.match((await app.inject('/threads/i')).body, /There is one file/)
})

t.test('budget and stop reach into an investigation', async (t) => {
  const stalled: Plan = { text: ['a', 'b'], ending: 'stall', after: 3 }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? call('investigate', { question: 'What?' }) : stalled)
  const run = await openRun(app, { ...userSays('go'), id: 's', resumable: true })
  while (gateway.requests.length < 2) await new Promise((resolve) => setTimeout(resolve, 2))
  await app.inject({ method: 'POST', url: '/run/s/stop' })
  await run.ended
  t.equal(await gateway.requests[1].ended, 'aborted')
  t.match(run.events.at(-1), { stopped: { reason: 'user' } })
  const spent = await withBudget(t)
  t.match(spent, { code: 'ERR_BUDGET' })
})

async function withBudget (t: Test) {
  let body: any
  await t.test('budget', async (t) => {
    const usage = { inputTokens: 600, outputTokens: 1 }
    const { app, gateway } = await withGateway(t, (_request, nth) =>
      nth === 0 ? { ...call('investigate', { question: 'What?' }), usage } : { ...look(nth), usage })
    body = await sync(app, { messages: [user('go')], options: { interactive: false, budget: { tokens: 1_500 } } })
    t.equal(gateway.requests.length, 3, 'no call more')
  })
  return body
}

t.test('a run that was stopped says so, and can go on', async (t) => {
  const stalled: Plan = { text: ['begun ', 'and'], ending: 'stall', after: 4 }
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? stalled : { text: 'done' })
  const running = await openRun(app, { ...userSays('go'), id: 's' })
  await running.says('begun')
  await app.inject({ method: 'POST', url: '/run/s/stop' })
  await running.ended
  t.match(running.events.at(-1), { finishReason: 'other', stopped: { reason: 'user' } })
  t.match(await runsOf(app, 's'), [{ status: 'stopped', stopped: { reason: 'user' } }])
  t.equal((await sync(app, { id: 's', continue: true })).text, 'done')
})

t.test('an answer that was stopped while it waited says so in its thread, and can go on', async (t) => {
  const write = { text: 'I write.', toolCalls: [{ toolName: 'writeFile', input: { path: 'a.txt', content: 'a' } }] }
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? write : { text: 'Not written.' })
  const answer = async () => (await app.inject('/threads/c?protocol=ui')).json().messages.at(-1)
  await sayAll(app, [{ id: 'u', role: 'user', parts: [{ type: 'text', text: 'go' }] }], { id: 'c' })
  await app.inject({ method: 'POST', url: '/run/c/stop' })
  const before = await answer()
  const stopped = { reason: 'user' }
  t.match([before.metadata, before.parts.at(-1)], [{ finishReason: 'other', stopped }, { type: 'data-stopped', data: stopped }])
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'c', continue: true } })
  const { metadata, parts } = await answer()
  t.match([metadata.finishReason, metadata.stopped], ['stop', undefined])
  t.same(parts.flatMap(({ text }: any) => text ?? []), ['I write.', 'Not written.'])
  t.notMatch(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /You stopped/, 'the model is not told what the user is told')
})

t.test('a command may take ten minutes and shows its output while it runs', async (t) => {
  const command = 'echo first; sleep 0.6; touch go; echo second; while [ -e go ]; do sleep 0.05; done; echo third'
  const plan = call('runCommand', { command, timeoutMs: 600_000 })
  const { app } = await withGateway(t, (_request, nth) => nth === 0 ? plan : { text: 'done' }, { config: allow })
  const run = await openRun(app, userSays('go'))
  await run.says('"message":"second"')
  t.match(of(run.events, 'tool-progress'), [{ toolName: 'runCommand', progress: 6, message: 'first' }, { progress: 13, message: 'second' }])
  rmSync(`${app.cwd}/go`)
  await run.ended
  t.match(of(run.events, 'tool-output-available'), [{ output: { exitCode: 0, stdout: 'first\nsecond\nthird\n' } }])
})
