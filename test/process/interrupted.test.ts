import { existsSync, watch } from 'node:fs'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import { createAgent } from '../../client/index.ts'
import { type Plan, startFakeGateway } from '../fakes/gateway.ts'
import { effects } from '../harness/effects.ts'
import { readEvents } from '../harness/event-reader.ts'
import { follow } from '../harness/reader.ts'
import { startService } from '../harness/sidecar.ts'
import { parseEvents, postEvents, type Sent, textOf } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

const WORDS = Array.from({ length: 60 }, (_, n) => `word${n} `)
const LOOK = { toolName: 'listDirectory', input: { path: '.' } }
const command = (text: string) => ({ toolName: 'runCommand', input: { command: text } })

/** Resolves when the folder has something of this name. */
const appears = (folder: string, name: string) => new Promise<void>((resolve) => {
  const watcher = watch(folder, () => {
    if (!existsSync(`${folder}/${name}`)) return
    watcher.close()
    resolve()
  })
})

/** The service with a model that says what `reply` says, and two lives, the first of which ends by SIGKILL. */
async function lives (t: Test, reply: (nth: number) => Plan) {
  let calls = 0
  const gateway = await startFakeGateway({ reply: () => reply(calls++) })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false }, permissions: { runCommand: 'allow' } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const where = {
    home: `${dir}/home`,
    cwd: `${dir}/work`,
    env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url }
  }
  let service = await startService(t, where)
  const get = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(service.url + path, { headers })
    return { status: response.status, text: await response.text() }
  }
  const runIds = async (): Promise<string[]> => JSON.parse((await get('/runs')).text).runs.map(({ runId }: any) => runId)
  const kill = async () => {
    await service.stop('SIGKILL')
    service = await startService(t, { ...where, port: new URL(service.url).port })
  }
  return {
    gateway,
    url: service.url,
    cwd: where.cwd,
    get,
    kill,
    /** Sends a request of a client of OpenAI that has sent it `tries` times before. */
    ask: async (path: string, body: object, tries: number) => {
      const headers = { 'content-type': 'application/json', 'x-stainless-retry-count': `${tries}` }
      const response = await fetch(service.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return { runId: response.headers.get('x-run-id'), text: await response.text() }
    },
    post: (body: object, headers?: Record<string, string>) => postEvents(`${service.url}/run?protocol=documented`, body, headers),
    json: async (path: string): Promise<any> => JSON.parse((await get(path)).text),
    replay: async (id: string, query = '') =>
      parseEvents((await get(`/run/${id}/stream${query}`)).text.replace(/data: \[DONE\]\n\n$/, '')),
    /**
     * Sends a request, kills the service as soon as its stream says this and `until` is settled, and starts it again. Returns what the
     * stream had said.
     */
    async killAt (wanted: string, path: string, body?: object, headers: object = {}, until?: Promise<unknown>) {
      const options = { method: body === undefined ? 'GET' : 'POST', headers: { 'content-type': 'application/json', ...headers } }
      const sent = request(service.url + path, options)
      sent.end(body === undefined ? undefined : JSON.stringify(body))
      const stream = await follow(sent)
      await stream.says(wanted)
      await until
      await kill()
      return { runId: (await runIds())[0], said: stream.said() }
    }
  }
}

const user = (text: string, id = 'u1') => ({ id, role: 'user', parts: [{ type: 'text', text }] })

const deltas = (events: Sent[]) => events.filter(({ type }) => type === 'text-delta').map(({ delta }) => delta).join('')

const look = (nth: number): Plan =>
  nth === 0 ? { text: 'Looking. ', toolCalls: [LOOK] } : nth === 1 ? { text: WORDS, partMs: 60 } : { text: WORDS }

for (const protocol of ['documented', 'ui'] as const) {
  t.test(`a run that a kill cuts is shown as far as it came, and goes on when its readers come back, in ${protocol}`, async (t) => {
    const { gateway, get, json, post, replay, killAt } = await lives(t, look)
    const messages = protocol === 'ui' ? [user('look')] : [{ role: 'user', content: 'look' }]
    const { runId } = await killAt('word20 ', '/run', { id: 'chat', messages, resumable: true })

    const cut = await json('/threads/chat')
    t.equal(cut.status, 'idle')
    const partsOf = ({ messages }: any) => messages.slice(1).flatMap(({ parts, content }: any) => parts ?? content)
    const textIn = (parts: any[]) => parts.map((part: any) => part.type === 'text' ? part.text : '').join('')
    t.match(textIn(partsOf(cut)), /^Looking\. word0 word1 word2 /, 'the text of at least a second is there')
    const stopped = { reason: 'interrupted', text: /service ended/ }
    const [, shown] = (await json('/threads/chat?protocol=ui')).messages
    t.match([shown.metadata, shown.parts.at(-1)], [{ runId, finishReason: 'other', stopped }, { type: 'data-stopped', data: stopped }])
    t.equal(gateway.requests.length, 2, 'no model is asked before a reader comes back')

    const [one, another] = await Promise.all([replay('chat'), replay(runId)])
    t.equal(deltas(one), `Looking. ${WORDS.join('')}`)
    t.same(one.filter(({ type }) => type === 'start' || type === 'finish' || type === 'error').map(({ type }) => type), ['start', 'finish'])
    t.equal(deltas(another), deltas(one), 'in another tab, too')
    t.equal(gateway.requests.length, 3, 'the call that was cut is made again, once')
    t.same(gateway.requests[2].body.prompt, gateway.requests[1].body.prompt, 'with the same prompt')
    const whole = partsOf(await json('/threads/chat'))
    t.equal(textIn(whole), deltas(one), 'the thread holds the same')
    t.notMatch(await get('/threads/chat?protocol=ui'), { text: /stopped/ }, 'and was not cut')
    t.equal(whole.filter(({ type }: any) => protocol === 'ui' ? /^tool-/.test(type) : type === 'tool-result').length, 1)
    t.match((await json('/runs')).runs, [{ runId, status: 'completed', attempts: 2 }])
    t.equal((await get('/run/chat/stream')).status, 204)
    const { events } = await post({ id: 'chat', message: protocol === 'ui' ? user('go on', 'u2') : { role: 'user', content: 'go on' } })
    t.match(events.at(-1), { type: 'finish' })
  })
}

for (const [answers, second, dropped] of [['the same', 1, []], ['another', 2, [['text-1']]]] as const) {
  t.test(`a client that reads on after a kill has the text of the thread, also when the model gives ${answers} answer`, async (t) => {
    const words = (nth: number) => WORDS.map((word) => `${nth}${word}`)
    const { url, json, kill } = await lives(t, (nth) => nth === 0 ? { text: words(1), partMs: 60 } : { text: words(second) })
    const run = createAgent({ url }).run({ id: 'chat', prompt: 'go' })
    let text = ''
    const retries: string[][] = []
    for await (const event of run) {
      if (event.type === 'text-delta') text += event.content
      if (event.type === 'data-retry') {
        retries.push(event.data.dropped)
        text = ''
      }
      if (event.type === 'text-delta' && event.content === '1word20 ') await kill()
    }
    const { messages: [, { content }] } = await json('/threads/chat')
    t.same([text, (await run.result()).text], Array(2).fill(words(second).join('')))
    t.same([content, (await run.result()).messages[0].content], Array(2).fill([{ type: 'text', text }]))
    t.same(retries, dropped)
  })
}

t.test('a run that was cut is over when the user says something else, and one of a client of /v1 at once', async (t) => {
  const { gateway, post, replay, killAt } = await lives(t, look)
  const { runId } = await killAt('word5 ', '/run', { id: 'chat', messages: [{ role: 'user', content: 'look' }] })
  await post({ id: 'chat', message: { role: 'user', content: 'something else' } })
  t.equal(gateway.requests.length, 3)
  t.match((await replay(runId)).slice(-2), [{ type: 'error', code: 'ERR_INTERRUPTED', errorText: /service ended/ }, { type: 'finish' }])

  const v1 = await lives(t, look)
  const body = { model: 'test/model', stream: true, messages: [{ role: 'user', content: 'look' }] }
  const { runId: ofCaller } = await v1.killAt('word5 ', '/v1/chat/completions', body)
  t.match((await v1.replay(ofCaller)).at(-2), { type: 'error', code: 'ERR_INTERRUPTED' })
  t.equal(v1.gateway.requests.length, 2)
})

t.test('a run that was cut three times has ended', async (t) => {
  const { gateway, get, json, killAt } = await lives(t, (nth) => nth === 0 ? look(0) : { text: WORDS, partMs: 60 })
  const { runId } = await killAt('word5 ', '/run', { id: 'chat', messages: [{ role: 'user', content: 'look' }], resumable: true })
  for (const nth of [2, 3]) {
    await killAt('word5 ', '/run/chat/stream')
    t.equal(gateway.requests.length, nth + 1)
  }
  const whole = (await get('/run/chat/stream')).text
  t.match(whole, /"ERR_INTERRUPTED".*\n.*\n\n.*"finish"/)
  const blocks = whole.split('\n\n')
  for (const n of [1, 4, blocks.length - 3]) {
    const id = /\nid: (.*)/.exec(blocks[n])![1]
    t.equal((await get('/run/chat/stream', { 'last-event-id': id })).text, blocks.slice(n + 1).join('\n\n'), `behind ${blocks[n]}`)
  }
  t.equal(gateway.requests.length, 4)
  t.match((await json('/runs')).runs, [{ runId, status: 'interrupted' }])
})

t.test('a request that is sent again with its key after a kill gets its run to the end, and starts no other', async (t) => {
  const { gateway, cwd, json, post, killAt } = await lives(
    t,
    (nth) => nth === 0 ? { toolCalls: [command('printf a >> effects.log')] } : nth === 1 ? { text: WORDS, partMs: 60 } : { text: 'Again.' }
  )
  const body = { id: 'chat', messages: [{ role: 'user', content: 'go' }] }
  const key = { 'idempotency-key': 'order-4711' }
  const { runId } = await killAt('word20 ', '/run', body, key)
  const again = await post(body, key)
  t.equal(again.headers.get('x-run-id'), runId)
  t.match([textOf(again.events), again.events.at(-1)!.type], ['Again.', 'finish'])
  t.same([gateway.requests.length, effects(cwd), (await json('/runs')).runs.length], [3, 'a', 1])
  t.equal((await post({ ...body, cwd: '/' }, key)).status, 422)
  t.same((await post(body, key)).events, again.events, 'once more')
})

for (const [path, asked] of [
  ['/v1/chat/completions', { stream: true, messages: [{ role: 'user', content: 'go' }] }],
  ['/v1/responses', { input: 'go' }]
] as const) {
  t.test(`a retry of ${path} that names itself gets the run of the first try also after a kill`, async (t) => {
    const append = [command('printf a >> effects.log')]
    const begun = Promise.withResolvers<void>()
    const { gateway, cwd, json, ask, kill } = await lives(t, (nth) => {
      if (nth === 0) return { toolCalls: append }
      if (nth === 1) begun.resolve()
      return nth === 1 ? { text: WORDS, partMs: 60 } : nth === 2 ? { text: 'Again.' } : { toolCalls: append }
    })
    const body = { model: 'test/model', ...asked }
    const first = ask(path, body, 0).catch(() => undefined)
    await begun.promise
    await kill()
    t.equal(await first, undefined, 'the first try gets no answer')
    const [{ runId }] = (await json('/runs')).runs
    const second = await ask(path, body, 1)
    t.equal(second.runId, runId)
    t.match(second.text, /Again\./)
    t.same([gateway.requests.length, effects(cwd), (await json('/runs')).runs.length], [3, 'a', 1])
    const third = await ask(path, body, 2)
    t.match([third.runId, third.text], [runId, /Again\./])
    t.equal(gateway.requests.length, 3)
  })
}

t.test('a run that nobody comes back to keeps its finished steps', async (t) => {
  const { gateway, json, killAt } = await lives(
    t,
    (nth) => nth < 2 ? { text: `Step ${nth}. `, toolCalls: [LOOK] } : { text: WORDS, partMs: 60 }
  )
  await killAt('word5 ', '/run', { id: 'chat', messages: [{ role: 'user', content: 'look twice' }] })
  const { messages, usage } = await json('/threads/chat')
  t.same(messages.map(({ role }: any) => role), ['user', 'assistant', 'tool', 'assistant', 'tool'])
  t.ok(usage.inputTokens > 0, 'what it used is kept')
  t.equal(gateway.requests.length, 3)
})

t.test('a command that a kill cuts has an unknown outcome, of which the model is told, and never runs again', async (t) => {
  const { gateway, cwd, json, post, killAt } = await lives(t, (nth) =>
    [
      {
        toolCalls: ['printf a >> effects.log', 'printf b >> effects.log; echo x > .envrc; sleep 60', 'printf c >> effects.log'].map(command)
      },
      { text: 'I had better look.' }
    ][nth])
  const { said } = await killAt('tool-output-available', '/run', { id: 'chat', messages: [user('go')] }, {}, appears(cwd, '.envrc'))
  t.match(parseEvents(said).filter(({ type }) => type === 'tool-output-available').length, 1)
  const done = effects(cwd)
  t.equal(done, 'ab')

  const [, answer] = (await json('/threads/chat')).messages
  t.match(answer.parts.slice(1), [
    { state: 'output-available' },
    { state: 'output-error', errorText: /Outcome unknown/ },
    { state: 'output-error', errorText: /Not carried out/ }
  ])
  const [{ runId, toolCalls }] = (await json('/runs')).runs
  const calls = [{ status: 'completed' }, { status: 'error', error: /Outcome unknown/ }, { status: 'pending', begun: undefined }]
  t.match([toolCalls, (await json(`/runs/${runId}`)).toolCalls], [calls, calls])

  // The client's own copy holds no outcome at all.
  await post({ id: 'chat', messages: [user('go'), { id: 'a', role: 'assistant', parts: [] }, user('and?', 'u2')] })
  const told = JSON.stringify(gateway.requests[1].body.prompt)
  t.match(told, /printf a[^"]*"?[^.]*was carried out/)
  t.match(told, /outcome is unknown/i)
  t.equal(effects(cwd), done)
  if (process.platform !== 'linux') return
  // What it left is in force for nobody, and the user hears of it.
  t.same(['.envrc', '.envrc.boxed'].map((name) => existsSync(`${cwd}/${name}`)), [false, true])
  t.match((await json('/notifications')).notifications, [
    { kind: 'boxed', text: /The service ended while a command ran in .*\.envrc is now \.envrc\.boxed\./ }
  ])
})

t.test('after a restart a reader is told so first, and a run that was cut is interrupted', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const at = { home: `${dir}/home`, cwd: `${dir}/work` }
  const first = await startService(t, at)
  const reader = await readEvents(t, first.url)
  const body = JSON.stringify({ id: 'chat', resumable: true, messages: [{ role: 'user', content: 'write "x" to a.txt' }] })
  const run = async (url: string) =>
    (await fetch(`${url}/run`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).text()
  await run(first.url)
  const { runId, approvalId } = await reader.until('approval:open')
  await first.stop('SIGKILL')
  await reader.ended()

  const second = await startService(t, at)
  const tasks = await tasksOf(t, second)
  const again = await readEvents(t, second.url, { headers: { 'last-event-id': reader.lastId()! } })
  const list = async (query: string) => (await (await fetch(`${second.url}/runs${query}`)).json() as any).runs
  t.match(await list('?threadId=chat'), [{ runId, status: 'pending_approval', questions: [{ approvalId }] }])
  await fetch(`${second.url}/approvals/${approvalId}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ approved: true })
  })
  await again.until('run:end')
  t.same(again.types(), ['reset', 'approval:closed', 'run:start', 'run:end'])
  t.match(again.events, [{ reason: 'restarted' }, { approvalId, runId }, { runId }, { runId, status: 'completed' }])

  const task = await tasks.create('run `sleep 60`')
  await tasks.post(`/${task.id}/start`)
  const { runId: cut } = await again.until('run:start', { taskId: task.id })
  t.match(await second.stop(), { code: 0 })
  await again.ended()
  t.equal(again.types().at(-1), 'service:shutdown')

  const third = await startService(t, at)
  const last = await readEvents(t, third.url, { query: `?after=${again.lastId()}&taskId=${task.id}` })
  await (await tasksOf(t, third)).post(`/${task.id}/cancel`)
  t.match(await last.until('run:end'), { runId: cut, status: 'cancelled' })
  t.equal(last.types()[0], 'reset')
  await third.stop()
})
