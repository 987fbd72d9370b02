import { readdirSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startService } from '../harness/sidecar.ts'
import { exported, imported, noise, PASSPHRASE, post, until } from '../faults/backup.ts'

/** A built service of its own; `first` gets a tool that is not asked for. */
async function place (t: Test, env: NodeJS.ProcessEnv = {}) {
  const home = { 'config.json': JSON.stringify({ permissions: { writeFile: 'ask' }, mine: { x: 1 } }) }
  const dir = t.testdir({ a: home, b: { ...home }, work: {} })
  const start = (name: string, more: NodeJS.ProcessEnv = {}) =>
    startService(t, { home: `${dir}/${name}`, cwd: `${dir}/work`, env: { ...env, ...more } })
  return { dir, start }
}

/** Something of every kind. */
async function fill (url: string) {
  await post(url, '/memory/brain/fact', { fact: 'Likes tea' })
  await post(url, '/memory/brain/pref', { key: 'units', value: 'metric' })
  await post(url, '/providers/configure', { gateway_key: 'vck_the-gateway-key', model: 'offline/assistant' })
  await post(url, '/threads/chat', {
    title: 'A chat',
    messages: [{ role: 'user', content: 'hi', mine: { deep: [1] } }, { role: 'user', content: noise(600_000) }]
  }, 'PUT')
  await post(url, '/run', { id: 'asking', messages: [{ role: 'user', content: 'write "x" to a.txt' }] })
  const { body: task } = await post(url, '/tasks', {
    goal: 'system info',
    taskType: 'recurring',
    schedule: { interval: 'daily', at: '09:00' }
  })
  await post(url, `/tasks/${task.id}/start`, {})
  const { body: waiting } = await post(url, '/tasks', { goal: 'write "x" to b.txt', approval: { mode: 'always' } })
  await post(url, `/tasks/${waiting.id}/start`, {})
  for (;;) if ((await get(url, `/tasks/${waiting.id}`)).status === 'pending_approval') break
  return { task: task.id as string, waiting: waiting.id as string }
}

const get = async (url: string, path: string): Promise<any> => (await fetch(url + path)).json()

/** What callers see of all of it. */
async function seen (url: string) {
  const paths = [
    '/memory/brain',
    '/memory/brain/facts',
    '/threads',
    '/threads/chat',
    '/threads/asking',
    '/approvals',
    '/tasks',
    '/providers',
    '/config'
  ]
  return Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await get(url, path)])))
}

t.test('everything goes from one service to another, whose key is another, and the service goes on where it was', async (t) => {
  const { dir, start } = await place(t)
  const a = await start('a')
  const { task, waiting } = await fill(a.url)
  const all = await seen(a.url)
  const runs = await get(a.url, `/tasks/${waiting}/runs`)
  const backup = await exported(a.url)
  for (const secret of ['Likes tea', 'vck_the-gateway-key', 'A chat']) t.notOk(backup.includes(secret), `${secret} cannot be read in it`)
  t.ok(backup.length > 600_000)

  const b = await start('b', { LOCAL_AGENT_PASSPHRASE: 'of another store' })
  await post(b.url, '/memory/brain/fact', { fact: 'Is somebody else' })
  t.match(await imported(b.url, backup), { status: 200, body: { status: 'imported', records: Number } })
  await until(b.url, (facts) => facts[0] === 'Likes tea')
  const there = await seen(b.url)
  const timeless = (value: any) =>
    JSON.parse(JSON.stringify(value, (key, each) => key === 'updatedAt' || key === 'nextRunAt' ? undefined : each))
  t.strictSame(timeless(there), timeless(all))
  t.ok((await get(b.url, `/tasks/${task}`)).nextRunAt > Date.now())
  t.same(await get(b.url, `/tasks/${waiting}/runs`), runs)
  t.match(await post(b.url, `/tasks/${waiting}/approve`, { approved: false }), { status: 200 }, 'a question that waited is answered here')
  t.match(await post(b.url, '/run', { id: 'chat', message: { role: 'user', content: 'and now?' } }), { status: 200 })
  t.equal((await get(b.url, '/threads/chat')).messageCount, 4, 'names find what they found')
  t.same(readdirSync(`${dir}/b`).filter((name) => /next|replace|import|data\./.test(name)), [])
  t.equal(readFileSync(`${dir}/b/config.json`, 'utf8'), readFileSync(`${dir}/a/config.json`, 'utf8'))
  t.equal(b.out().split('\n').length, 2, 'still one line on stdout')
  t.match(JSON.parse(readFileSync(`${dir}/b/instance.json`, 'utf8')), { url: b.url, pid: b.pid })
  t.match(await b.stop(), { code: 0 })

  const again = await start('b', { LOCAL_AGENT_PASSPHRASE: 'of another store' })
  t.match(await get(again.url, '/memory/brain'), { brain: { facts: ['Likes tea'] } })
  t.match(await get(again.url, '/health'), { checks: { store: 'ok', config: 'ok' } })
})

t.test('what is no backup, has another passphrase or comes from elsewhere is refused, and changes nothing', async (t) => {
  const { dir, start } = await place(t)
  const a = await start('a')
  await post(a.url, '/memory/brain/fact', { fact: 'Likes tea' })
  const backup = await exported(a.url)
  const damaged = Buffer.from(backup)
  damaged[damaged.length - 1] ^= 1
  t.match(await imported(a.url, damaged), { status: 400, body: { code: 'ERR_BACKUP_DAMAGED', error: /Nothing was changed/ } })
  t.match(await imported(a.url, backup, { 'x-export-passphrase': 'incorrect horse' }), {
    status: 400,
    body: { code: 'ERR_BACKUP_PASSPHRASE' }
  })
  t.match(await imported(a.url, Buffer.from('{"facts":[]}')), { status: 400, body: { code: 'ERR_NO_BACKUP' } })
  t.match(await imported(a.url, Buffer.of()), { status: 400, body: { code: 'ERR_NO_BACKUP' } })
  t.match(await imported(a.url, backup, { 'x-export-passphrase': 'short' }), { status: 400, body: { code: 'ERR_INVALID_REQUEST' } })
  t.match(await imported(a.url, Buffer.from('{}'), { 'content-type': 'application/json' }), {
    status: 415,
    body: { error: /octet-stream/ }
  })
  t.match(await imported(a.url, backup, { 'content-type': 'text/plain' }), { status: 415 })
  t.match(await imported(a.url, backup, { origin: 'https://evil.example' }), { status: 403 })
  t.match(await imported(a.url, backup, { 'sec-fetch-site': 'cross-site' }), { status: 403 })
  t.equal((await fetch(`${a.url}/export`)).status, 400, 'no passphrase')
  t.equal((await fetch(`${a.url}/export`, { headers: { 'x-export-passphrase': PASSPHRASE, origin: 'https://evil.example' } })).status, 403)
  for (const path of ['/run', '/memory/brain/fact', '/threads']) {
    t.equal(
      (await fetch(a.url + path, { method: 'POST', headers: { 'content-type': 'application/octet-stream' }, body: 'x' })).status,
      415,
      `bytes are for imports, not for ${path}`
    )
  }
  t.match(await get(a.url, '/memory/brain'), { brain: { facts: ['Likes tea'] } })
  t.same(readdirSync(`${dir}/a`).filter((name) => /next|replace|import|data\./.test(name)), [])
  t.notMatch(a.log(), PASSPHRASE)
})
