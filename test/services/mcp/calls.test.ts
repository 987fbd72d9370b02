import { Writable } from 'node:stream'
import t from 'tap'
import { of, say } from '../../harness/agent.ts'
import { connect, detail, noting } from '../../harness/mcp.ts'
import { run } from '../../harness/mcp-calls.ts'
import { openRun, userSays } from '../../harness/reader.ts'
import { withGateway } from '../../harness/with-gateway.ts'

type Call = { toolName: string, input: object }
const call = (toolName: string, input: object = {}): Call => ({ toolName, input })

/** A service with the server `noting`; `turn` is a run with these calls, one a step, and returns its events of each type. */
async function setUp () {
  const lines: any[] = []
  const log = new Writable({
    write (chunk, _encoding, done) {
      lines.push(...String(chunk).trim().split('\n').map((line) => JSON.parse(line)))
      done()
    }
  })
  let planned: Call[] = []
  const { app, gateway } = await withGateway(t, () => planned.length > 0 ? { toolCalls: [planned.shift()!] } : { text: 'done' }, { log })
  const connected = await connect(app, noting(['--resources'], { env: { TOKEN: 'a-secret-of-the-user-1' } }))
  return {
    app,
    gateway,
    tools: connected.json().tools,
    logged: () => lines.filter(({ msg }) => /tool server (message|wrote)/.test(msg)),
    plan (...calls: Call[]) {
      planned = calls
    },
    async turn (...calls: Call[]) {
      planned = calls
      const { events } = await say(app, 'go')
      return {
        events,
        texts: of(events, 'tool-output-available').map(({ output }) => output.content?.[0].text),
        errors: of(events, 'tool-output-error').map(({ errorText }) => errorText),
        progress: of(events, 'tool-progress')
      }
    }
  }
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const { app, gateway, logged, plan, tools, turn } = await setUp()

t.test('progress reaches the readers of the run: rarely, the newest first of all, shortened and without secrets', async (t) => {
  const message = `a-secret-of-the-user-1 ${'long '.repeat(200)}`
  const began = performance.now()
  const { progress, texts } = await turn(call('count', { notes: 1, message }), call('count', { notes: 20_000 }))
  const mostShown = (performance.now() - began) / 500 + 2
  t.strictSame(texts, ['counted 1', 'counted 20000'])
  const [one, ...many] = progress
  t.match(one, { toolName: 'count', toolCallId: String, progress: 1, total: 1, message: /^\[secret\] long/ })
  t.ok(one.message.length <= 500)
  t.match(many[0], { progress: 1, total: 20_000, message: undefined })
  t.ok(many.length < mostShown, `${many.length} of 20,000 are shown, one in half a second`)
  const thread = (await app.inject('/threads')).json().threads[0].id
  t.notMatch((await app.inject(`/threads/${thread}`)).body, /progress/, 'none is stored')
})

t.test('what has a default is filled in before the call, and what the server would take is not refused', async (t) => {
  const { events, texts } = await turn(
    call('fill', { path: 'a' }),
    call('fill', { path: 'a', depth: '7', more: 1, at: {} }),
    call('fill', { depth: 1 })
  )
  t.strictSame(of(events, 'tool-input-available').map(({ input }) => input), [
    { path: 'a', depth: 3 },
    { path: 'a', depth: '7', more: 1, at: { zone: 'UTC' } }
  ])
  t.strictSame(texts.map((text) => JSON.parse(text)), [{ path: 'a', depth: 3 }, { path: 'a', depth: '7', more: 1, at: { zone: 'UTC' } }])
  t.match(of(events, 'tool-input-error'), [{ errorText: /lacks the property "path"/ }])
})

t.test('what a server logs is in our log, with its level, bounded and without secrets', async (t) => {
  const { texts } = await turn(call('log', {
    messages: [
      { level: 'notice', logger: 'db', data: 'token a-secret-of-the-user-1' },
      { level: 'warning', data: { rows: 2 } },
      { level: 'emergency', data: 'x'.repeat(5_000) },
      { level: 'constructor' },
      ...Array.from({ length: 1_000 }, () => ({ level: 'info', data: 'again' }))
    ]
  }))
  t.strictSame(texts, ['logged from info on'], 'the server knows the level of our log')
  const lines = logged()
  t.equal(lines.length, 60)
  t.match(lines.slice(0, 4), [
    { level: 30, server: 'noting', logger: 'db', text: 'token [secret]' },
    { level: 40, text: '{"rows":2}' },
    { level: 50, text: 'x'.repeat(2_000) },
    { level: 30, text: '' }
  ])
  t.equal(lines[2].text.length, 2_000)
})

t.test('a tool that requires a task is run as one, with its status as progress, and cancelled when the run is stopped', async (t) => {
  t.ok(tools.includes('job'))
  const { texts, errors, progress } = await turn(
    call('job', { end: 'completed' }),
    call('job', { end: 'failed' }),
    call('job', { end: 'cancelled' })
  )
  t.strictSame(texts, ['the job is done'])
  t.strictSame(errors, ['the job failed', 'The tool server cancelled the call. no more'])
  t.match(progress[0], { toolName: 'job', progress: 1, message: 'begun' })

  plan(call('job', { end: 'never' }))
  const live = await openRun(app, userSays('go'))
  await live.says('tool-progress')
  live.hangUp()
  while (!/told to cancel never/.test((await detail(app, 'noting')).stderr)) await new Promise((resolve) => setTimeout(resolve, 10))
})

t.test('a tool that requires a task is not offered where its server runs none', async (t) => {
  const { tools } = (await connect(app, noting(['--no-tasks'], { name: 'plain' }))).json()
  t.strictSame(tools, ['count', 'log', 'fill'])
  t.match((await detail(app, 'plain')).warnings, [/"job" was left out: it runs only as a task/])
})

t.test('resources are listed in parts, with templates, and read: text in parts, pictures, sizes of the rest, no secrets', async (t) => {
  const listed = async (input: object) => of((await turn(call('listResources', input))).events, 'tool-output-available')[0].output.servers
  const [first] = await listed({})
  t.match(first, { server: 'noting', templates: [{ uriTemplate: 'note://{page}/{n}', name: 'a note' }], nextCursor: '50:' })
  t.equal(first.resources.length, 50)
  t.match(first.resources[0], { uri: 'note://0/0', name: 'note 0', description: /^x{300}$/ }, 'neither for the user nor without an address')
  const all = [...first.resources]
  for (let cursor = first.nextCursor; cursor !== undefined;) {
    const [{ resources, nextCursor, templates }] = await listed({ server: 'noting', cursor })
    t.equal(templates, undefined)
    all.push(...resources)
    cursor = nextCursor
  }
  t.equal(new Set(all.map(({ uri }) => uri)).size, 210)

  const read = async (input: object) => of((await turn(call('readResource', input))).events, 'tool-output-available')[0].output
  t.strictSame(await read({ uri: 'note://mixed' }), {
    server: 'noting',
    uri: 'note://mixed',
    content: [
      { type: 'resource', resource: { uri: 'note://mixed', text: 'one' } },
      { type: 'image', mimeType: 'image/png', data: PIXEL },
      { type: 'resource', resource: { uri: 'note://mixed', mimeType: 'application/zip', size: 13 } },
      { type: 'resource', resource: { uri: 'note://mixed', text: '[secret]' } }
    ]
  })
  const seen = gateway.requests.at(-1)!.body.prompt.at(-1).content[0].output
  t.match(seen, { type: 'content', value: [{ text: /note:\/\/mixed/ }, { type: 'file', mediaType: 'image/png' }] })
  let text = ''
  let parts = 0
  for (let offset: number | undefined = 0; offset !== undefined; parts++) {
    const { content, nextOffset } = await read({ uri: 'note://long', server: 'noting', offset })
    text += content.map(({ resource }: any) => resource.text).join('')
    offset = nextOffset
  }
  t.equal(text, 'a'.repeat(30_000) + 'b'.repeat(30_000) + 'ü'.repeat(30_000))
  t.ok(parts >= 3)
  const { errors } = await turn(
    call('readResource', { uri: 'note://nowhere' }),
    call('readResource', { uri: 'note://long', server: 'another' })
  )
  t.match(errors, ['no resource note://nowhere', /no connected tool server "another" with resources. The servers are: noting\./])
})

t.test('the tools for resources are there while a server has some, and ask where its user wants to be asked', async (t) => {
  const offers = () => app.tools.offered().filter(({ model: { name } }) => /Resource/.test(name)).map(({ model: { name } }) => name)
  t.strictSame(offers(), ['listResources', 'readResource'])
  t.equal(app.tools.permission('readResource'), 'allow')
  await connect(app, noting(['--resources', '2'], { name: 'careful', approval: 'always' }))
  t.equal(app.tools.permission('readResource'), 'ask')
  const unclear = await app.tools.execute(run(app, 'readResource', { uri: 'note://long' }))
  t.match(unclear, { errorText: /which server has the resource: noting, careful/ })
  for (const name of ['noting', 'careful']) await app.inject({ method: 'DELETE', url: `/mcp/${name}` })
  t.strictSame(offers(), [])
})
