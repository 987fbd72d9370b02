import { join } from 'node:path'
import t from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { heldClock } from '../harness/clock.ts'
import { build } from '../harness/helper.ts'
import { oldTable, rot, storeWithTable } from '../services/store/rot.ts'

t.test('/health tells of a damaged table that is found after the start, other requests get 503, and a restart repairs', async (t) => {
  const dir = t.testdir({ work: {} })
  const home = join(dir, 'home')
  await storeWithTable(home)
  rot(join(home, 'data', oldTable(home)), 30_000)
  const { clock, pass } = heldClock()
  const app = await build(t, { home, cwd: join(dir, 'work'), clock })
  const health = async () => (await app.inject('/health')).json()
  await app.listen({ port: 0 })
  t.match(await health(), { status: 'ok', checks: { store: 'ok' } }, 'it starts without reading the table')

  await pass(3_000)
  while ((await health()).status === 'ok') await systemClock.sleep(10)

  t.match(await health(), {
    status: 'degraded',
    checks: { store: /^latched: the table \d+\.ldb of the database is damaged on the disk\. Restart the service/ }
  })
  const refused = await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'I live in Rome.' } })
  t.match([refused.statusCode, refused.json()], [503, {
    code: 'ERR_STORE_UNAVAILABLE',
    error: /Restart the service: it repairs what can be repaired/
  }])
  await app.close()

  const again = await build(t, { home, cwd: join(dir, 'work') })
  t.match((await again.inject('/health')).json().checks, { store: 'repaired: records may be missing' })
})
