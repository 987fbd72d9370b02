import { cpSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { oneLedger } from '../../../services/store/migrate-to-one-ledger.ts'
import { openStore } from '../../../services/store/store.ts'
import { build } from '../../harness/helper.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { open, watched } from './helper.ts'

/** A task as the version of schema 2 stored it. */
const taskOf2 = (id: string, cwd: string, fields: object) => ({
  id,
  goal: 'system info',
  taskType: 'triggered',
  status: 'scheduled',
  cwd,
  plan: { phases: [{ id: 'phase-1', description: 'systemInfo', status: 'pending' }], qualityCriteria: [], source: 'user' },
  approval: { mode: 'never', firstN: 3, approvedRuns: 0 },
  memory: { findings: [], sources: [], filesCreated: [], decisions: [], feedback: [] },
  approvalHistory: [],
  steeringHistory: [],
  totalRuns: 0,
  successfulRuns: 0,
  createdAt: 1795532800000,
  updatedAt: 1795532800000,
  learnedTools: [],
  failuresInRow: 0,
  slotRuns: 0,
  ...fields
})
const ids = { none: '01a203c5-99da-7382-bf76-daff280c2ad6', both: '01a203c5-bd84-7736-b1f8-b2f851e03fbb' }

/** A directory with a store of schema 2. */
async function lay (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  const store = await openStore({ dir: home, clock: systemClock, migrations: [oneLedger] })
  await store.transact([
    { type: 'put', key: `task/${ids.none}`, value: taskOf2(ids.none, cwd, {}) },
    { type: 'put', key: `task/${ids.both}`, value: taskOf2(ids.both, cwd, { budget: { maxTokensPerRun: 1, maxMinutesPerRun: 90 } }) }
  ])
  await store.close()
  return { dir, home, cwd }
}

/** The tasks show their limits in both forms, and their runs keep to them. */
async function isWhole (t: Test, where: { home: string, cwd: string }) {
  const app = await build(t, where)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  t.match(await tasks.get(`/${ids.none}`), { options: { budget: { minutes: 30, tokens: undefined } }, budget: { maxMinutesPerRun: 30 } })
  const both = await tasks.get(`/${ids.both}`)
  t.strictSame(both.options, { budget: { tokens: 1, minutes: 90 } })
  t.strictSame(both.budget, { maxTokensPerRun: 1, maxMinutesPerRun: 90 })
  await tasks.post(`/${ids.both}/run`)
  t.match(await events.until('task:error'), { taskId: ids.both, error: /its budget/ })
  await tasks.post(`/${ids.none}/run`)
  await events.until('task:complete', { taskId: ids.none })
  await app.close()
}

t.test('tasks of schema 2 get their limits as options', async (t) => {
  await isWhole(t, await lay(t))
})

t.test('a start that is cut at any write of this migration is made good by the next one', async (t) => {
  const { dir, home, cwd } = await lay(t)
  let cut = 0
  for (let done = false; !done; cut++) {
    const here = `${dir}/home-${cut}`
    cpSync(home, here, { recursive: true })
    let left = cut
    const { openDatabase } = watched({
      async onBatch () {
        if (left-- === 0) throw new Error('cut off')
      }
    })
    const store = await openStore({ dir: here, clock: systemClock, openDatabase }).catch((error) => {
      t.match(error.message, /cut off/)
      return undefined
    })
    done = store !== undefined
    await store?.close()
    await isWhole(t, { home: here, cwd })
  }
  t.ok(cut > 1, `${cut} writes`)
})

t.test('a version that does not know the options refuses the store', async (t) => {
  const { home } = await lay(t)
  await (await open(t, home)).close()
  await t.rejects(open(t, home, { migrations: [oneLedger] }), { code: 'ERR_STORE_NEWER' })
})
