import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { answer, asked, of, say } from '../../harness/agent.ts'
import { heldClock } from '../../harness/clock.ts'
import { run } from '../../harness/mcp-calls.ts'
import { connect, detail, misbehaving, statuses, until } from '../../harness/mcp.ts'
import { textOf } from '../../harness/sse.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { alive, allGone } from '../process/alive.ts'

type Call = { toolName: string, input: object }
const call = (toolName: string, input: object = {}): Call => ({ toolName, input })

/** A service with the server `odd` and the well-behaved `good`; each `turn` is a run with these calls, one a step. */
async function setUp (t: Test, options: string[] = []) {
  const { clock, pass } = heldClock()
  let plan: Call[] = []
  const { app, gateway } = await withGateway(t, () => plan.length > 0 ? { toolCalls: [plan.shift()!] } : { text: 'and on' }, { clock })
  await connect(app, misbehaving('odd', options, { approval: 'never' }))
  await connect(app, misbehaving('good', [], { approval: 'never' }))
  async function turn (...calls: Call[]) {
    plan = calls
    const { events } = await say(app, 'go')
    const results = of(events, 'tool-output-available').map(({ output }) => output)
    const outputs = results.map(({ content }) => content)
    const errors = [...of(events, 'tool-output-error'), ...of(events, 'tool-input-error')].map(({ errorText }) => errorText)
    t.equal(textOf(events), 'and on', 'the run goes on')
    return { results, outputs, errors, notes: results.map(({ note, content }) => note ?? content?.at(-1)?.text) }
  }
  /** The process id of a server. */
  const pid = async (tool: string) => Number((await turn(call(tool))).outputs[0][0].text)
  const good = async (said = 'still here') => {
    t.match((await turn(call('good_echo', { message: said }))).outputs, [[{ text: said }]], 'another server is unaffected')
  }
  return { app, gateway, pass, turn, pid, good }
}

t.test('a server that crashes during a call is an error of that call, and comes back', async (t) => {
  const { app, pass, turn, pid, good } = await setUp(t)
  const before = await pid('pid')
  const crashed = turn(call('crash'), call('echo', { message: 'heard after the restart' }))
  await until(app, 'odd', 'disconnected')
  t.match(await detail(app, 'odd'), { status: 'disconnected', error: /it ended with exit code 3/ })
  t.ok(app.tools.offered().some(({ model }) => model.name === 'echo'), 'its tools are offered meanwhile, and nobody else gets their names')
  await pass(1_000)
  const { errors, outputs } = await crashed
  t.match(errors, [/lost during the call: it ended with exit code 3/])
  t.match(outputs, [[{ text: 'heard after the restart' }]], 'a call in the moment before the restart waits for it')
  await good()
  await until(app, 'odd', 'connected')
  const after = await pid('pid')
  t.not(after, before)
  await turn(call('crash'))
  await pass(2_000)
  await until(app, 'odd', 'connected')
  t.pass('a second time in a row it waits longer')
  t.notOk(alive(before) || alive(after))
})

t.test('a call that is approved while its server is started again waits for it', async (t) => {
  const { clock, pass } = heldClock()
  const reply = (_request: unknown, nth: number) => nth === 0 ? { toolCalls: [call('echo', { message: 'approved' })] } : { text: 'on' }
  const { app } = await withGateway(t, reply, { clock })
  await connect(app, misbehaving('odd', [], { approval: ['echo'] }))
  const [id] = asked((await say(app, 'go')).events)
  const { output } = await app.tools.execute(run(app, 'pid')) as any
  process.kill(Number(output.content[0].text), 'SIGKILL')
  await until(app, 'odd', 'disconnected')
  const approved = answer(app, { [id]: true })
  await pass(1_000)
  t.match(of((await approved).events, 'tool-output-available'), [{ output: { content: [{ text: 'approved' }] } }])
})

t.test('a call that hangs is given up and cancelled, and a server that answers nothing more is replaced', async (t) => {
  const { app, pass, turn, pid, good } = await setUp(t)
  const before = await pid('pid')
  const told = async (line: RegExp) => {
    while (!line.test((await detail(app, 'odd')).stderr)) await new Promise((resolve) => setTimeout(resolve, 10))
  }
  const hanging = turn(call('hang'))
  await told(/hang began/)
  await pass(60_000)
  t.match((await hanging).errors, [/hang took longer than 60000 ms and was stopped/])
  await told(/cancelled \d/)
  t.equal(await pid('pid'), before, 'the server was told, lives on, and what it says too late is not heard')

  const deaf = turn(call('deaf'))
  await told(/deaf began/)
  await pass(60_000)
  t.match((await deaf).errors, [/took longer/])
  await good()
  await pass(10_000)
  await allGone([before])
  await pass(1_000)
  await until(app, 'odd', 'connected')
  t.not(await pid('pid'), before)
})

t.test('noise, nonsense and answers that are too large or too deep cost nobody else anything', async (t) => {
  const { app, turn, pid, good } = await setUp(t)
  const before = await pid('pid')
  const { errors, outputs, notes } = await turn(
    call('chatter'),
    call('fail'),
    call('big', { bytes: 2_000_000 }),
    call('big', { bytes: 9_000_000 }),
    call('image', { characters: 6_000_000 }),
    call('deep'),
    call('poison'),
    call('big', { bytes: 1_000_000 }),
    call('image', { characters: 2_000_000 })
  )
  t.match(errors, ['it did not work'])
  t.match(notes.slice(1, 5), [
    /larger than 1 MiB \(20000\d\d bytes\) and was cut. The call was made/,
    /larger than 8 MiB. This is its beginning/,
    /images of the result were larger than 5 MiB/,
    /nested deeper than 128/
  ])
  t.match(outputs[0], [{ text: 'heard anyway' }])
  t.equal(outputs[6][0].text.length, 1_000_000, 'what is allowed comes whole')
  t.equal(outputs[7][0].data.length, 2_000_000)
  t.equal(({} as any).polluted, undefined)
  t.match((await detail(app, 'odd')).stderr, /\(stdout\) not JSON\n\(stdout\) \{"half":\n/)
  t.equal(await pid('pid'), before, 'it is still the same process')
  await good()
})

t.test('a server that writes without end is stopped before it fills the memory', async (t) => {
  const { app, pass, turn, pid, good } = await setUp(t)
  const before = await pid('pid')
  global.gc?.()
  const used = process.memoryUsage().rss
  t.match((await turn(call('flood'))).errors, [/it wrote 64 MiB without ending a line/])
  t.ok(process.memoryUsage().rss - used < 48 * 1024 * 1024, `${process.memoryUsage().rss - used} bytes more`)
  await allGone([before])
  await good()
  await pass(1_000)
  await until(app, 'odd', 'connected')
})

t.test('a server that writes answers without end that nobody asked for is stopped', async (t) => {
  const { turn, good } = await setUp(t)
  t.match((await turn(call('answers', { bytes: 1_000_000 }))).errors, [/it wrote more than 64 MiB in a minute without being asked/])
  await good()
})

t.test('what a server has started ends with it', { skip: process.platform !== 'linux' }, async (t) => {
  const { app, turn } = await setUp(t)
  const [[{ text }]] = (await turn(call('fork'))).outputs
  t.ok(alive(Number(text)))
  t.equal((await app.inject({ method: 'DELETE', url: '/mcp/odd' })).statusCode, 200)
  t.notOk(alive(Number(text)))
})

t.test('a thousand tools are found and called, those beyond are left out, and it is said', async (t) => {
  const { app, gateway, turn } = await setUp(t, ['--many=1100'])
  t.same(await statuses(app), { odd: 'connected', good: 'connected' })
  const { tools, warnings } = await detail(app, 'odd')
  t.equal(tools.length, 1_000)
  t.match(warnings, [/offers 11\d\d tools; the first 1000 are used/])
  const last = tools.at(-1)
  t.match((await turn(call(last))).outputs, [[{ text: last.replace('tool-', '') }]])
  const [found] = (await turn(call('findTools', { query: last }))).results
  t.match(found.tools, [{ name: last }], 'the last of them is found')
  const described: string[] = gateway.requests[0].body.tools.map(({ name }: { name: string }) => name)
  t.same(described.filter((name) => name.startsWith('tool-')), [], 'so many are not described')
  t.ok(described.includes('findTools') && described.includes('useTool'), 'but found')
})

t.test('a server that takes its time is waited for, one that never answers is not', async (t) => {
  const { clock, pass } = heldClock()
  const { app } = await withGateway(t, () => ({ text: 'ok' }), { clock })
  const mute = connect(app, misbehaving('mute', ['--mute']))
  const slow = connect(app, misbehaving('slow', ['--delay=300']))
  t.equal((await slow).statusCode, 200)
  t.match((await app.inject('/mcp/servers')).json().servers, [
    { name: 'slow', status: 'connected', connecting: undefined, unsaved: undefined },
    { name: 'mute', status: 'connecting', connecting: { since: Number, limitMs: 60_000 }, unsaved: true }
  ])
  const hasty = connect(app, misbehaving('hasty', ['--mute'], { connectMs: 5_000 }))
  await pass(5_000)
  t.match((await hasty).json(), { statusCode: 502, error: /it did not answer within 5 s/ })
  await pass(60_000)
  t.match((await mute).json(), { statusCode: 502, error: /it did not answer within 60 s/ })
  t.same(await statuses(app), { slow: 'connected' })
})

t.test('waits grow up to a minute', async (t) => {
  const { clock, pass } = heldClock()
  const { app } = await withGateway(t, () => ({ text: 'ok' }), { clock, config: { mcp: [{ name: 'no', command: '/no/such/program' }] } })
  await app.mcp.start()
  for (const wait of [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]) {
    await pass(wait)
    await until(app, 'no', 'failed')
  }
  t.match(await detail(app, 'no'), { status: 'failed', error: /exit code 127/, stderr: /not found/ })
})

t.test('a client that leaves while a server is being connected takes it along', async (t) => {
  const { app } = await withGateway(t, () => ({ text: 'ok' }))
  const leaving = new AbortController()
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  const here = `${app.cwd}/here`
  const request = fetch(`${url}/mcp/connect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(misbehaving('odd', ['--mute', `--here=${here}`])),
    signal: leaving.signal
  })
  while (!existsSync(here) || readFileSync(here, 'utf8') === '') await new Promise((resolve) => setTimeout(resolve, 10))
  leaving.abort()
  await t.rejects(request)
  await allGone([Number(readFileSync(here, 'utf8'))])
  t.same(await statuses(app), {})
  await app.close()
})
