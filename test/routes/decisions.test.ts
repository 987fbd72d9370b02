import { readdirSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { removeOldCopies } from '../../services/store/database-files.ts'
import { inputDigest } from '../../services/approvals/input-digest.ts'
import { say } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { createRetention } from '../../services/store/retention/retention.ts'

const DAY = 24 * 60 * 60 * 1000
const decisions = async (app: App, query = '') => (await app.inject(`/approvals?state=decided${query}`)).json()

t.test('decisions are kept, of inputs and corrected ones the digests alone, and go with their conversation', async (t) => {
  const app = await build(t, { clock: fakeClock(Date.now()) })
  for (const id of ['a', 'b', 'c']) await say(app, `write "the secret text" to ${id}.txt`, { id })
  const open = (await app.inject('/approvals')).json().approvals
  t.same(await decisions(app), { approvals: [] })
  const input = { path: 'c.txt', content: 'the secret text, corrected' }
  const answers = [{ approved: true, scope: 'folder' }, { approved: false, reason: 'not there' }, { approved: true, input }]
  for (const [at, payload] of answers.entries()) {
    await app.inject({ method: 'POST', url: `/approvals/${open[at].approvalId}`, payload })
    await app.inject(`/runs/${open[at].runId}?waitMs=20000`)
  }
  const { approvals } = await decisions(app)
  t.match(approvals, [
    { threadId: 'c', state: 'done', toolName: 'writeFile', digest: open[2].digest, correctedDigest: inputDigest(input) },
    { threadId: 'b', state: 'denied', reason: 'not there' },
    { threadId: 'a', state: 'done', granted: { scope: 'folder' }, digest: open[0].digest, correctedDigest: undefined, decidedAt: Number }
  ])
  t.notMatch(JSON.stringify(approvals), /the secret text/)
  const first = await decisions(app, '&limit=1')
  t.match((await decisions(app, `&limit=1&cursor=${first.nextCursor}`)).approvals, [{ threadId: 'b' }])
  await app.inject({ method: 'DELETE', url: '/threads/b' })
  t.match((await decisions(app)).approvals, [{ threadId: 'c' }, { threadId: 'a' }])
})

t.test('a grant that was given or taken away by itself is kept, too', async (t) => {
  const app = await build(t)
  await say(app, 'hello', { id: 'a' })
  const payload = { threadId: 'a', toolName: 'writeFile', input: { path: 'x.txt', content: 'the secret text' }, scope: 'folder' }
  const { grantId } = (await app.inject({ method: 'POST', url: '/grants', payload })).json()
  t.match((await decisions(app)).approvals, [{ approvalId: grantId, state: 'approved', granted: { scope: 'folder' } }])
  await app.inject({ method: 'DELETE', url: `/grants/${grantId}` })
  t.match((await decisions(app)).approvals, [{ approvalId: grantId, state: 'withdrawn' }])
  t.notMatch(JSON.stringify(await decisions(app)), /the secret text/)
})

t.test('a year later they are gone', async (t) => {
  const clock = fakeClock(Date.now())
  const app = await build(t, { clock })
  await say(app, 'write "x" to a.txt', { id: 'a' })
  const [{ approvalId }] = (await app.inject('/approvals')).json().approvals
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: false } })
  const later = (days: number) =>
    createRetention({ store: app.store, clock: { ...clock, now: () => clock.now() + days * DAY }, log: { warn () {} } }).sweep()
  await later(364)
  t.equal((await decisions(app)).approvals.length, 1, 'long after the request itself')
  await later(366)
  t.same((await decisions(app)).approvals, [])
})

t.test('copies of earlier data go after a week', async (t) => {
  const dir = t.testdir({ 'data.v1': { a: 'old' }, 'data.damaged-2026-01-01': { a: 'old' }, data: { a: 'new' } })
  const names = () => readdirSync(dir).sort()
  await removeOldCopies(dir, { ms: 7 * DAY, now: Date.now() + 6 * DAY })
  t.same(names(), ['data', 'data.damaged-2026-01-01', 'data.v1'])
  await removeOldCopies(dir, { ms: 7 * DAY, now: Date.now() + 8 * DAY })
  t.same(names(), ['data'])
})
