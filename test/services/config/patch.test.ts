import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import fc from 'fast-check'
import t from 'tap'
import type { ConfigPatch } from '../../../schemas/config-patch.ts'
import { type Config, ConfigKeys } from '../../../schemas/config.ts'
import { merge, requireOpen } from '../../../services/config/config-patch.ts'
import { openConfig } from '../../../services/config/config.ts'
import { copies, home, modeOf } from '../../harness/config-home.ts'

t.test('a patch merges objects, replaces lists, removes by null, and keeps all else and its order', async (t) => {
  const { dir, read } = home(t, JSON.stringify({
    zeta: [1],
    permissions: { readFile: 'allow', '*': 'ask' },
    agent: { runMs: 5_000, steps: { task: 9 } },
    roots: ['/a', '/b'],
    mine: { b: null }
  }))
  const config = await openConfig({ dir, hasToken: true })
  const patch: ConfigPatch = { permissions: { cart: 'allow' }, agent: { steps: null }, roots: ['/c'], analysis: false, model: null }
  t.same(await config.patch(patch), { restart: [] })
  t.equal(read(), JSON.stringify({
    zeta: [1],
    permissions: { readFile: 'allow', '*': 'ask', cart: 'allow' },
    agent: { runMs: 5_000 },
    roots: ['/c'],
    mine: { b: null },
    analysis: false
  }, null, 2) + '\n')
  t.same((await openConfig({ dir })).current, config.current)
  t.same(await config.patch({ port: 3_050 }), { restart: ['port'] })
  t.same(await config.patch({ port: 3_050 }), { restart: [] }, 'nothing changes')
})

t.test('patches at once are all kept, and none overwrites what the user has written meanwhile', async (t) => {
  const { dir, file, read } = home(t, '{"port":1}')
  const config = await openConfig({ dir, hasToken: true })
  const permissions = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`tool${n}`, 'allow' as const]))
  writeFileSync(file, '{"port":1,"workspace":"/tmp","brain":{"extractAfter":"soon"}}')
  const answers = await Promise.all(Object.keys(permissions).map((name) => config.patch({ permissions: { [name]: 'allow' } })))
  t.match(answers[0].problem, /"brain.extractAfter"/, 'says what else is wrong')
  t.same(JSON.parse(read()), { port: 1, workspace: '/tmp', brain: { extractAfter: 'soon' }, permissions })
  t.same(config.current, { port: 1, workspace: '/tmp', permissions })

  writeFileSync(file, '{"port":1,')
  await t.rejects(config.patch({ port: 2 }), { code: 'ERR_CONFIG_UNREADABLE', message: /not changed, because it is not JSON/ })
  t.equal(read(), '{"port":1,', 'the user is still writing')
  t.same(copies(dir), [])
  t.same(config.current.permissions, permissions)
})

t.test('a patch that would make a key invalid names it and changes nothing', async (t) => {
  // eslint-disable-next-line no-template-curly-in-string
  const { dir, read } = home(t, '{"notify":{"webhook":{"url":"https://a.example","secret":"${HOOK}"}}}')
  const config = await openConfig({ dir, hasToken: true })
  const before = read()
  for (
    const [patch, code, message] of [
      [{ model: 'nonsense' }, 'ERR_CONFIG_INVALID', /"model" must be `<provider>\/<model>`/],
      [{ permissions: { cart: 'maybe' as never } }, 'ERR_CONFIG_INVALID', /"permissions.cart" must be one of allow, ask, deny/],
      [{ notify: { webhook: { url: null } } }, 'ERR_CONFIG_INVALID', /"notify.webhook" needs the field "url"/],
      [{ reach: { host: '0.0.0.0' } }, 'ERR_CONFIG_INVALID', /"reach.host" .* needs HTTPS in front/],
      [{ mcp: [{ name: 'a b', command: 'x' }] }, 'ERR_CONFIG_INVALID', /"mcp/],
      [{ providers: { mine: { models: [] } } }, 'ERR_CONFIG_INVALID', /"providers.mine" needs the field "baseURL"/],
      [{ search: { provider: 'brave', apiKey: '••••' } }, 'ERR_INVALID_REQUEST', /"search.apiKey" holds/],
      [{ mcp: [{ name: 'a', command: 'x', env: { KEY: '••••' } }] }, 'ERR_INVALID_REQUEST', /"mcp.0.env.KEY" holds/]
    ] as Array<[ConfigPatch, string, RegExp]>
  ) await t.rejects(config.patch(patch), { code, message }, JSON.stringify(patch))
  t.equal(read(), before)
})

/** Values of keys that are more than a harmless setting, of all keys. */
const GUARDED: ConfigPatch = {
  mcp: [],
  mcpServers: {},
  mcpClientMetadataUrl: 'https://x.example/client',
  skills: { folders: [] },
  servers: {},
  workspace: '/tmp',
  engine: '/tmp/program',
  port: 1,
  providerOptions: { anthropic: {} },
  notify: { webhook: null },
  reach: { port: 1 },
  discovery: { ports: [] },
  fetch: { allowPrivate: true },
  permissions: { cart: 'allow' },
  commands: { sandbox: 'off' },
  roots: [],
  allowedOrigins: [],
  undo: { days: 1 },
  awake: false
}
const OPEN: ConfigPatch = {
  model: 'a/b',
  models: { fast: 'a/b' },
  contextWindows: { a: 5_000 },
  prices: { a: { input: 1, output: 1 } },
  budget: { day: { usd: 1 } },
  providers: { a: { models: ['m'], timeouts: { idleMs: 5_000 } } },
  gateway: { timeouts: null },
  search: { provider: 'duckduckgo' },
  limits: { liveRuns: 1 },
  tasks: null,
  brain: { extractAfter: false },
  threads: { titles: false },
  agent: { runMs: 5_000 },
  analysis: false,
  offline: null,
  log: { level: 'info' }
}

t.test('without a token a request changes no key that decides what the agent may do, whom it trusts or what it reaches', async (t) => {
  t.same(Object.keys({ ...GUARDED, ...OPEN }).sort(), Object.keys(ConfigKeys).sort(), 'a new key is in one of the two')
  for (const [key, value] of Object.entries(OPEN)) t.doesNotThrow(() => requireOpen({ [key]: value }), key)
  const guarded: object[] = [
    ...Object.entries(GUARDED).map(([key, value]) => ({ [key]: value })),
    ...[{ gateway: { baseURL: 'https://x' } }, { gateway: null }, { search: { baseURL: 'https://x' } }, { search: { apiKey: 'x' } }],
    ...[{ providers: { a: { baseURL: 'https://x' } } }, { providers: { a: null } }],
    ...[{ providers: { a: { apiKey: 'x' } } }, { providers: { local: { files: ['/x.gguf'] } } }, { providers: null }],
    ...[{ log: { file: '/tmp/x' } }, { log: null }, { madeUp: true }, { constructor: true }]
  ]
  for (const patch of guarded) t.throws(() => requireOpen(patch), { code: 'ERR_FORBIDDEN' }, JSON.stringify(patch))
  t.throws(() => requireOpen({ model: 'a/b', roots: [], log: { level: 'info', file: true } }), {
    message: /^A request may change "roots", "log.file" in config.json only where the service has a token.*LOCAL_AGENT_TOKEN/,
    details: [{ path: '/roots' }, { path: '/log/file' }]
  })
})

t.test('merging is as RFC 7396 says: the patch itself onto nothing, and twice as once', async () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof({ depthSize: 'small' }, fc.integer(), fc.constant(null), fc.array(fc.integer()), tie('object')),
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), tie('any'))
  })).object
  fc.assert(fc.property(value, value, (target, patch) => {
    const once = merge(target, patch)
    return JSON.stringify(merge(once, patch)) === JSON.stringify(once) && JSON.stringify(merge(once, {})) === JSON.stringify(once)
  }))
})

t.test('a change keeps unknown keys, wrong keys and the order, and is durable', async (t) => {
  const before = {
    zeta: { b: 1, a: [2] },
    workspace: '/tmp',
    port: 'wrong',
    mcp: [{ name: 'x', command: 'y', approval: 'always' }],
    alpha: null
  }
  const { dir, file, read } = home(t, JSON.stringify(before))
  const config = await openConfig({ dir })
  const changed = await config.update((config) => ({ ...config, workspace: '/', model: 'offline/assistant' }))
  t.match(changed, { workspace: '/', model: 'offline/assistant' })
  t.equal(changed, config.current)
  t.equal(read(), JSON.stringify({ ...before, workspace: '/', model: 'offline/assistant' }, null, 2) + '\n')
  t.equal(modeOf(file), '600')
  t.same((await openConfig({ dir })).current, config.current)
})

t.test('a file that others could read is closed by the next change', async (t) => {
  const { dir, file } = home(t, '{}')
  t.equal(modeOf(file), '644')
  await (await openConfig({ dir })).update((config) => ({ ...config, port: 1 }))
  t.equal(modeOf(file), '600')
})

t.test('a change replaces the file, it never writes into it', async (t) => {
  const { dir, file } = home(t, '{}')
  const config = await openConfig({ dir })
  const { ino } = statSync(file)
  await config.update((config) => ({ ...config, port: 1 }))
  t.not(statSync(file).ino, ino, 'a new file was put in its place')
  t.same(readdirSync(dir), ['config.json'], 'and nothing else is left')
})

t.test('a file that is a link stays one', async (t) => {
  const { dir, file } = home(t)
  writeFileSync(`${dir}/real.json`, '{"port":1}')
  symlinkSync(`${dir}/real.json`, file)
  await (await openConfig({ dir })).update((config) => ({ ...config, port: 2 }))
  t.match(JSON.parse(readFileSync(`${dir}/real.json`, 'utf8')), { port: 2 })
})

t.test('fifty changes at once are all kept', async (t) => {
  const { dir, read } = home(t)
  const config = await openConfig({ dir })
  await Promise.all(
    Array.from({ length: 50 }, (_, at) => config.update((config) => ({ ...config, roots: [...config.roots ?? [], `/${at}`] })))
  )
  t.equal(config.current.roots!.length, 50)
  t.same(JSON.parse(read()), config.current)
})

t.test('a change keeps what the user has written into the file meanwhile', async (t) => {
  const { dir, file, read } = home(t, '{"port":1}')
  const config = await openConfig({ dir })
  writeFileSync(file, '{"port":1,"workspace":"/tmp"}')
  await config.update((config) => ({ ...config, port: 2 }))
  t.same(JSON.parse(read()), { port: 2, workspace: '/tmp' })
  t.same(config.current, { port: 2, workspace: '/tmp' })
})

t.test('a change over a file that cannot be read keeps that aside and starts from the last good one', async (t) => {
  const { dir, file, read } = home(t, '{"workspace":"/tmp"}')
  const config = await openConfig({ dir })
  writeFileSync(file, '{"workspace":')
  await config.update((config) => ({ ...config, port: 2 }))
  t.same(JSON.parse(read()), { workspace: '/tmp', port: 2 })
  t.equal(readFileSync(`${dir}/${copies(dir)[0]}`, 'utf8'), '{"workspace":')
})

t.test('a change that throws changes nothing, and the next one works', async (t) => {
  const { dir, read } = home(t, '{"port":1}')
  const config = await openConfig({ dir })
  await t.rejects(
    config.update(() => {
      throw new Error('no')
    }),
    { message: 'no' }
  )
  t.equal(read(), '{"port":1}')
  t.match(await config.update((config) => ({ ...config, port: 2 })), { port: 2 })
})

t.test('a change that mends the configuration ends the problem', async (t) => {
  const { dir } = home(t, '{"port":"x"}')
  const config = await openConfig({ dir })
  t.ok(config.problem)
  await config.update(({ port, ...config }) => config)
  t.equal(config.problem, undefined)
})

t.test('reload takes over a good file as a whole and a bad one not at all', async (t) => {
  const { dir, file } = home(t, '{"workspace":"/tmp"}')
  const seen: Config[] = []
  const config = await openConfig({ dir, onChange: (config) => seen.push(config) })
  for (const bad of ['{', '[]', '{"port":1,"workspace":5}']) {
    writeFileSync(file, bad)
    await t.rejects(config.reload(), { code: 'ERR_CONFIG_INVALID' })
    t.same(config.current, { workspace: '/tmp' })
    t.equal(config.problem, undefined)
  }
  t.same(copies(dir), [], "nothing is copied: the file is the user's")
  writeFileSync(file, '{"port":1}')
  t.same(await config.reload(), { port: 1 })
  t.same(config.current, { port: 1 })
  t.same(seen, [{ workspace: '/tmp' }, { port: 1 }], 'whoever wants to know is told')
})

t.test('a reload never undoes a change that is being saved', async (t) => {
  const { dir } = home(t, '{"port":1}')
  const config = await openConfig({ dir })
  await Promise.all([
    config.update((config) => ({ ...config, port: 2 })),
    config.reload(),
    config.update((config) => ({ ...config, roots: ['/'] })),
    config.reload()
  ])
  t.same(config.current, { port: 2, roots: ['/'] })
})
