import { Writable } from 'node:stream'
import t from 'tap'
import type { App } from '../../app.ts'
import { RecordDamaged } from '../../services/store/store-errors.ts'
import { fakeClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'

const healthOf = async (app: App): Promise<any> => (await app.inject('/health')).json()
const HOUR = 3_600_000

t.test('whether time is kept: starting, ok, and degraded while a due task cannot be checked', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  t.match(await healthOf(app), { status: 'ok', checks: { scheduler: 'starting' } })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  t.match(await healthOf(app), { status: 'ok', checks: { scheduler: 'ok' } })

  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? Promise.reject(new Error('unreadable')) : get(key)
  await clock.advance(HOUR)
  t.match(await healthOf(app), { status: 'degraded', checks: { store: 'ok', scheduler: /1 due task cannot be checked/ } })

  app.store.get = get
  await clock.advance(1_000)
  while ((await healthOf(app)).status !== 'ok') await new Promise(setImmediate)
})

t.test('a due task that is damaged is told of once, and no more when it is removed', async (t) => {
  const clock = fakeClock()
  let log = ''
  const app = await build(t, {
    clock,
    log: new Writable({
      write (chunk, _encoding, done) {
        log += chunk
        done()
      }
    })
  })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? Promise.reject(new RecordDamaged(key)) : get(key)
  await clock.advance(HOUR)
  for (let second = 0; second < 5; second++) await clock.advance(1_000)
  t.match(await healthOf(app), { checks: { scheduler: /1 due task cannot be checked/ } })
  t.equal(log.split('the check of a due task failed').length - 1, 1)
  t.equal((await tasks.call('DELETE', `/${task.id}`)).status, 200)
  t.equal((await healthOf(app)).checks.scheduler, 'ok')
})

t.test('a look that never ends is noticed', async (t) => {
  const clock = fakeClock()
  const app = await build(t, { clock })
  const tasks = await tasksOf(t, app)
  const task = await tasks.create('system info', { taskType: 'recurring', schedule: { interval: '1h' } })
  await tasks.post(`/${task.id}/start`)
  const held = Promise.withResolvers<void>()
  const { get } = app.store
  app.store.get = async (key) => key.startsWith('task/') ? held.promise.then(() => get(key)) as never : get(key)
  await clock.advance(HOUR)
  await clock.advance(61_000)
  t.match(await healthOf(app), { status: 'degraded', checks: { scheduler: /stalled: no task was checked for \d+ s/ } })
  held.resolve()
})
