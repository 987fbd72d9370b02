import { cpSync, readdirSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { migrations, newestOf } from '../../services/store/migrations.ts'
import { schemaName } from '../../services/store/meta-record.ts'
import { openStore } from '../../services/store/open.ts'
import { ofEarlierBuild } from '../services/store/rewrite.ts'
import { spawnService } from '../harness/sidecar.ts'

const { base, version } = newestOf(migrations)
const next = { base, version: version + 1 }
const newer = { clock: systemClock, migrations: [...migrations, { to: next.version, async * migrate () {} }] }

async function lay (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  const store = await openStore({ ...newer, dir: home })
  await store.transact([{ type: 'put', key: 'task/later', value: { of: 'another day' } }])
  await store.close()
  return { home, cwd }
}

/** Starts the built service and returns its sentences. */
async function refused (t: Test, where: { home: string, cwd: string }) {
  const { exited, log } = spawnService(where)
  t.match(await exited, { code: 78 })
  t.notMatch(log(), /^\s+at /m, 'no stack')
  return log()
}

t.test('the built service refuses data of a newer version in a sentence, and leaves it alone', async (t) => {
  const where = await lay(t)

  t.match(await refused(t, where), new RegExp(`newer version[^]*schema ${schemaName(next).replace('.', '\\.')}`))

  const again = await openStore({ ...newer, dir: where.home })
  t.same(await again.get('task/later'), { of: 'another day' })
  await again.close()
})

t.test('the built service refuses data of an earlier build, says what to do, and leaves it alone', async (t) => {
  const { home, cwd } = await lay(t)
  await ofEarlierBuild(home, 4)
  cpSync(home, `${home}-kept`, { recursive: true })

  t.match(await refused(t, { home, cwd }), /earlier build[^]*or move .*data away to start empty/)

  t.same(readdirSync(home).filter((name) => name.startsWith('data')), ['data'])
  t.same(await ofEarlierBuild(home, 4), await ofEarlierBuild(`${home}-kept`, 4))
})
