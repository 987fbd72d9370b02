import { writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { answer, asked, say } from '../harness/agent.ts'
import { anthropicCall, cachedShare, commonParts, gatewayCall, type CachedCall } from '../harness/cached-prefix.ts'
import { connect, misbehaving } from '../harness/mcp.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { withNative } from '../harness/with-native.ts'

const MODEL = 'anthropic/claude-sonnet-5.5'
const STEPS = 6
const read = (n: number): Plan => ({ toolCalls: [{ toolName: 'readFile', input: { path: `file-${n}.txt` } }] })
const write: Plan = { toolCalls: [{ toolName: 'writeFile', input: { path: 'new.txt', content: 'x' } }] }
/** A whole picture, behind which further bytes may stand. */
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJgggAA'
const image = (nth: number): Plan =>
  ({ toolCalls: [{ toolName: 'image', input: { characters: 40_000 + 4 * nth, begins: PNG } }] })

type Reply = (nth: number) => Plan

/** A service with Claude as its model, and the calls of the model in the order in which it reads them. */
type Made = { app: App & { cwd: string, home: string }, calls: () => CachedCall[] }
type Settings = { config?: object, [name: string]: unknown }

async function throughGateway (t: Test, reply: Reply, { config = {}, ...settings }: Settings = {}): Promise<Made> {
  const { app, gateway } = await withGateway(t, (_request, nth) => reply(nth), { config: { model: MODEL, ...config }, ...settings })
  return { app, calls: () => gateway.requests.filter(({ streaming }) => streaming).map(({ sent }) => gatewayCall(sent)) }
}

async function directly (t: Test, reply: Reply, { config = {}, ...settings }: Settings = {}): Promise<Made> {
  const wire = NATIVE_WIRES.find(({ kind }) => kind === 'anthropic')!
  const { app, bodies } = await withNative(t, wire, (_request, nth) => reply(nth), { config, ...settings })
  return { app, calls: () => bodies().map(anthropicCall) }
}

function isContinued (t: Test, calls: CachedCall[]) {
  for (const [at, before] of calls.slice(0, -1).entries()) {
    t.equal(commonParts(before, calls[at + 1]), before.parts.length, `call ${at + 1} begins with the whole of call ${at}`)
  }
}

for (const [name, start] of Object.entries({ throughGateway, directly })) {
  t.test(`every call of a run begins with the whole call before, and caching is asked for: ${name}`, async (t) => {
    const { app, calls } = await start(
      t,
      (nth) => nth < STEPS ? read(nth) : { text: 'done' },
      { config: { agent: { steps: { conversation: STEPS } } } }
    )
    for (let n = 0; n < STEPS; n++) writeFileSync(`${app.cwd}/file-${n}.txt`, 'The sea has many voices.\n'.repeat(400))
    await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
    await say(app, 'Read all the files.', { id: 'chat' })

    t.equal(calls().length, STEPS + 1)
    t.match(calls().at(-1)!.parts.at(-1), 'used all your steps')
    isContinued(t, calls())
    for (const { marks } of calls()) t.ok(marks.length > 0)
    const share = cachedShare(calls())
    t.ok(share.all > 0.6 && share.last > 0.8, JSON.stringify(share))

    await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'And now?' } } })
    const [last, next] = calls().slice(-2)
    t.equal(
      commonParts(last, next),
      last.parts.length - 1,
      'a follow-up goes on where the run ended, but for what only the last call is told'
    )
  })

  t.test(`a run that goes on after an approval and a restart is told the same: ${name}`, async (t) => {
    const reply: Reply = (nth) => [read(0), write, { text: 'done' }][nth]
    const { app, calls } = await start(t, reply)
    const { events } = await say(app, 'Read and write.', { id: 'chat' })
    await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes coffee' } })
    await app.close()
    const again = await start(t, () => reply(2), { home: app.home, cwd: app.cwd })
    await answer(again.app, { [asked(events)[0]]: true })
    isContinued(t, [...calls(), ...again.calls()])
  })

  t.test(`old images are left out in blocks: ${name}`, async (t) => {
    const { app, calls } = await start(t, (nth) => nth < 20 ? image(nth) : { text: 'done' })
    await connect(app, misbehaving('camera', [], { approval: 'never' }))
    await say(app, 'Look.')
    t.equal(calls().length, 21)
    const breaks = calls().slice(1).filter((call, at) => commonParts(calls()[at], call) < calls()[at].parts.length)
    t.equal(breaks.length, 2)
    t.ok(cachedShare(calls()).all > 0.6)
  })
}

t.test('what changes between runs stands behind what stays: memory, and what the user denied', async (t) => {
  const { app, calls } = await throughGateway(t, (nth) => [{ text: 'hi' }, write, read(0), { text: 'ok' }][nth])
  await say(app, 'One.', { id: 'one' })
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
  const { events } = await say(app, 'Two.', { id: 'two' })
  await answer(app, { [asked(events)[0]]: false })
  const [one, two, denied, last] = calls()
  const tools = one.parts.findIndex((part) => part.includes('"system"'))
  t.ok(tools > 5)
  t.equal(commonParts(one, two), tools + 1, 'tools and instructions are the same')
  t.match(two.parts[tools + 1], 'Likes tea')
  t.equal(commonParts(two, denied), two.parts.length, 'nothing before it changes')
  t.match(denied.parts.at(-1), /denied these calls.*writeFile/)
  t.equal(commonParts(denied, last), denied.parts.length, 'the list stays where it is')
  t.match(last.parts.at(-1), /readFile/)
})

t.test('the runs of a task are told the same up to what changes from run to run, and each call of a run goes on where the one before ' +
  'ended', async (t) => {
  const { app, calls } = await throughGateway(t, (nth) => nth % 3 < 2 ? read(nth % 3) : { text: 'I read the files.' })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('read the files', { taskType: 'triggered', plan: { phases: [{ description: 'read' }] } })
  for (const runNumber of [1, 2]) {
    await tasks.post(`/${id}/run`)
    await events.until('task:complete', { runNumber })
  }
  t.equal(calls().length, 6)
  isContinued(t, calls().slice(0, 3))
  isContinued(t, calls().slice(3))
  const [first, second] = [calls()[0], calls()[3]]
  const system = first.parts.findIndex((part) => part.includes('"system"'))
  t.equal(commonParts(first, second), system + 2)
})

t.test("the user's own options win", async (t) => {
  const { app, calls } = await throughGateway(t, () => ({ text: 'hi' }), { config: { providerOptions: { gateway: { caching: 'off' } } } })
  await say(app, 'One.')
  t.same(calls()[0].marks, [])
})
