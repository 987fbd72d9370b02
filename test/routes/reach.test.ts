import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { offerPairing, PAIRING_MS } from '../../services/reach/pairing-file.ts'
import { isLocal } from '../../services/store/keys.ts'
import { say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { append, calling, effects } from '../harness/effects.ts'
import { newKey, newSecret, openReach, reachOf, send } from '../harness/reach.ts'
import { FORMAT } from '../harness/questions.ts'
import { plan, say as ends, withModel, write } from '../harness/task-approvals.ts'

const DAY = 86_400_000
const HOUR = 3_600_000

/** A service whose model makes the calls in one step; they wait, and a device is paired. */
async function waiting (t: Parameters<typeof openReach>[0], ...calls: Parameters<typeof calling>) {
  const { app, url, pair } = await openReach(t, { config: calling(...calls) })
  await say(app, 'go', { id: 'chat', options: { interactive: true } })
  const phone = await pair()
  return { app, url, pair, phone, ids: (await phone.list()).map(({ approvalId }) => approvalId as string) }
}

const settled = async (app: App) => {
  const { runs: [{ runId }] } = (await app.inject('/runs')).json()
  return (await app.inject(`/runs/${runId}?waitMs=20000`)).json()
}
const devicesOf = async (app: App) => (await app.inject('/devices')).json().devices
const decided = async (app: App) => (await app.inject('/approvals?state=decided')).json().approvals
const writeFile = (path: string, content: string) => ({ toolName: 'writeFile', input: { path, content } })

t.test('a code pairs one device, once; a wrong one is told nothing', async (t) => {
  const { app, url } = await openReach(t)
  const pairing = (body: object) => send(url, 'POST', '/pair', { body })
  const device = { key: newKey(), name: 'my phone' }
  const secret = newSecret()
  const without = await pairing({ ...device, secret })
  t.match(without, { status: 403, body: { code: 'ERR_PAIRING_REFUSED', error: /local-agent reach/ } }, 'no code was shown')

  await offerPairing(app.home, secret, app.clock.now())
  t.same((await pairing({ ...device, secret: newSecret() })).body, without.body, 'another secret')
  t.notMatch(readFileSync(`${app.home}/reach-pairing.json`, 'utf8'), secret, 'the folder of the service holds a digest')
  const paired = await pairing({ ...device, secret })
  t.match(paired, { status: 201, body: { deviceId: String, name: 'my phone' } })
  t.same((await pairing({ ...device, secret })).body, paired.body, 'a device whose answer was lost asks again')
  t.same((await pairing({ key: newKey(), name: 'thief', secret })).body, without.body, 'another device with the same code')
  t.same((await pairing({ ...device, secret: newSecret() })).body, without.body, 'the device with another code')
  const [listed, ...others] = await devicesOf(app)
  t.same(others, [])
  const { deviceId, createdAt } = listed
  t.same(listed, { deviceId: paired.body.deviceId, name: 'my phone', createdAt, lastUsedAt: createdAt, lapsesAt: createdAt + 30 * DAY })
  t.equal((await send(url, 'GET', '/requests', { key: device.key })).status, 200)
  t.notMatch(JSON.stringify(await app.store.record('devices', () => ({})).get()), new RegExp(`${device.key}|${secret}`), 'digests alone')
  t.ok(isLocal('!record/devices'), 'a backup holds no device')

  t.match((await app.inject({ method: 'DELETE', url: `/devices/${deviceId}` })).json(), { ok: true, deviceId })
  t.equal((await send(url, 'GET', '/requests', { key: device.key })).status, 401, 'its key has ended')
  t.equal((await app.inject({ method: 'DELETE', url: `/devices/${deviceId}` })).json().code, 'ERR_DEVICE_NOT_FOUND')
  const again = newSecret()
  await offerPairing(app.home, again, app.clock.now())
  t.match(await pairing({ ...device, secret: again }), { status: 201 }, 'a revoked device pairs again')
})

t.test('a code ends after ten minutes, a key after thirty unused days, and neither comes back with the clock', async (t) => {
  const clock = fakeClock()
  const { app, url, pair } = await openReach(t, { clock })
  const late = newSecret()
  await offerPairing(app.home, late, clock.now())
  await clock.advance(PAIRING_MS)
  t.equal((await send(url, 'POST', '/pair', { body: { secret: late, key: newKey(), name: 'late' } })).status, 403)
  const early = newSecret()
  await offerPairing(app.home, early, clock.now() + DAY)
  const tooEarly = await send(url, 'POST', '/pair', { body: { secret: early, key: newKey(), name: 'early' } })
  t.equal(tooEarly.status, 403, 'the clock was set back')

  const [used, unused] = [await pair('used'), await pair('unused')]
  await clock.leap(20 * DAY)
  t.equal((await used.get('/requests')).status, 200)
  await clock.leap(10 * DAY)
  t.equal((await unused.get('/requests')).status, 401)
  t.equal((await used.get('/requests')).status, 200)
  t.match(await devicesOf(app), [{ name: 'used', lastUsedAt: clock.now() }])
  await clock.leap(-10 * DAY)
  t.equal((await unused.get('/requests')).status, 401, 'the clock was set back')
  await clock.leap(10 * DAY)
  await clock.leap(HOUR)
  t.equal((await used.get('/requests')).status, 200)
  t.same((await app.store.record<any>('devices', () => ({})).get()).devices.map(({ name }: any) => name), ['used'])
})

t.test('who guesses codes is stopped after ten tries a minute', async (t) => {
  const clock = fakeClock()
  const { url, pair } = await openReach(t, { clock })
  const guess = () => send(url, 'POST', '/pair', { body: { secret: newSecret(), key: newKey(), name: 'x' } })
  for (let n = 0; n < 10; n++) t.equal((await guess()).status, 403)
  t.match(await guess(), { status: 429, body: { code: 'ERR_TOO_MANY_TRIES' } })
  await clock.advance(60_000)
  t.ok((await pair()).deviceId, 'a minute later a device pairs')
})

t.test('a device sees what waits, decides it once, and the record of decisions names it', async (t) => {
  const { app, phone, ids } = await waiting(t, writeFile('a.txt', 'mine\n'), append('x'))
  t.match(await phone.list(), [{ kind: 'tool', title: /a\.txt/, createdAt: Number, expiresAt: Number }, { title: /printf x/ }])
  const shown = (await phone.look(ids[0])).body
  t.match(shown, {
    title: /a\.txt/,
    answers: ['once', 'deny'],
    digest: /^[0-9a-f]{64}$/,
    request: { approvalId: ids[0], toolName: 'writeFile', input: { path: 'a.txt', content: 'mine\n' }, cwd: app.cwd },
    preview: { changes: [{ path: `${app.cwd}/a.txt`, kind: 'created', diff: /\+mine/ }] }
  })
  t.same((await phone.look(ids[0])).body, shown, 'a second look shows the same')
  t.match(await phone.answer(ids[0], 'once', shown), { status: 200, body: { approvalId: ids[0], state: 'approved' } })
  t.match(await phone.answer(ids[1], 'deny'), { status: 200, body: { approvalId: ids[1], state: 'denied' } })
  t.match(await settled(app), { status: 'completed' })
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'mine\n')
  t.equal(effects(app.cwd), '')
  t.same(await phone.list(), [])
  const device = { deviceId: phone.deviceId, name: 'phone' }
  const records = await decided(app)
  t.match(records.find(({ approvalId }: any) => approvalId === ids[0]), { state: 'done', device, granted: { scope: 'once' } })
  t.match(records.find(({ approvalId }: any) => approvalId === ids[1]), { state: 'denied', device })
})

t.test('a decision about something that has changed since is refused, and the request is shown again', async (t) => {
  const { app, phone, ids: [id] } = await waiting(t, writeFile('a.txt', 'mine\n'))
  const shown = (await phone.look(id)).body
  writeFileSync(`${app.cwd}/a.txt`, 'theirs\n')
  for (const answer of ['once', 'deny']) {
    t.match(await phone.answer(id, answer, shown), { status: 409, body: { code: 'ERR_APPROVAL_CHANGED', error: /Look at it again/ } })
  }
  t.match(await phone.list(), [{ approvalId: id }], 'it still waits')
  const again = (await phone.look(id)).body
  t.match(again.preview.changes, [{ kind: 'changed', diff: /-theirs\n\+mine/ }])
  t.match(await phone.answer(id, 'once', again), { status: 200 })
  await settled(app)
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'mine\n')
})

t.test('the first decision stands, whoever decides; only the device that made it may say it again', async (t) => {
  const { app, phone, pair, ids: [first, second] } = await waiting(t, append('x'), append('y'))
  const other = await pair('other')
  const [shown, elsewhere] = [(await phone.look(first)).body, (await phone.look(second)).body]
  t.match(await phone.answer(first, 'once', shown), { status: 200 })
  t.match(await phone.answer(first, 'once', shown), { status: 200, body: { state: 'approved' } }, 'its answer was lost')
  t.match(await phone.answer(first, 'deny', shown), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } })
  for (const answer of ['once', 'deny']) {
    t.match(await other.answer(first, answer, shown), { status: 409, body: { code: 'ERR_APPROVAL_DECIDED' } }, 'another device')
  }
  t.match((await app.inject({ method: 'POST', url: `/approvals/${second}`, payload: { approved: false } })).json(), { state: 'denied' })
  for (const answer of ['once', 'deny']) t.equal((await other.answer(second, answer, elsewhere)).status, 409, 'the computer decided')
  await settled(app)
  t.equal(effects(app.cwd), 'x')
  t.match(await phone.answer(first, 'once', shown), { status: 200, body: { state: 'done' } }, 'said again after the call')
})

t.test('a device whose key ends while its decision is on its way decides nothing', async (t) => {
  const { app, phone, ids: [id] } = await waiting(t, append('x'))
  const shown = (await phone.look(id)).body
  const preview = app.inbox.preview
  app.inbox.preview = async (...parts) => {
    await app.reach.devices.remove(phone.deviceId)
    return preview(...parts)
  }
  t.equal((await phone.answer(id, 'once', shown)).status, 401)
  t.match((await app.inject('/approvals')).json().approvals, [{ approvalId: id, state: 'pending' }])
})

t.test('what a device approves is approved once: its task learns nothing, and later runs ask as before', async (t) => {
  const turns = [[write('a.txt'), ends('I wrote a.txt.')], [write('a.txt'), ends('I wrote a.txt.')]]
  const settings = { structured: () => ({ object: plan }), config: { reach: { port: 0 } } }
  const { app, tasks, events } = await withModel(t, turns, settings)
  const phone = await (await reachOf(app)).pair()
  const { id } = await tasks.create('write a.txt', { taskType: 'triggered', approval: { mode: 'first_n', firstN: 1 } })
  for (const kind of ['tool', 'result', 'tool'] as const) {
    if (kind === 'tool') await tasks.post(`/${id}/run`)
    const { approvalId } = await events.until('task:approval', { taskId: id, kind })
    t.match(await phone.answer(approvalId!, 'once'), { status: 200 }, kind)
  }
  t.match(await tasks.get(`/${id}`), {
    approval: { approvedRuns: 0 },
    approvalHistory: [{ kind: 'tool', device: { name: 'phone' } }, { kind: 'result', device: { name: 'phone' } }, { kind: 'tool' }]
  })
  t.same((await app.inject('/grants')).json().grants, [])
})

t.test('a question is declined from a device, and answered at the computer', async (t) => {
  const { phone, ids: [approvalId] } = await waiting(t, { toolName: 'askUser', input: { questions: [FORMAT] } })
  t.match(await phone.list(), [{ kind: 'question', title: FORMAT.text }])
  t.same((await phone.look(approvalId)).body.answers, ['deny'])
  t.match(await phone.answer(approvalId, 'once'), { status: 403, body: { error: /computer/ } })
  t.match(await phone.answer(approvalId, 'deny'), { status: 200, body: { state: 'declined' } })
})

t.test('more of a budget is allowed from a device by a yes, and asked about again; a no ends the run', async (t) => {
  const look = (limit: number) => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit } }] })
  const offline = { script: [look(1), look(2), look(3), { text: 'done' }] }
  const { app, pair } = await openReach(t, { config: { model: 'offline/scripted', offline } })
  await say(app, 'go', { id: 'chat', options: { budget: { tokens: 100 }, interactive: true } })
  const phone = await pair()
  const [{ approvalId, title }] = await phone.list()
  t.match(title, /^This run has used \d+ of 100 tokens\. Go on with 100 tokens more\?$/)
  const shown = (await phone.look(approvalId)).body
  t.match(shown, { answers: ['once', 'deny'], request: { kind: 'question', budget: { of: 'run', more: 100 } } })
  t.match(await phone.answer(approvalId, 'always', shown), { status: 400 })
  t.match(await phone.answer(approvalId, 'once', shown), { status: 200, body: { state: 'answered' } })
  t.match(await decided(app), [{ approvalId, device: { deviceId: phone.deviceId } }])
  while ((await phone.list()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
  const [next] = await phone.list()
  t.not(next.approvalId, approvalId, 'what was allowed is spent, and asked about again')
  t.match(await phone.answer(next.approvalId, 'deny'), { status: 200, body: { state: 'declined' } })
  t.match(await settled(app), { status: 'failed', error: /budget/ })
  t.same(await phone.list(), [])
})
