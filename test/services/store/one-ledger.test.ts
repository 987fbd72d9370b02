import { cpSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../../app.ts'
import { linesOf } from '../../../services/backup/backup-contents.ts'
import { encryptBackup } from '../../../services/backup/backup-format.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { openStore } from '../../../services/store/store.ts'
import { fakeClock } from '../../harness/clock.ts'
import { build } from '../../harness/helper.ts'
import { layStoreOfSchema1, SCHEMA_1 } from '../../harness/schema-1.ts'
import { tasksOf } from '../../harness/tasks.ts'
import { damage } from './rewrite.ts'
import { open, watched } from './helper.ts'

const { tasks: TASKS } = SCHEMA_1
const noExtra = { N: 10, r: 1, p: 1 }

async function lay (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  await layStoreOfSchema1(home, cwd)
  return { dir, home, cwd }
}

const serve = (t: Test, { home, cwd }: { home: string, cwd: string }) => build(t, { home, cwd, clock: fakeClock(SCHEMA_1.at + 1_000) })
const decide = async (app: App, id: string, approved: boolean) =>
  (await app.inject({ method: 'POST', url: `/approvals/${id}`, payload: { approved } })).json()

/** All that waited is listed and can be answered; what was decided stays decided. */
async function isWhole (t: Test, app: App & { cwd: string }) {
  const { approvals } = (await app.inject('/approvals')).json()
  const owner = ({ threadId, taskId }: { threadId?: string, taskId?: string }) => threadId ?? taskId
  t.same(
    approvals.map((approval: any) => [approval.kind, owner(approval), approval.toolName, approval.state]).sort(),
    [
      ['tool', 'chat', 'writeFile', 'pending'],
      ['tool', TASKS.tool, 'writeFile', 'pending'],
      ['result', TASKS.result, undefined, 'pending'],
      ['tool', TASKS.paused, 'writeFile', 'pending']
    ].sort()
  )
  const idOf = (whose: string) => approvals.find((approval: any) => owner(approval) === whose).approvalId
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  t.match(await tasks.get(`/${TASKS.tool}`), { status: 'pending_approval', waitingFor: [{ kind: 'tool', id: idOf(TASKS.tool) }] })
  t.match(await tasks.runs(TASKS.result), [{ questions: [{ kind: 'result', approvalId: idOf(TASKS.result), output: /result\.txt/ }] }])

  t.match(await decide(app, idOf('chat'), true), { state: 'approved', threadId: 'chat', continued: true })
  while (app.agent.activeRunCount > 0) await new Promise(setImmediate)
  t.equal(readFileSync(`${app.cwd}/chat.txt`, 'utf8'), 'hello')
  t.match(await decide(app, idOf(TASKS.tool), true), { state: 'approved', taskId: TASKS.tool, continued: true })
  await events.until('task:approval', { kind: 'result', taskId: TASKS.tool })
  t.equal(readFileSync(`${app.cwd}/tool.txt`, 'utf8'), 'x')
  t.match(await decide(app, idOf(TASKS.result), true), { state: 'approved', continued: false })
  t.match(await tasks.get(`/${TASKS.result}`), { status: 'completed', approval: { approvedRuns: 1 } })
  await tasks.post(`/${TASKS.paused}/resume`)
  t.match(await decide(app, idOf(TASKS.paused), false), { state: 'denied', continued: true })

  const decisions = async (id: string) => (await tasks.get(`/${id}`)).approvalHistory
  const [tool, rejected] = await decisions(TASKS.rejected)
  t.match(await decide(app, tool.approvalId, true), { state: 'approved' }, 'the same decision again')
  t.match(await decide(app, tool.approvalId, false), { statusCode: 409 })
  t.match(await decide(app, rejected.approvalId, false), { state: 'denied' })
  const [late] = await decisions(TASKS.expired)
  t.match(await decide(app, late.approvalId, true), { statusCode: 410 })
  t.same((await tasks.runs(TASKS.cancelled))[0].questions, [])
}

t.test('a store of schema 1 is brought forward: what waits for a person can be answered, what was decided stays decided', async (t) => {
  await isWhole(t, await serve(t, await lay(t)))
})

t.test('a start that is cut at any write of the migration is made good by the next one', async (t) => {
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
    const app = await serve(t, { home: here, cwd })
    await isWhole(t, app)
    await app.close()
  }
  t.ok(cut > 6, `${cut} writes`)
})

t.test('a damaged record is left as it is, and holds up neither the start nor the others', async (t) => {
  const { home, cwd } = await lay(t)
  await damage(home, [`task-run/${TASKS.tool}/0000000001`])
  const app = await serve(t, { home, cwd })
  const { approvals } = (await app.inject('/approvals')).json()
  t.same(approvals.length, 3)
})

t.test('a backup of schema 1 is brought forward, too', async (t) => {
  const { dir, home, cwd } = await lay(t)
  const old = await open(t, home, { migrations: [] })
  const backup: Buffer[] = []
  const lines = linesOf(old.contents(new AbortController().signal, () => {}), {}, SCHEMA_1.at)
  for await (const chunk of encryptBackup(lines, 'correct horse', noExtra)) backup.push(chunk)
  await old.close()
  const there = { home: `${dir}/there`, cwd }
  const app = await build(t, there)
  const { statusCode } = await app.inject({
    method: 'POST',
    url: '/import',
    headers: { 'content-type': 'application/octet-stream', 'x-export-passphrase': 'correct horse' },
    payload: Buffer.concat(backup)
  })
  t.equal(statusCode, 200)
  await app.close()
  await isWhole(t, await serve(t, there))
})
