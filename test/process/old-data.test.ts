import { readdirSync } from 'node:fs'
import t from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { migrations, newestOf } from '../../services/store/migrations.ts'
import { openStore } from '../../services/store/store.ts'
import { layStoreOfSchema1, SCHEMA_1 } from '../harness/schema-1.ts'
import { spawnService, startService } from '../harness/sidecar.ts'

t.test('the built service takes over the data of an old version, and keeps a copy from before', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  await layStoreOfSchema1(home, cwd)

  const { url, stop } = await startService(t, { home, cwd })

  const { tasks } = await (await fetch(`${url}/tasks`)).json() as { tasks: Array<{ id: string }> }
  t.same(tasks.map(({ id }) => id).sort(), Object.values(SCHEMA_1.tasks).sort())
  t.match(readdirSync(home).filter((name) => name.startsWith('data.')), [/^data\.v1-/])
  t.match(await stop(), { code: 0 })
})

t.test('the built service refuses data of a newer version in a sentence, and leaves it alone', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  const to = newestOf(migrations) + 1
  const newer = { dir: home, clock: systemClock, migrations: [...migrations, { to, async * migrate () {} }] }
  const store = await openStore(newer)
  await store.transact([{ type: 'put', key: 'task/later', value: { of: 'another day' } }])
  await store.close()

  const { exited, log } = spawnService({ home, cwd })

  t.match(await exited, { code: 78 })
  t.match(log(), new RegExp(`newer version[^]*schema ${to}`))
  t.notMatch(log(), /^\s+at /m, 'no stack')
  const again = await openStore(newer)
  t.same(await again.get('task/later'), { of: 'another day' })
  await again.close()
})
