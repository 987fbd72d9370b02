import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmdirSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { VERSION } from '../../services/lib/version.ts'
import { migrations, newestOf } from '../../services/store/migrations.ts'
import { encryptBackup } from '../../services/store/backup/backup-format.ts'
import { of, say } from '../harness/agent.ts'
import { answerCall, calls, openCalls, OPTIONS, settled, toldResults, withTurns } from '../harness/app-tools.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { damage } from '../services/store/rewrite.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const PASSPHRASE = 'correct horse battery'
const headers = { 'x-export-passphrase': PASSPHRASE, 'content-type': 'application/octet-stream' }
const exported = async (app: App) => (await app.inject({ url: '/export', headers: { 'x-export-passphrase': PASSPHRASE } })).rawPayload
const send = (app: App, payload: Buffer) => app.inject({ method: 'POST', url: '/import', headers, payload })
const check = (app: App, payload: Buffer, passphrase = PASSPHRASE) =>
  app.inject({ method: 'POST', url: '/import/check', headers: { ...headers, 'x-export-passphrase': passphrase }, payload })

/** The service that is there after an import. */
async function importInto (t: Test, payload: Buffer, settings: object) {
  const app = await build(t, settings)
  t.match((await send(app, payload)).json(), { status: 'imported' })
  t.equal((await app.inject('/memory/brain')).statusCode, 503, 'nothing more is taken by the one that ends')
  await app.close()
  const { home, cwd } = app
  const next = await build(t, { ...settings, config: undefined, home, cwd })
  await next.listen({ port: 0, host: '127.0.0.1' })
  return next
}

t.test('while a run is under way, or one of a task, nothing is imported', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const live = await openRun(app, { ...userSays('go'), id: 'live' })
  await live.says('first ')
  t.match((await send(app, Buffer.from('whatever'))).json(), { statusCode: 409, error: /A run is in progress/ })
  await app.inject({ method: 'POST', url: '/run/live/stop' })
  await live.ended
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('go on for ever')
  await tasks.post(`/${task.id}/start`)
  t.match((await send(app, Buffer.from('whatever'))).json(), { statusCode: 409, error: /of a task/ })
})

t.test('a backup of an earlier build or of a newer version is refused, and nothing is changed', async (t) => {
  const app = await build(t)
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
  const refused = async (schema: unknown) => {
    const lines = [{ backup: 1, schema, digestKey: 'aa' }, { config: {} }, { end: 0 }].map((line) => JSON.stringify(line))
    const pieces: Buffer[] = []
    for await (const piece of encryptBackup(lines, PASSPHRASE, { N: 10, r: 1, p: 1 })) pieces.push(piece)
    return (await send(app, Buffer.concat(pieces))).json()
  }
  t.match(await refused(4), { statusCode: 400, code: 'ERR_BACKUP_OLDER', error: /earlier build/ })
  const { base } = newestOf([])
  t.match(await refused({ base, version: 99 }), { statusCode: 400, code: 'ERR_BACKUP_NEWER', error: /schema \d+\.99, this one knows/ })
  t.match(await refused({ base }), { statusCode: 400, code: 'ERR_BACKUP_DAMAGED' })
  t.same((await app.inject('/memory/brain')).json().brain.facts, ['Likes tea'])
})

t.test('runs that were under way are interrupted by an import, and schedules go on from then', async (t) => {
  const clock = fakeClock()
  const asked = Promise.withResolvers<void>()
  const { app } = await withGateway(t, () => {
    asked.resolve()
    return { text: ['first ', 'never'], ending: 'stall', after: 4 }
  }, { clock })
  const tasks = await tasksOf(t, app)
  const schedule = { interval: 'daily', at: '09:00', timezone: 'UTC' }
  const daily = await tasks.create('look round', { taskType: 'recurring', schedule, approval: { mode: 'changes' } })
  await tasks.post(`/${daily.id}/start`)
  const unasked = await Promise.all(['never', 'granted'].map(async (mode) => {
    const task = await tasks.create(`look ${mode}`, { taskType: 'recurring', schedule, approval: { mode } })
    await tasks.post(`/${task.id}/start`)
    return task.id
  }))
  const paused = await tasks.create('look later', { taskType: 'recurring', schedule, start: true })
  await tasks.post(`/${paused.id}/pause`)
  const once = await tasks.create('go on for ever')
  await tasks.post(`/${once.id}/start`)
  await asked.promise
  const backup = await exported(app)
  await app.close()

  await clock.advance(10 * 24 * 3600_000 + 5 * 3600_000)
  const next = await importInto(t, backup, { clock, gatewayKey: 'the-key' })
  const there = await tasksOf(t, next)
  while (next.tasks.check() === 'starting') await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal(next.tasks.check(), 'ok')
  t.match(await there.runs(once.id), [{ status: 'interrupted', error: /when the backup was made/ }])
  t.match(await there.get(`/${once.id}`), { status: 'failed' })
  const { nextRunAt, status } = await there.get(`/${daily.id}`)
  t.equal(status, 'scheduled')
  t.equal(nextRunAt, Date.UTC(2026, 0, 16, 9), 'the ten days before are not made up for')
  t.same(await there.runs(daily.id), [])
  for (const id of unasked) {
    t.match(await there.get(`/${id}`), { status: 'paused', pausedReason: 'imported', nextRunAt: undefined }, 'nobody here has allowed it')
    t.match(await there.post(`/${id}/resume`), { status: 'scheduled', nextRunAt: Date.UTC(2026, 0, 16, 9) })
  }
  t.match(await there.get(`/${paused.id}`), { status: 'paused', pausedReason: 'user', nextRunAt: undefined }, 'it was paused before')
  t.match(await there.post(`/${paused.id}/resume`), { status: 'scheduled', nextRunAt: Date.UTC(2026, 0, 16, 9) })
  t.equal(await next.store.get('imported'), undefined)
})

for (const token of [undefined, 'the token']) {
  t.test(token === undefined
    ? 'an import without a token changes no permission, box or program, and names what it leaves as it was'
    : 'an import with a token brings all settings, and the check before it says which', async (t) => {
    const brought = {
      model: 'offline/scripted',
      permissions: { runCommand: 'allow' },
      commands: { sandbox: 'off' },
      mcp: [{ name: 'spy', command: '/bin/false', args: ['-c', 'x'], env: { KEY: 'hidden' }, enabled: false }],
      log: { level: 'error', file: true }
    }
    const lines = [
      { backup: 1, schema: newestOf(migrations), digestKey: randomBytes(32).toString('base64'), createdAt: 1, version: '0' },
      { config: brought },
      { end: 0 }
    ]
    const pieces: Buffer[] = []
    for await (const piece of encryptBackup(lines.map((line) => JSON.stringify(line)), PASSPHRASE)) pieces.push(piece)
    const here = { permissions: { runCommand: 'deny' }, workspace: '/tmp', model: 'offline/assistant' }
    const app = await build(t, { config: here, token })
    const post = async (url: string) => (await app.inject({
      method: 'POST',
      url,
      payload: Buffer.concat(pieces),
      headers: { ...headers, ...token !== undefined && { authorization: `Bearer ${token}` } }
    })).json()
    const found = await post('/import/check')
    t.same(found.settings, {
      permissions: { runCommand: 'allow' },
      commands: { sandbox: 'off' },
      mcp: [{ ...brought.mcp[0], env: { KEY: '••••' } }],
      log: { level: 'error', file: true },
      workspace: null
    })
    t.same(found.kept?.toSorted(), token === undefined ? Object.keys(found.settings).toSorted() : undefined)
    t.match(await post('/import'), { status: 'imported', kept: found.kept })
    await app.close()
    await build(t, { home: app.home, cwd: app.cwd })
    const left = JSON.parse(readFileSync(join(app.home, 'config.json'), 'utf8'))
    t.same(left, token === undefined ? { ...here, model: brought.model } : brought)
  })
}

t.test('a call of an application that was open in the backup is not handed out after an import: it may have been executed', async (t) => {
  const { app, gateway } = await withTurns(t, [calls('openDocument')])
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('open it', { options: OPTIONS, approval: { mode: 'changes' } })
  await tasks.post(`/${id}/start`)
  const { toolCallId: ofTask } = await events.until('task:tool-call')
  const { toolCallId: ofChat } = of((await say(app, 'open it', { id: 'chat', options: OPTIONS })).events, 'tool-call-request')[0]
  await answerCall(app, ofTask, { claim: 'window-1' })
  const backup = await exported(app)
  for (const callId of [ofChat, ofTask]) await answerCall(app, callId, { claim: 'window-1', output: { pages: 3 } })
  await app.close()

  const next = await importInto(t, backup, { gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
  t.same(await openCalls(next), [])
  for (const callId of [ofChat, ofTask]) t.match(await answerCall(next, callId, { claim: 'window-2' }), { status: 410 })
  t.match((await settled(next, 'chat')).messages.at(-1), { content: [{ text: 'Done.' }] })
  t.match(toldResults(gateway), [{ type: 'error-text', value: /Outcome unknown/ }])
  const there = await tasksOf(t, next)
  const ended = await there.watch()
  if ((await there.get(`/${id}`)).status !== 'pending_approval') await ended.until('task:approval')
  t.match(await there.runs(id), [{ status: 'pending_approval', output: 'Done.', toolCalls: [{ error: /Outcome unknown/ }] }])
})

t.test('an export is of one moment, whatever is written meanwhile', async (t) => {
  const app = await build(t)
  for (let n = 0; n < 300; n++) {
    await app.store.transact([{ type: 'put', key: `thing/${String(n).padStart(5, '0')}`, value: { v: 0, pad: 'x'.repeat(2_000) } }])
  }
  const stream = await app.backup.export(PASSPHRASE, new AbortController().signal)
  const pieces: Buffer[] = []
  for await (const piece of stream) {
    if (pieces.length === 2) {
      await app.store.transact([0, 299].map((n) => ({ type: 'put', key: `thing/${String(n).padStart(5, '0')}`, value: { v: 1 } })))
    }
    pieces.push(piece as Buffer)
  }
  await app.close()
  const next = await importInto(t, Buffer.concat(pieces), {})
  t.match(await next.store.get('thing/00000'), { v: 0 })
  t.match(await next.store.get('thing/00299'), { v: 0 })
})

t.test('who leaves before the first byte of an export leaves the next one free', async (t) => {
  const app = await build(t)
  const leaving = new AbortController()
  const early = await app.backup.export(PASSPHRASE, leaving.signal)
  leaving.abort()
  await new Promise((resolve) => early.once('close', resolve))
  const late = await app.backup.export(PASSPHRASE, AbortSignal.abort())
  await new Promise((resolve) => late.once('close', resolve))
  t.ok((await exported(app)).length > 0)
})

t.test('the end of the service in the middle of an export warns of no leak, and is said to who waits for the first byte', async (t) => {
  const app = await build(t)
  for (let n = 0; n < 12; n++) await app.store.transact([{ type: 'put', key: `thing/${n}`, value: { pad: 'x'.repeat(500_000) } }])
  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  t.teardown(() => process.off('warning', note))
  const [response] = await once(get(`${address}/export`, { headers: { 'x-export-passphrase': PASSPHRASE } }), 'response')
  response.on('error', () => {})
  await app.close()
  t.same(warnings, [])
  const other = await build(t)
  const begun = await other.backup.export(PASSPHRASE, new AbortController().signal)
  const failed = new Promise((resolve) => begun.once('error', resolve))
  await other.close()
  t.match(await failed, { code: 'ERR_DRAINING' })
})

t.test('a request for the headers of an export makes none, and leaves the next one free', async (t) => {
  const app = await build(t)
  const headers = { 'x-export-passphrase': PASSPHRASE }
  for (const url of ['/export', '/export?format=json']) {
    t.match(await app.inject({ method: 'HEAD', url, headers }), { statusCode: 200, headers: { 'content-disposition': /^attachment/ } })
  }
  t.equal((await app.inject({ url: '/export', headers })).statusCode, 200)
})

t.test('a reader that takes nothing of an export loses it after a minute, and the next may have one', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  for (let n = 0; n < 40; n++) await app.store.transact([{ type: 'put', key: `thing/${n}`, value: { pad: 'x'.repeat(50_000) } }])
  const stream = await app.backup.export(PASSPHRASE, new AbortController().signal)
  await new Promise((resolve) => {
    stream.once('readable', resolve)
  })
  await t.rejects(app.backup.export(PASSPHRASE, new AbortController().signal), { code: 'ERR_BACKUP_BUSY' })
  const closed = new Promise((resolve) => {
    stream.once('close', resolve)
  })
  await clock.advance(61_000)
  await clock.advance(61_000)
  await closed
  t.ok((await exported(app)).length > 2_000_000)
})

t.test('a sender that goes away in the middle leaves nothing behind', async (t) => {
  const app = await build(t)
  await t.rejects(app.backup.import(
    Readable.from((async function * () {
      yield Buffer.from('lagentbk')
      throw new Error('gone')
    })()),
    PASSPHRASE,
    new AbortController().signal
  ))
  t.equal((await app.inject('/memory/brain')).statusCode, 200)
  const backup = await exported(app)
  t.equal((await send(app, backup)).statusCode, 200)
})

t.test('a record that is damaged on the disk keeps the others from no backup', async (t) => {
  const before = await build(t)
  for (const fact of ['Likes tea', 'Likes jazz']) await before.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact } })
  await before.inject({ method: 'PUT', url: '/threads/chat', payload: { messages: [{ role: 'user', content: 'hi' }] } })
  await before.close()
  await damage(before.home, ['!record/brain'])
  const app = await build(t, { home: before.home, cwd: before.cwd })
  const payload = await exported(app)
  await app.close()
  const there = await importInto(t, payload, {})
  t.equal((await there.inject('/threads/chat')).json().messageCount, 1)
  t.same((await there.inject('/memory/brain')).json().brain.facts, ['Likes tea', 'Likes jazz'])
})

t.test('what a backup holds and would replace is said before anything is done, and nothing is changed by it', async (t) => {
  const clock = fakeClock()
  const old = await build(t, { clock })
  const post = (app: App, url: string, payload: object) => app.inject({ method: 'POST', url, payload })
  await post(old, '/memory/brain/fact', { fact: 'Likes tea' })
  const { url } = (await old.inject({ method: 'POST', url: '/attachments', payload: 'tea' })).json()
  const parts = [{ type: 'text', text: 'hi' }, { type: 'file', url, mediaType: 'text/plain' }]
  const said = [{ role: 'user', parts }, { role: 'assistant', parts: [{ type: 'text', text: 'ho' }] }]
  await post(old, '/threads', { id: 'a', messages: said })
  await post(old, '/tasks', { goal: 'water the plants' })
  const backup = await exported(old)
  await old.close()

  await clock.advance(1_000)
  const app = await build(t, { clock })
  for (const id of ['b', 'c']) await post(app, '/threads', { id, messages: [{ role: 'user', content: 'hey' }] })
  const before = readdirSync(app.home)
  const none = { facts: 0, threads: 0, messages: 0, tasks: 0, runs: 0, attachments: 0, agents: 0 }
  const found = (await check(app, backup)).json()
  t.strictSame(found, {
    status: 'checked',
    createdAt: clock.now() - 1_000,
    version: VERSION,
    records: found.records,
    bytes: backup.length,
    holds: { ...none, facts: 1, threads: 1, messages: 2, tasks: 1, attachments: 1 },
    replaces: { ...none, threads: 2, messages: 2 }
  })
  t.match((await check(app, backup, 'another passphrase')).json(), { statusCode: 400, code: 'ERR_BACKUP_PASSPHRASE' })
  t.match((await check(app, backup.subarray(0, -40))).json(), { statusCode: 400, code: 'ERR_BACKUP_DAMAGED' })
  t.match((await check(app, Buffer.from('{"memory": 1}'))).json(), { statusCode: 400, code: 'ERR_NO_BACKUP' })
  for (const type of ['application/x-www-form-urlencoded', 'application/json', 'text/plain']) {
    const answer = await app.inject({ method: 'POST', url: '/import', headers: { ...headers, 'content-type': type }, payload: '{"a":1}' })
    t.match(answer.json(), { statusCode: 415, error: 'Send the backup as Content-Type: application/octet-stream.' }, type)
  }
  t.same(readdirSync(app.home), before, 'no file of it is left')
  t.same((await app.inject('/threads')).json().threads.map(({ id }: { id: string }) => id).sort(), ['b', 'c'])
  t.strictSame((await app.inject('/import')).json(), { step: 'none', bytes: 0 })
})

t.test('a backup that is refused leaves no file open', { skip: process.platform !== 'linux' && '/proc tells' }, async (t) => {
  const app = await build(t)
  const messages = [{ role: 'user', content: randomBytes(400_000).toString('hex') }]
  for (const id of ['a', 'b']) await app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages } })
  const whole = await exported(app)
  const open = () => readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).includes('import.partial')
    } catch {
      return false
    }
  })
  t.match((await check(app, whole, 'not the passphrase')).json(), { code: 'ERR_BACKUP_PASSPHRASE' })
  const damaged = Buffer.from(whole)
  damaged[200_000] ^= 1
  t.match((await check(app, damaged)).json(), { code: 'ERR_BACKUP_DAMAGED' })
  t.match((await send(app, damaged)).json(), { code: 'ERR_BACKUP_DAMAGED' })
  t.same(open(), [])
})

t.test('an erasure that cannot begin says so, changes nothing, and keeps no import out', async (t) => {
  const app = await build(t)
  await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } })
  mkdirSync(join(app.home, 'erase.json'))
  const erase = () => app.inject({ method: 'DELETE', url: '/data', payload: { confirm: 'erase everything' } })
  const refused = { statusCode: 503, code: 'ERR_IMPORT_FAILED', error: /could not be erased.*Nothing was changed/ }
  t.match((await erase()).json(), refused)
  t.match((await erase()).json(), refused, 'and again: it is not under way')
  t.same((await app.inject('/memory/brain')).json().brain.facts, ['Likes tea'])
  t.match((await check(app, await exported(app))).json(), { status: 'checked' })
  rmdirSync(join(app.home, 'erase.json'))
})

t.test('how far a check is can be read, and what is under way is told in its answer', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const backup = await exported(app)
  const live = await openRun(app, { ...userSays('go'), id: 'live' })
  await live.says('first ')
  const half = Promise.withResolvers<void>()
  const body = Readable.from((async function * () {
    yield backup.subarray(0, 50)
    await half.promise
    yield backup.subarray(50)
  })())
  const checked = app.backup.check(body, PASSPHRASE, new AbortController().signal)
  while ((await app.backup.progress()).step === 'none') await new Promise((resolve) => setTimeout(resolve, 2))
  t.same(await app.backup.progress(), { step: 'receiving', bytes: 50 })
  t.match((await check(app, backup)).json(), { statusCode: 409, code: 'ERR_BACKUP_BUSY', error: /Another import/ })
  half.resolve()
  t.match(await checked, { busy: 'A run is in progress.' })
  await app.inject({ method: 'POST', url: '/run/live/stop' })
  await live.ended
})
