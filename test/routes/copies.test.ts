import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { basename } from 'node:path'
import t, { type Test } from 'tap'
import { newId } from '../../services/lib/ids.ts'
import type { Plan } from '../fakes/gateway.ts'
import { BUBBLEWRAP, NO_BOX } from '../harness/boxes.ts'
import { fakeClock } from '../harness/clock.ts'
import { until } from '../harness/exercise.ts'
import { stateOf } from '../harness/folders.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = (toolName: string, input: object) => ({ toolCalls: [{ toolName, input }] })

/** A conversation that works on a copy of the folder, whose model does these steps and then says "done". */
async function onCopy (t: Test, steps: Plan[], options: Parameters<typeof withGateway>[2] = {}) {
  const plans = [...steps]
  const settings = { config: { analysis: false }, boxes: NO_BOX, ...options }
  const { app, gateway } = await withGateway(t, () => plans.shift() ?? { text: 'done' }, settings)
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const post = async (url: string, payload: object = {}) => app.inject({ method: 'POST', url, payload })
  const say = async (content = 'go', options = {}) =>
    (await post('/run/sync', { id: 'chat', message: { role: 'user', content }, options: { workspace: 'copy', ...options } })).json()
  return { app, gateway, plans, post, say, at: (path: string) => `${app.cwd}/${path}` }
}

t.test('a run on a copy changes files unasked, shows the paths of the folder, and is taken over by a person', async (t) => {
  const { app, gateway, post, say, at } = await onCopy(t, [
    call('readFile', { path: 'a.txt' }),
    call('writeFile', { path: 'new/b.txt', content: 'B' }),
    {
      toolCalls: [
        { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: 'one', newText: 'ONE' }] } },
        { toolName: 'deleteFile', input: { path: 'gone.txt' } },
        { toolName: 'moveFile', input: { from: 'old.txt', to: 'moved.txt' } }
      ]
    }
  ])
  for (const name of ['a.txt', 'gone.txt', 'old.txt', 'kept.txt']) writeFileSync(at(name), `one of ${name}`)
  symlinkSync('kept.txt', at('link'))
  const run = await say()
  t.match(run, { text: 'done', pendingApprovals: [] })
  t.match(run.toolCalls.map(({ output, errorText }: any) => output?.path ?? output?.to ?? errorText), [
    at('a.txt'), at('new/b.txt'), at('a.txt'), at('gone.txt'), at('moved.txt')
  ])
  const prompts = JSON.stringify(gateway.requests.map(({ body }) => body.prompt))
  t.match(prompts, `${app.cwd}/a.txt`)
  t.notMatch(prompts, `${app.home}-copies`)
  t.equal(readFileSync(at('a.txt'), 'utf8'), 'one of a.txt', 'the folder is as it was')
  t.same(readdirSync(app.cwd).sort(), ['a.txt', 'gone.txt', 'kept.txt', 'link', 'old.txt'])

  const changes = (await app.inject(`/runs/${run.runId}/changes`)).json().changes
  t.match(changes.map(({ path }: any) => path).sort(), [at('a.txt'), at('gone.txt'), at('moved.txt'), at('new/b.txt')])
  const taken = (await post(`/runs/${run.runId}/undo`, { paths: [at('moved.txt'), at('old.txt')] })).json()
  t.match(taken, { restored: [at('moved.txt'), at('old.txt')], skipped: [] }, 'an undo in the copy goes by the paths of the folder, too')
  t.match((await post(`/runs/${taken.undoId}/undo`, { paths: [at('moved.txt'), at('old.txt')] })).json(), { skipped: [] })
  const dry = (await post(`/runs/${run.runId}/apply`, { dryRun: true })).json()
  t.same(dry.applied.sort(), [at('a.txt'), at('gone.txt'), at('moved.txt'), at('new'), at('new/b.txt'), at('old.txt')])
  t.same(dry.skipped, [])
  const kinds = dry.planned.map(({ path, kind, from }: any) => [path, kind, ...from === undefined ? [] : [from]])
  t.same(kinds.sort(), [
    [at('a.txt'), 'changed'],
    [at('gone.txt'), 'deleted'],
    [at('moved.txt'), 'moved', at('old.txt')],
    [at('new'), 'created'],
    [at('new/b.txt'), 'created']
  ], 'as the changes of the run are shown, with a move as one')
  t.notOk(existsSync(at('new')))

  const some = (await post(`/runs/${run.runId}/apply`, { paths: ['new/b.txt'] })).json()
  t.same(some.applied, [at('new'), at('new/b.txt')])
  t.equal(readFileSync(at('new/b.txt'), 'utf8'), 'B')
  writeFileSync(at('a.txt'), 'changed by its user')
  const rest = (await post(`/runs/${run.runId}/apply`)).json()
  t.same(rest.applied.sort(), [at('gone.txt'), at('moved.txt'), at('old.txt')])
  t.same(rest.skipped, [{ path: at('a.txt'), reason: 'changed_since' }], 'what somebody changed stays')
  t.equal(readFileSync(at('a.txt'), 'utf8'), 'changed by its user')
  t.equal(readlinkSync(at('link')), 'kept.txt')
  t.same((await post(`/runs/${run.runId}/apply`)).json().applied, [])

  t.match((await app.inject(`/runs/${run.runId}/changes`)).json().followUps, [
    { id: taken.undoId, kind: 'undo', paths: 2 },
    { id: some.applyId, kind: 'apply', paths: 2, isCut: undefined },
    { id: rest.applyId, kind: 'apply', paths: 3 }
  ], 'the run names what was done with its changes')
  t.match((await post(`/runs/${rest.applyId}/undo`)).json(), { skipped: [] })
  t.match((await post(`/runs/${some.applyId}/undo`)).json(), { skipped: [] })
  t.same(readdirSync(app.cwd).sort(), ['a.txt', 'gone.txt', 'kept.txt', 'link', 'old.txt'])
  t.equal(readFileSync(at('old.txt'), 'utf8'), 'one of old.txt')
  const again = (await post(`/runs/${run.runId}/apply`)).json()
  t.same(again.applied.sort(), [...some.applied, ...rest.applied].sort(), 'what was taken back can be applied once more')
  t.same(readdirSync(app.cwd).sort(), ['a.txt', 'kept.txt', 'link', 'moved.txt', 'new'])
})

t.test('a copy is thrown away when no run of its conversation needs it, and the next run begins with a new one', async (t) => {
  const write = (path: string) => call('writeFile', { path, content: path })
  const { app, plans, post, say, at } = await onCopy(t, [write('a.txt')])
  const { runId } = await say()
  const refused = (await post(`/runs/${runId}/apply`, { discard: true, paths: ['a.txt'] })).json()
  t.match(refused, { statusCode: 400, code: 'ERR_INVALID_REQUEST' })
  t.match((await post(`/runs/${runId}/apply`, { discard: true, dryRun: true })).json(), { applied: [at('a.txt')] }, 'what would be lost')
  plans.push(call('runCommand', { command: 'true' }))
  const waiting = await say()
  t.match((await post(`/runs/${runId}/apply`, { discard: true })).json(), { statusCode: 409, code: 'ERR_RUN_LIVE' }, 'a later run waits')
  const over = new Promise<string>((resolve) => app.agent.onEnd(resolve))
  await post(`/approvals/${waiting.pendingApprovals[0].approvalId}`, { approved: false })
  await over
  t.same((await post(`/runs/${runId}/apply`, { discard: true })).json(), { applied: [], discarded: true, skipped: [] })
  t.same(readdirSync(`${app.home}-copies`), [])
  t.same(readdirSync(app.cwd), [], 'nothing came into the folder')
  t.match((await post(`/runs/${runId}/apply`)).json(), { statusCode: 409, code: 'ERR_COPY_REFUSED' })
  plans.push(write('b.txt'))
  t.same((await post(`/runs/${(await say()).runId}/apply`)).json().applied, [at('b.txt')])
})

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

t.test('commands in the box work on the copy, at the path of the folder, and what leaves the box asks', { skip }, async (t) => {
  const command = (text: string, more = {}) => call('runCommand', { command: text, ...more })
  const { app, post, say, at } = await onCopy(t, [
    command('pwd; rm gone.sh; chmod 755 tool.sh; printf x > made; ln -s made to-made; mv folder other; cat "$OLDPWD/nothing"; ls'),
    command(`cat ${JSON.stringify('PLACE')}/tool.sh`),
    command('date', { outside: true, reason: 'it needs the computer' })
  ].map((plan) => JSON.parse(JSON.stringify(plan).replaceAll('PLACE', `${t.testdirName}/work`))), { boxes: BUBBLEWRAP })
  writeFileSync(at('gone.sh'), 'echo gone')
  writeFileSync(at('tool.sh'), 'echo tool')
  chmodSync(at('tool.sh'), 0o644)
  mkdirSync(at('folder'))
  writeFileSync(at('folder/in.txt'), 'in')
  const run = await say()
  const [first, second] = run.toolCalls.map(({ output }: any) => output?.stdout)
  t.match(first, app.cwd)
  t.match(second, 'echo tool', 'the path of the folder is that of the copy')
  t.match(run.pendingApprovals, [{ toolName: 'runCommand', input: { outside: true }, cwd: app.cwd }])
  t.notMatch(JSON.stringify(run), `${app.home}-copies`)
  const waiting = await app.inject('/approvals')
  t.match(waiting.json().approvals, [{ cwd: app.cwd, boundary: { is: 'outside' } }])
  t.notMatch(waiting.body, `${app.home}-copies`)
  t.ok(existsSync(at('gone.sh')))
  t.match((await post(`/runs/${run.runId}/apply`)).json(), { code: 'ERR_RUN_LIVE' })
  await post('/run/chat/stop')

  const { applied, skipped, applyId } = (await post(`/runs/${run.runId}/apply`)).json()
  t.same(skipped, [])
  t.same(applied.sort(), ['folder', 'folder/in.txt', 'gone.sh', 'made', 'other', 'other/in.txt', 'to-made', 'tool.sh'].map(at))
  t.equal(statSync(at('tool.sh')).mode & 0o777, 0o755)
  t.equal(readlinkSync(at('to-made')), 'made')
  t.equal(readFileSync(at('other/in.txt'), 'utf8'), 'in')
  t.notOk(existsSync(at('folder')))
  await post(`/runs/${applyId}/undo`)
  t.same(readdirSync(app.cwd).sort(), ['folder', 'gone.sh', 'tool.sh'])
  t.equal(statSync(at('tool.sh')).mode & 0o777, 0o644)
})

t.test('a conversation keeps its copy, also over a restart, other ones may not look into it, and it goes with it', async (t) => {
  const { app, plans, post, say, at } = await onCopy(t, [call('writeFile', { path: 'a.txt', content: '1' })])
  const first = await say()
  const [id] = readdirSync(`${app.home}-copies`)
  plans.push(call('readFile', { path: 'a.txt' }))
  const second = await say()
  t.match(second.toolCalls, [{ output: { content: '1', path: at('a.txt') } }])
  t.equal(readdirSync(`${app.home}-copies`).length, 1)

  plans.push(call('readFile', { path: `${app.home}-copies/${id}/work/a.txt` }))
  const other = (await post('/run/sync', { id: 'other', message: { role: 'user', content: 'go' } })).json()
  t.match(other.toolCalls, [{ errorText: /may be used|another conversation/ }])
  t.match((await post(`/runs/${other.runId}/apply`)).json(), { code: 'ERR_COPY_REFUSED' })
  for (const strange of [newId(), '%F3%B0%84%AE']) {
    t.match((await post(`/runs/${strange}/apply`)).json(), { code: 'ERR_RUN_NOT_FOUND' })
  }

  await app.close()
  const { app: again } = await withGateway(t, () => ({ text: 'done' }), { home: app.home, cwd: app.cwd })
  const apply = async () => (await again.inject({ method: 'POST', url: `/runs/${first.runId}/apply` })).json()
  t.match(await apply(), { applied: [at('a.txt')] })
  await again.inject({ method: 'DELETE', url: '/threads/chat' })
  await until(() => readdirSync(`${app.home}-copies`).length === 0)
  t.match(await apply(), { code: 'ERR_RUN_NOT_FOUND' })
})

t.test('a link that leads out of the copy asks, and folders that cannot be copied are refused', async (t) => {
  const { app, post, at } = await onCopy(t, [call('writeFile', { path: 'out/a.txt', content: 'A' })])
  mkdirSync(at('real'))
  mkdirSync(at('place'))
  symlinkSync(at('real'), at('place/out'))
  const cwd = at('place')
  const run = (await post('/run/sync', { id: 'x', cwd, message: { role: 'user', content: 'go' }, options: { workspace: 'copy' } })).json()
  t.match(run.pendingApprovals, [{ toolName: 'writeFile' }])
  t.notOk(existsSync(at('real/a.txt')))

  for (const folder of ['/', app.home]) {
    const refused = (await post('/run/sync', {
      id: 'y',
      cwd: folder,
      message: { role: 'user', content: 'go' },
      options: { workspace: 'copy' }
    })).json()
    t.match(refused, { statusCode: 409, code: 'ERR_COPY_REFUSED', error: /holds/ })
  }
  t.equal(readdirSync(`${app.home}-copies`).length, 1)
})

t.test('an apply that comes while its conversation is deleted is refused, and copies that nobody uses make room for others', async (t) => {
  const clock = fakeClock()
  const { app, say } = await onCopy(t, [call('writeFile', { path: 'a.txt', content: '1' })], { clock })
  const { runId } = await say()
  const thread = app.store.digest('chat')
  const [, , applied] = await Promise.allSettled([
    app.copies.open(thread, app.cwd),
    app.copies.removeOf(thread),
    app.copies.apply(runId, {})
  ])
  t.match(applied, { status: 'rejected', reason: { code: 'ERR_COPY_REFUSED', message: /its copy is not kept any more/ } })

  const open = (n: number) => app.copies.open(`thread-${n}`, app.cwd)
  for (let n = 0; n < 32; n++) await open(n)
  await t.rejects(open(32), { code: 'ERR_COPY_REFUSED', message: /there are 32 already/ })
  await clock.advance(7 * 24 * 3_600_000)
  const used = await open(1)
  await clock.advance(1)
  await open(32)
  t.same(readdirSync(`${app.home}-copies`).length, 2)
  t.ok(existsSync(used))
})

t.test('the next run finds in the copy what was changed in the folder meanwhile, where the copy itself is as it was', async (t) => {
  const { plans, post, say, at } = await onCopy(t, [
    call('writeFile', { path: 'both.txt', content: 'of the run' }),
    call('deleteFile', { path: 'goes/with.txt' })
  ])
  mkdirSync(at('goes'))
  mkdirSync(at('turns'))
  const outside = `${t.testdirName}/outside`
  mkdirSync(outside)
  writeFileSync(`${outside}/out.txt`, 'outside')
  for (const name of ['both.txt', 'changed.txt', 'gone.txt', 'goes/with.txt', 'turns/in.txt']) writeFileSync(at(name), 'first')
  const first = await say()
  t.match(first.toolCalls, { length: 2 })

  for (const name of ['both.txt', 'changed.txt', 'new.txt']) writeFileSync(at(name), 'of the user')
  rmSync(at('gone.txt'))
  rmSync(at('turns'), { recursive: true })
  symlinkSync(outside, at('turns'))
  chmodSync(at('changed.txt'), 0o600)
  mkdirSync(at('made/deep'), { recursive: true })
  writeFileSync(at('made/deep/in.txt'), 'deep')
  const reads = ['both.txt', 'changed.txt', 'new.txt', 'gone.txt', 'made/deep/in.txt', 'turns/in.txt']
  plans.push({ toolCalls: reads.map((path) => ({ toolName: 'readFile', input: { path } })) })
  const { toolCalls, runId } = await say()
  t.same(toolCalls.map(({ output }: any) => output?.content), ['of the run', 'of the user', 'of the user', undefined, 'deep', undefined])
  const dry = (await post(`/runs/${runId}/apply`, { dryRun: true })).json()
  t.match(dry, { applied: [at('goes/with.txt')], skipped: [{ path: at('both.txt'), reason: 'changed_since' }] })
  t.match(dry.planned, [{ path: at('goes/with.txt'), kind: 'deleted', what: 'file', diff: /^-first$/m }])

  // What a run has deleted does not come back in parts.
  plans.push(call('deleteFile', { path: 'made', recursive: true }))
  await say()
  writeFileSync(at('made/deep/more.txt'), 'more')
  const last = await say()
  t.same((await post(`/runs/${last.runId}/apply`, { dryRun: true })).json().skipped.map(({ path }: any) => path).sort(), [
    at('both.txt'), at('made'), at('made/deep')
  ])
  t.same(readdirSync(outside), ['out.txt'])
})

t.test('what stands in the way of an apply in the folder by now stays, and the answer says what it is', async (t) => {
  const { app, post, say, at } = await onCopy(t, [{
    toolCalls: [
      { toolName: 'writeFile', input: { path: 'read-only.txt', content: 'of the run' } },
      { toolName: 'writeFile', input: { path: 'became-folder', content: 'of the run' } },
      { toolName: 'writeFile', input: { path: 'removed/in.txt', content: 'of the run' } },
      { toolName: 'writeFile', input: { path: 'removed/new.txt', content: 'of the run' } },
      { toolName: 'writeFile', input: { path: 'became-file/in.txt', content: 'of the run' } },
      { toolName: 'writeFile', input: { path: 'made/in.txt', content: 'of the run' } },
      { toolName: 'deleteFile', input: { path: 'deleted' } }
    ]
  }])
  mkdirSync(at('removed'))
  for (const name of ['read-only.txt', 'became-folder', 'removed/in.txt', 'deleted']) writeFileSync(at(name), 'old')
  chmodSync(at('read-only.txt'), 0o444)
  const { runId } = await say()
  rmSync(at('became-folder'))
  rmSync(at('removed'), { recursive: true })
  rmSync(at('deleted'))
  for (const name of ['became-folder', 'deleted']) {
    mkdirSync(at(name))
    writeFileSync(at(`${name}/of-user.txt`), 'precious')
  }
  for (const name of ['became-file', 'made']) writeFileSync(at(name), 'precious')
  const apply = async (more = {}) => (await post(`/runs/${runId}/apply`, more)).json()
  const dry = await apply({ dryRun: true })
  const { applied, skipped, applyId } = await apply()
  t.same(applied, [at('read-only.txt')])
  t.same(Object.fromEntries(skipped.map(({ path, reason }: any) => [path.slice(at('').length), reason])), {
    'became-folder': 'changed_since',
    deleted: 'changed_since',
    'removed/in.txt': 'gone',
    'removed/new.txt': 'changed_since',
    'became-file': 'changed_since',
    'became-file/in.txt': 'changed_since',
    made: 'changed_since',
    'made/in.txt': 'changed_since'
  })
  const byPath = (list: Array<{ path: string }>) => list.toSorted((a, b) => a.path < b.path ? -1 : 1)
  t.same([dry.applied, byPath(dry.skipped)], [applied, byPath(skipped)], 'as the dry run has said')
  t.same(dry.planned.map(({ path }: any) => path), applied)
  const file = (mode: string, content: string) => `file ${mode} ${Buffer.from(content).toString('base64')}`
  const ofUser = {
    'became-file': file('644', 'precious'),
    'became-folder': 'folder 755',
    'became-folder/of-user.txt': file('644', 'precious'),
    deleted: 'folder 755',
    'deleted/of-user.txt': file('644', 'precious'),
    made: file('644', 'precious')
  }
  t.same(stateOf(app.cwd), { ...ofUser, 'read-only.txt': file('444', 'of the run') })
  t.match((await post(`/runs/${applyId}/undo`)).json(), { restored: [at('read-only.txt')], skipped: [] })
  t.same(stateOf(app.cwd), { ...ofUser, 'read-only.txt': file('444', 'old') })

  renameSync(app.cwd, `${app.cwd}-away`)
  const saysGone = async (error: RegExp) => {
    for (const dryRun of [true, false]) t.match(await apply({ dryRun }), { statusCode: 409, code: 'ERR_COPY_REFUSED', error })
    t.match(await say(), { statusCode: 409, code: 'ERR_COPY_REFUSED', error: /there is no folder .* Put it back/ })
  }
  const gone = /folder ".*\/work" is not there any more, and nothing was changed\. The copy is kept: put the folder back/
  await saysGone(gone)
  writeFileSync(app.cwd, 'precious')
  await saysGone(gone)
  t.equal(readFileSync(app.cwd, 'utf8'), 'precious')
  rmSync(app.cwd)
  renameSync(`${app.cwd}-away`, app.cwd)
  t.same((await apply()).applied, [at('read-only.txt')], 'and goes on when the folder is back')
})

t.test('a repository is taken over as one thing, and not at all when somebody has used it meanwhile', async (t) => {
  const write = call('writeFile', { path: 'a.txt', content: 'of the copy' })
  const { app, post, say, plans, at } = await onCopy(t, [write])
  const git = (cwd: string, ...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e@x', '-c', 'gc.auto=0', ...args], { cwd, encoding: 'utf8' })
  const commit = (cwd: string, name: string) => {
    writeFileSync(`${cwd}/${name}`, name)
    git(cwd, 'add', '.')
    git(cwd, 'commit', '-qm', name)
  }
  git(app.cwd, 'init', '-q')
  commit(app.cwd, 'first')
  const apply = async () => (await post(`/runs/${(await say()).runId}/apply`)).json()
  const { runId } = await say()
  const copies = `${app.home}-copies`
  const copy = `${copies}/${readdirSync(copies)[0]}/${basename(app.cwd)}`
  commit(copy, 'second')
  git(copy, 'gc', '-q', '--prune=now')
  t.match((await post(`/runs/${runId}/apply`)).json(), { skipped: [] })
  t.match(git(app.cwd, 'log', '--format=%s'), /second\nfirst/)
  t.notMatch(git(app.cwd, 'fsck', '--full'), /missing|bad/)

  commit(app.cwd, 'of-user')
  await say()
  t.match(git(copy, 'log', '--format=%s'), /^of-user\nsecond/, 'and comes into the copy as one thing')
  t.equal(git(copy, 'status', '--porcelain'), '')
  t.notMatch(git(copy, 'fsck', '--full'), /missing|bad/)

  commit(copy, 'third')
  commit(app.cwd, 'mine')
  plans.push(call('writeFile', { path: 'b.txt', content: 'B' }))
  const { applied, skipped } = await apply()
  t.match(skipped, [{ path: at('.git'), reason: 'repository-used-since' }])
  t.ok(applied.includes(at('b.txt')))
  t.match(git(app.cwd, 'log', '--format=%s'), /^mine\nof-user\nsecond/)
  t.notMatch(git(app.cwd, 'fsck', '--full'), /missing|bad/)
})

t.test('what programs obey on opening a folder is taken over where it is named alone', async (t) => {
  const write = (path: string) => ({ toolName: 'writeFile', input: { path, content: 'x' } })
  const { post, say, at } = await onCopy(t, [{
    toolCalls: ['a.txt', 'AGENTS.md', 'deep/.VSCode/tasks.json', '.git/hooks/post-commit'].map(write)
  }])
  const { runId } = await say()
  const { applied, skipped } = (await post(`/runs/${runId}/apply`)).json()
  t.ok(applied.includes(at('a.txt')))
  const opened = ['AGENTS.md', 'deep/.VSCode', 'deep/.VSCode/tasks.json', '.git/hooks/post-commit'].map(at)
  t.match(skipped.filter(({ reason }: any) => reason === 'opens').map(({ path }: any) => path).sort(), opened.sort())
  t.same(['AGENTS.md', 'deep/.VSCode', '.git/hooks/post-commit'].map((name) => existsSync(at(name))), [false, false, false])
  const paths = [at('AGENTS.md'), at('deep/.VSCode')]
  t.match((await post(`/runs/${runId}/apply`, { paths })).json().skipped, [])
  t.same(['AGENTS.md', 'deep/.VSCode/tasks.json', '.git/hooks/post-commit'].map((name) => existsSync(at(name))), [true, true, false])
})
