import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { Config } from '../../../schemas/config.ts'
import { openConfig } from '../../../services/config/config.ts'
import { copies, home, modeOf } from '../../harness/config-home.ts'

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
