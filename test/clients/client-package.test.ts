import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build as bundle } from 'esbuild'
import t from 'tap'
import { createAgent, type FromSchema, health } from '../../client/index.ts'
import { connect, findService } from '../../client/node.ts'
import { fakeService, json } from '../harness/fake-service.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url))

t.test('the client has no module of Node, and uses no global that browsers lack', async (t) => {
  const { outputFiles: [{ text }], metafile } = await bundle({
    entryPoints: [path('client/index.ts')],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    write: false,
    metafile: true
  })
  t.notMatch(text, /\b(?:process|Buffer|require|global|setImmediate)\b[.(]/)
  t.same(Object.keys(metafile.inputs).filter((input) => !input.startsWith('client/')), [], 'it is made of the client alone')
})

t.test('the service is found by its variable, else by the file of its instance', async (t) => {
  const home = t.testdir({})
  t.same(findService({ LOCAL_AGENT_URL: 'http://127.0.0.1:3001/', LOCAL_AGENT_TOKEN: 'x', LOCAL_AGENT_HOME: home }), {
    url: 'http://127.0.0.1:3001',
    token: 'x'
  })
  const missing = { name: 'AgentError', code: 'ERR_NO_SERVICE', message: /No service runs here.*instance\.json.*LOCAL_AGENT_URL/ }
  t.throws(() => findService({ LOCAL_AGENT_HOME: home }), missing)
  t.throws(() => findService({ LOCAL_AGENT_HOME: `${home}/none`, LOCAL_AGENT_URL: '' }), missing)
  t.throws(() => findService({ LOCAL_AGENT_URL: 'file:///etc/passwd' }), { code: 'ERR_NO_SERVICE', message: /no http address/ })

  writeFileSync(`${home}/instance.json`, '{"url":"http://127.0.0.1:4711","pid":1,"version":"0.1.0","startedAt":1}\n')
  t.same(findService({ LOCAL_AGENT_HOME: home }), { url: 'http://127.0.0.1:4711', token: undefined })
  for (const text of ['{"url', '{"url":"javascript:1"}', '{}', 'null']) {
    writeFileSync(`${home}/instance.json`, text)
    t.throws(() => findService({ LOCAL_AGENT_HOME: home }), { name: 'AgentError', code: 'ERR_NO_SERVICE' }, text)
  }
})

t.test('connecting asks whether the service answers, and says so when it does not', async (t) => {
  const url = `http://127.0.0.1:${await listen(await build(t, { token: 'the-token' }))}`
  const agent = await connect({ url, token: 'the-token' })
  t.equal((await agent.run({ prompt: 'hello' }).result()).finishReason, 'stop')
  await t.rejects(connect({ url: 'http://127.0.0.1:1' }), { code: 'ERR_NO_SERVICE', message: /does not answer.*local-agent/ })
})

t.test('connect waits for a service that is starting', async (t) => {
  const home = t.testdir({})
  let asked = 0
  const service = await fakeService(t, (_request, response) => json(response, {}, ++asked === 1 ? 503 : 200))
  const before = { ...process.env }
  t.teardown(() => {
    process.env = before
  })
  process.env = { ...before, LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '' }
  await t.rejects(connect(), { code: 'ERR_NO_SERVICE' }, 'unless it was asked to, it does not')
  const connected = connect({ waitMs: 60_000 })
  writeFileSync(`${home}/instance.json`, JSON.stringify({ url: service.url }))
  await connected
  t.equal(asked, 2, 'it was not ready at first')
})

t.test('what a Node is too old for says so', async (t) => {
  for (const module of ['client/node', 'supervisor/index']) {
    const load = `delete Promise.withResolvers; import(${JSON.stringify(new URL(`../../${module}.ts`, import.meta.url))})`
    const said = execFileSync(process.execPath, ['-e', `${load}.catch(({ message }) => console.log(message))`], { encoding: 'utf8' })
    t.match(said, /needs Node 22\.18 or newer; .* is Node \d/, module)
  }
})

t.test('connect follows the service of a folder to the address of its next start', async (t) => {
  const home = t.testdir({})
  const start = () => fakeService(t, (_request, response) => json(response, {}))
  const [first, second] = [await start(), await start()]
  const publish = ({ url }: { url: string }) => writeFileSync(`${home}/instance.json`, JSON.stringify({ url }))
  const before = { ...process.env }
  t.teardown(() => {
    process.env = before
  })
  process.env = { ...before, LOCAL_AGENT_HOME: home, LOCAL_AGENT_URL: '' }
  publish(first)
  const { client } = await connect()
  publish(second)
  await health({ client })
  rmSync(`${home}/instance.json`)
  await health({ client })
  t.same([first.received.length, second.received.length], [1, 2])
})

t.test('the answer of a run has the type of its schema', async () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'integer' } }, mood: { enum: ['good', 'bad'] } },
    required: ['city', 'mood']
  } as const
  const same = <A, B>(_is: (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false) => {}
  type Answer = { [K in keyof FromSchema<typeof schema>]: FromSchema<typeof schema>[K] }
  same<Answer, { city: string, mood: 'good' | 'bad', days?: number[] }>(true)
  const read = async () => (await createAgent().run({ prompt: '', schema }).result()).object?.city satisfies string | undefined
  void read
})
