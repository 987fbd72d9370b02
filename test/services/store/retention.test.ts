import t from 'tap'
import { answer, asked, say } from '../../harness/agent.ts'
import { fakeClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { damage } from './rewrite.ts'
import { createRetention } from '../../../services/store/retention/retention.ts'

const DAY = 24 * 60 * 60 * 1000
const config = {
  model: 'offline/scripted',
  offline: { script: [{ toolCalls: [{ toolName: 'runCommand', input: { command: 'true' } }] }, { text: 'done' }] }
}

t.test('approvals of runs are forgotten after a week, refusals of a conversation after three months, and its answers not', async (t) => {
  const clock = fakeClock(Date.now())
  const app = await build(t, { config, clock })
  const retention = createRetention({ store: app.store, clock, log: app.log })
  const [id] = asked((await say(app, 'go', { id: 'chat' })).events)
  await answer(app, { [id]: false })
  const read = async () => (await app.inject('/threads/chat?protocol=ui')).json().messages
  const messages = await read()
  const { state, approval } = messages[1].parts.find(({ type }: any) => type === 'tool-runCommand')
  t.match({ state, approval }, { state: 'output-denied', approval: { id, approved: false } })

  await clock.advance(6 * DAY)
  t.equal(await retention.sweep(), 0)
  t.match(await answer(app, { [id]: false }), { status: 200 }, 'still replayed')

  await clock.advance(2 * DAY)
  t.ok(await retention.sweep() > 0)
  t.match(await answer(app, { [id]: false }), { status: 404 })
  t.same(await read(), messages, 'the thread shows what it showed')
  t.same(asked((await say(app, 'go', { id: 'chat' })).events), [], 'the refusal still stands')

  await clock.advance(90 * DAY)
  await retention.sweep()
  t.equal(asked((await say(app, 'go', { id: 'chat' })).events).length, 1, 'and is asked about again in the end')
})

t.test('a damaged record holds up no sweep, and goes when its id is old', async (t) => {
  const clock = fakeClock(Date.now())
  const before = await build(t, { config, clock })
  await say(before, 'go', { id: 'chat' })
  const keysOf = async ({ store }: typeof before, prefix: string) => {
    const keys: string[] = []
    for await (const key of store.keys(prefix)) keys.push(key)
    return keys
  }
  const records = [...await keysOf(before, 'approval/'), ...await keysOf(before, 'conversation/')]
  t.equal(records.length, 2)
  await before.close()
  await damage(before.home, records)

  const app = await build(t, { clock, home: before.home, cwd: before.cwd })
  await clock.advance(100 * DAY)
  await createRetention({ store: app.store, clock, log: app.log }).sweep()
  t.same(await keysOf(app, 'approval/'), [])
})

t.test('the totals of model calls are kept for 400 days', async (t) => {
  const clock = fakeClock(new Date(2026, 5, 1, 12).getTime())
  const app = await build(t, { config, clock })
  await say(app, 'go', { id: 'chat' })
  const retention = createRetention({ store: app.store, clock, log: app.log, owners: [app.usage] })
  const days = async () => (await app.inject('/usage?from=2026-06-01&to=2026-06-01')).json().groups.length
  await clock.advance(399 * DAY)
  await retention.sweep()
  t.equal(await days(), 1)
  await clock.advance(2 * DAY)
  await retention.sweep()
  t.equal(await days(), 0)
})

t.test('what one service cannot remove keeps the others from nothing, and is told', async (t) => {
  const app = await build(t, { config })
  const swept: string[] = []
  const owners = [
    { sweep: () => Promise.reject(new Error('its file is in use')) },
    { sweep: async () => void swept.push('second') }
  ]
  const prune = async () => swept.push('threads')
  const retention = createRetention({ store: app.store, clock: fakeClock(), log: app.log, owners, prune })
  await t.rejects(retention.sweep(), /its file is in use/)
  t.same(swept, ['second', 'threads'])
})
