import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FiringList } from '../../schemas/triggers.ts'
import { UNDO_ENTRIES } from '../../services/store/keys.ts'
import { changesBetween } from '../../services/tasks/triggers/file-changes.ts'
import { HOUR, MINUTE, scheduling, SECOND } from '../harness/schedules.ts'

type Given = Awaited<ReturnType<typeof scheduling>>
type Life = Pick<Given, 'tasks' | 'events'>

/** A service with a folder `in`, whose tasks have triggers. */
async function watching (t: Parameters<typeof scheduling>[0]) {
  const given = await scheduling(t)
  const inbox = join(given.cwd, 'in')
  mkdirSync(inbox)
  return { ...given, inbox, put: (name: string, text = name) => writeFileSync(join(inbox, name), text) }
}

const firings = ({ tasks }: Life, id: string): Promise<FiringList> => tasks.get(`/${id}/firings`)

/** Lets time pass, and the folders be looked at, until the task has so many firings. */
async function untilFired ({ clock, ...life }: Life & { clock: Given['clock'] }, id: string, count: number): Promise<FiringList> {
  for (let turns = 0; ; turns++) {
    const found = await firings(life, id)
    if (found.firings.length >= count) return found
    if (turns === 2_000) throw new Error(`no firing: ${JSON.stringify(found)}`)
    await clock.advance(2 * SECOND)
  }
}

/** Resolves once the folder was looked at after now. */
async function lookedAt (given: Life & { clock: Given['clock'] }, id: string, state = 'watching'): Promise<FiringList> {
  const from = given.clock.now()
  for (let turns = 0; ; turns++) {
    const found = await firings(given, id)
    const [trigger] = found.triggers
    if (trigger.state === state && (state !== 'watching' || trigger.lookedAt! >= from)) return found
    if (turns === 2_000) throw new Error(`not ${state}: ${JSON.stringify(found)}`)
    await given.clock.advance(SECOND)
  }
}

const FILES = [{ type: 'files', path: 'in' }]

t.test('a burst of changes is one run that gets the paths as data, and what the run itself writes does not fire it', async (t) => {
  const given = await watching(t)
  const { tasks, events } = given
  const { id, taskType } = await tasks.create('write "seen" to in/seen.txt', { triggers: FILES, start: true })
  t.equal(taskType, 'triggered')
  await lookedAt(given, id)
  for (let n = 0; n < 1_000; n++) given.put(`${n}.txt`)

  const { firings: [fired] } = await untilFired(given, id, 1)
  t.match(fired, { type: 'files', fate: 'run', changed: 1_000, files: [{ path: '0.txt', kind: 'new' }] })
  await events.until('task:complete', { taskId: id })
  const run = await tasks.get(`/${id}/runs/${fired.runId}`)
  t.match(run, { trigger: 'files', input: { changedFiles: [{ count: 1_000, more: 'and 800 more' }] } })

  await lookedAt(given, id)
  await given.clock.advance(HOUR)
  t.equal((await firings(given, id)).firings.length, 1, 'its own file fires nothing')
  // The folder is looked at while the undo has taken the file away and has not ended.
  const { store } = given.app
  const { transact } = store
  const isLooked = Promise.withResolvers<void>()
  store.transact = async (ops) => {
    const isEnd = ops.some((op) => op.type === 'put' && op.key.startsWith(UNDO_ENTRIES) && (op.value as { ended?: true }).ended)
    if (isEnd) await isLooked.promise
    return transact(ops)
  }
  const undone = given.app.inject({ method: 'POST', url: `/runs/${fired.runId}/undo`, payload: {} })
  while (existsSync(join(given.inbox, 'seen.txt'))) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match((await lookedAt(given, id)).triggers, [{ files: 1_000 }])
  isLooked.resolve()
  t.equal((await undone).statusCode, 200)
  await lookedAt(given, id)
  t.equal((await firings(given, id)).firings.length, 1, 'nor does its undo')
})

t.test('what changes within a minute is joined, and what changed while the service was away is found', async (t) => {
  const given = await watching(t)
  const { tasks, events, clock, put } = given
  const { id } = await tasks.create('system info', { triggers: [{ ...FILES[0], glob: '*.csv' }], start: true })
  await lookedAt(given, id)
  put('a.csv')
  put('a.txt')
  symlinkSync('/etc/hostname', join(given.inbox, 'link.csv'))
  const { firings: [first] } = await untilFired(given, id, 1)
  t.match(first, { changed: 1, files: [{ path: 'a.csv', kind: 'new' }] })
  await events.until('task:complete', { taskId: id })
  put('b.csv')
  await clock.advance(5 * SECOND)
  put('c.CSV')
  const { firings: [joined] } = await untilFired(given, id, 2)
  t.match(joined, { files: [{ path: 'b.csv' }, { path: 'c.CSV' }], changed: 2 })
  t.ok(joined.at >= first.at + 50 * SECOND, 'a minute apart')
  await events.until('task:complete', { taskId: id })

  await given.close()
  put('d.csv')
  rmSync(join(given.inbox, 'a.csv'))
  renameSync(join(given.inbox, 'b.csv'), join(given.inbox, 'e.csv'))
  const life = await given.restart(HOUR)
  const { firings: [away] } = await untilFired({ ...life, clock }, id, 3)
  t.match(away, { away: true, changed: 4, fate: 'run' })
  t.same(away.files!.map(({ path, kind }) => `${kind} ${path}`), ['deleted a.csv', 'deleted b.csv', 'new d.csv', 'new e.csv'])
  await life.events.until('task:complete', { taskId: id })
  await clock.advance(2 * SECOND)
  const digest = await life.tasks.get(`/digest?since=${away.at - MINUTE}`)
  t.match(digest.text, /4 files changed while the service was away/)
  t.match(digest.fired.items, [{ taskId: id, firing: { id: away.id } }])
})

t.test('a run of another task begins one, and two tasks that begin each other end by themselves', async (t) => {
  const given = await scheduling(t)
  const { tasks, events } = given
  const a = await tasks.create('system info', { taskType: 'triggered' })
  const b = await tasks.create('system info', { triggers: [{ type: 'task', taskId: a.id, on: 'completed' }], start: true })
  t.equal((await tasks.call('PUT', `/${a.id}`, { triggers: [{ type: 'task', taskId: a.id, on: 'failed' }] })).status, 400, 'not itself')
  await tasks.call('PUT', `/${a.id}`, { triggers: [{ type: 'task', taskId: b.id, on: 'completed' }] })
  await tasks.post(`/${a.id}/start`)
  await tasks.post(`/${a.id}/run`)
  await events.until('task:complete', { taskId: a.id })
  await events.until('task:complete', { taskId: b.id })

  const { firings: [ofB] } = await untilFired(given, b.id, 1)
  t.match(ofB, { type: 'task', fate: 'run', causes: [a.id], ends: [{ taskId: a.id, on: 'completed' }] })
  t.match(await tasks.get(`/${b.id}/runs/${ofB.runId}`), {
    trigger: 'task',
    causes: [a.id],
    input: { endedRuns: [{ taskId: a.id, ended: 'completed', report: String }] }
  })
  const { firings: [ofA] } = await untilFired(given, a.id, 1)
  t.match(ofA, { fate: 'loop', causes: [a.id, b.id] })
  t.notOk(ofA.runId)
  t.equal((await tasks.get(`/${a.id}`)).totalRuns, 1)

  await tasks.call('DELETE', `/${a.id}`)
  t.match(await firings(given, b.id), { triggers: [{ state: 'gone', text: /deleted/ }] })
})

t.test('two tasks that write the files which fire each other end by themselves', async (t) => {
  const given = await watching(t)
  const { tasks, events, cwd } = given
  mkdirSync(join(cwd, 'out'))
  const a = await tasks.create('write "a" to out/a.txt', { triggers: FILES, start: true })
  const b = await tasks.create('write "b" to in/b.txt', { triggers: [{ type: 'files', path: 'out' }], start: true })
  await lookedAt(given, a.id)
  await lookedAt(given, b.id)
  given.put('begin.txt')
  await events.until('task:complete', { taskId: (await untilFired(given, a.id, 1)) && a.id })
  t.match((await untilFired(given, b.id, 1)).firings, [{ fate: 'run', causes: [a.id], files: [{ path: 'a.txt' }] }])
  await events.until('task:complete', { taskId: b.id })
  t.match((await untilFired(given, a.id, 2)).firings, [{ fate: 'loop', causes: [a.id, b.id], files: [{ path: 'b.txt' }] }, { fate: 'run' }])
})

t.test('a folder that vanishes fires nothing, and what differs when it is there again does', async (t) => {
  const given = await watching(t)
  const { tasks, inbox, put } = given
  put('a.txt')
  const { id } = await tasks.create('system info', { triggers: FILES, start: true })
  await lookedAt(given, id)
  renameSync(inbox, `${inbox}2`)
  t.match(await lookedAt(given, id, 'missing'), { firings: [], triggers: [{ text: /not there/ }] })
  renameSync(`${inbox}2`, inbox)
  t.match(await lookedAt(given, id), { firings: [] }, 'it is as it was')
  put('b.txt')
  t.match((await untilFired(given, id, 1)).firings, [{ files: [{ path: 'b.txt', kind: 'new' }] }])
})

/** Mounts a file system that answers nothing until the returned function takes it away; undefined where that is not permitted. */
async function mountHanging (folder: string): Promise<(() => Promise<void>) | undefined> {
  const options = 'fd=3,rootmode=40000,user_id=0,group_id=0'
  const script = 'exec 3<>/dev/fuse && mount -i -t fuse hanging "$0" -o "$1" && echo mounted && exec sleep 3600'
  const holder = spawn('sh', ['-c', script, folder, options], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(holder, 'exit')
  if (await Promise.race([exited, once(holder.stdout, 'data')]).then(() => holder.exitCode !== null)) return undefined
  return async () => {
    holder.kill('SIGKILL')
    await exited
    spawnSync('umount', ['-l', folder])
  }
}

t.test('a folder on a file system that hangs does not hold up the others, and is watched again when it answers', async (t) => {
  const given = await watching(t)
  const { tasks, clock, cwd } = given
  mkdirSync(join(cwd, 'other'))
  const [hanging, other] = await Promise.all(['in', 'other'].map((path) =>
    tasks.create('list the files here', { triggers: [{ type: 'files', path }], start: true })))
  for (const { id } of [hanging, other]) await lookedAt(given, id)
  const unmount = await mountHanging(given.inbox)
  if (unmount === undefined) return t.pass('not tried', { skip: 'such a file system cannot be mounted here' })
  t.teardown(unmount)

  const state = async () => (await firings(given, hanging.id)).triggers[0].state
  while (await state() !== 'missing') await clock.advance(MINUTE)
  writeFileSync(join(cwd, 'other', 'new.txt'), '')
  t.match((await untilFired(given, other.id, 1)).firings, [{ fate: 'run', files: [{ path: 'new.txt' }] }])

  await unmount()
  while (await state() !== 'watching') await clock.advance(MINUTE)
  return undefined
})

t.test('a task that is paused fires nothing, and says after the pause what it left out; a change of triggers begins anew', async (t) => {
  const given = await watching(t)
  const { tasks, put, clock, cwd } = given
  const { id } = await tasks.create('system info', { triggers: FILES, start: true })
  await lookedAt(given, id)
  await tasks.post(`/${id}/pause`)
  put('a.txt')
  await clock.advance(MINUTE)
  t.match(await firings(given, id), { triggers: [{ state: 'resting' }], firings: [] })
  await tasks.post(`/${id}/resume`)
  t.match((await untilFired(given, id, 1)).firings, [{ fate: 'skipped', reason: 'paused', files: [{ path: 'a.txt' }] }])

  mkdirSync(join(cwd, 'other'))
  await tasks.call('PUT', `/${id}`, { triggers: [{ type: 'files', path: 'other' }] })
  await lookedAt(given, id)
  put('b.txt')
  writeFileSync(join(cwd, 'other/c.txt'), 'c')
  t.match((await untilFired(given, id, 2)).firings[0], { fate: 'run', files: [{ path: 'c.txt' }], changed: 1 })
  t.notOk('triggers' in (await tasks.call('PUT', `/${id}`, { triggers: [] })).body)
  t.same((await firings(given, id)).triggers, [])
  const page = await tasks.get(`/${id}/firings?limit=1`)
  t.match(await tasks.get(`/${id}/firings?limit=1&cursor=${page.nextCursor}`), { firings: [{ reason: 'paused' }], nextCursor: undefined })
})

t.test('triggers that cannot be are refused', async (t) => {
  const given = await watching(t)
  given.put('file')
  const ID = '01a1fef7-4334-7355-8a31-93bc63563d6b'
  for (const [fields, message] of [
    [{ taskType: 'one_shot', triggers: FILES }, /not to "one_shot"/],
    [{ triggers: [{ type: 'files', path: 'gone' }] }, /not there/],
    [{ triggers: [{ type: 'files', path: '/etc' }] }, /outside the folders/],
    [{ triggers: [{ type: 'files', path: given.home }] }, /off limits/],
    [{ triggers: [{ type: 'files', path: 'in/file' }] }, /is a file/],
    [{ triggers: [{ type: 'files', path: 'in', glob: '../*' }] }, /relative/],
    [{ triggers: [{ type: 'task', taskId: ID, on: 'failed' }] }, /no task/],
    [{ triggers: [{ type: 'task', taskId: ID, on: 'queued' }] }, /./]
  ] as Array<[object, RegExp]>) {
    const { status, body } = await given.tasks.call('POST', '', { goal: 'system info', ...fields })
    t.equal(status, 400, JSON.stringify(fields))
    t.match(body.message ?? body.error, message)
  }
})

t.test('what differs between two looks at a folder', async (t) => {
  const before: Parameters<typeof changesBetween>[0] = [['a', 1, 1], ['b', 1, 1], ['c/d', 1, 1], ['e', 1, 1]]
  t.same(changesBetween(before, [['a', 1, 1], ['b', 2, 1], ['e', 1, 2], ['f', 1, 3]], ['c/']), [
    { path: 'b', kind: 'changed', modifiedAt: 1 },
    { path: 'e', kind: 'changed', modifiedAt: 2 },
    { path: 'f', kind: 'new', modifiedAt: 3 }
  ], 'nothing is known of what cannot be read')
  t.same(changesBetween([['c/d', 1, 1]], []), [{ path: 'c/d', kind: 'deleted' }])
})
