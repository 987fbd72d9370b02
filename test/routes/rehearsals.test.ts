import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { until } from '../harness/exercise.ts'
import { everything, misbehaving } from '../harness/mcp.ts'
import { freePort } from '../harness/free-port.ts'
import { call, TOKEN, withTask } from '../harness/rehearsed-task.ts'

t.test('a rehearsal changes nothing, its sheet says what the run would do, and what is accepted of it runs unasked', async (t) => {
  const service = await withTask(t, [
    call('writeFile', { path: 'notes/today.md', content: 'first' }),
    call('readFile', { path: 'notes/today.md' }),
    {
      toolCalls: [
        { toolName: 'runCommand', input: { command: 'cat notes/today.md; echo more >> kept.txt' } },
        { toolName: 'notifyUser', input: { text: 'The notes are kept.' } }
      ]
    },
    call('runCommand', { command: 'curl -s http://127.0.0.1:9/', outside: true, reason: 'the network' })
  ], { boxes: BUBBLEWRAP })
  const { app, gateway, tasks, id, request, rehearse, runOnce, at } = service
  writeFileSync(at('kept.txt'), 'as it was\n')
  const before = await tasks.get(`/${id}`)

  const { run, sheet } = await rehearse()
  t.match(run, { status: 'completed', trigger: 'rehearsal', runNumber: 0, taskId: id })
  const calls = run.toolCalls.filter(({ toolName }: any) => toolName !== 'updatePhase')
  t.match(calls, [
    { toolName: 'writeFile', status: 'completed', output: { path: at('notes/today.md') } },
    { toolName: 'readFile', output: { content: 'first' } },
    { toolName: 'runCommand', output: { exitCode: 0, stdout: 'first' } },
    { toolName: 'notifyUser', output: { rehearsed: /was not made/ } },
    { toolName: 'runCommand', output: { rehearsed: /outcome is\s+unknown/ } }
  ])
  t.match(sheet, {
    status: 'completed',
    lines: [
      { line: 1, toolName: 'writeFile', outcome: 'copied', asks: true, scopes: [{ scope: 'exact' }, { scope: 'folder' }] },
      { line: 2, toolName: 'runCommand', outcome: 'copied', asks: true, boundary: { is: 'confined' } },
      { line: 3, toolName: 'notifyUser', outcome: 'unknown' },
      { line: 4, toolName: 'runCommand', outcome: 'unknown', asks: true, guess: true, boundary: { is: 'outside' } }
    ]
  })
  t.same(sheet.lines.filter(({ guess }: any) => guess).map(({ line }: any) => line), [4])
  t.notMatch(JSON.stringify([sheet, run, gateway.requests.map(({ body }) => body.prompt)]), '-copies')
  t.same(readdirSync(app.cwd), ['kept.txt'], 'the folder is as it was')
  await until(() => readdirSync(`${app.home}-copies`).length === 0)
  const { changes } = await request('GET', `/runs/${run.runId}/changes`)
  t.same(changes.map(({ path }: any) => path).sort(), [at('kept.txt'), at('notes/today.md')], 'also when the copy is gone')
  const undo = { status: 400, code: 'ERR_NOT_CHANGED', error: /is a rehearsal: .* nothing to take back/ }
  t.match(await request('POST', `/runs/${run.runId}/undo`, { dryRun: true }), undo)
  t.equal(readFileSync(at('kept.txt'), 'utf8'), 'as it was\n')
  t.same(await tasks.get(`/${id}`), before, 'and so is the task')
  t.same((await tasks.runs(id)), [])
  t.same((await request('GET', '/notifications')).notifications, [])
  const kept = { runId: run.runId, status: 'completed', lines: 4, accepted: 0 }
  t.match(await request('GET', `/tasks/${id}/rehearsals`), { rehearsals: [kept] })

  const lines = [{ line: 1, scope: 'folder' }, { line: 2, scope: 'sandbox' }]
  const ends: unknown[] = []
  app.events.onEvent(({ type }) => type === 'run:end' && ends.push(type))
  const accepted = await request('POST', '/grants', { sheet: run.runId, lines })
  t.match(accepted, { status: 201, grants: [{ source: 'rehearsal', sheet: run.runId, taskId: id, scope: 'folder' }, { scope: 'sandbox' }] })
  const again = await request('POST', '/grants', { sheet: run.runId, lines })
  t.same(ends, [], 'a run that is over does not end again')
  t.same(again.grants.map(({ grantId }: any) => grantId).sort(), accepted.grants.map(({ grantId }: any) => grantId).sort())
  t.equal((await request('GET', `/grants?taskId=${id}`)).grants.length, 2, 'the same answer again adds nothing')

  const real = await runOnce()
  t.match(real.toolCalls.filter(({ toolName }: any) => toolName !== 'updatePhase'), [
    { toolName: 'writeFile', status: 'completed', grantId: accepted.grants[0].grantId },
    { toolName: 'readFile' },
    { toolName: 'runCommand', status: 'completed', grantId: accepted.grants[1].grantId },
    { toolName: 'notifyUser' },
    { toolName: 'runCommand', status: 'denied' }
  ])
  t.equal(readFileSync(at('notes/today.md'), 'utf8'), 'first')
  t.equal(readFileSync(at('kept.txt'), 'utf8'), 'as it was\nmore\n')
  t.ok(existsSync(at('notes')))
})

t.test('the digest says what differed from an accepted rehearsal, and a changed goal makes its sheet void', async (t) => {
  const { app, tasks, id, plans, request, rehearse, runOnce } = await withTask(t, [
    call('writeFile', { path: 'a.md', content: '1' }), call('writeFile', { path: 'b.txt', content: '1' })
  ])
  const { run: { runId } } = await rehearse()
  const refused = async (lines: object[]) => request('POST', '/grants', { sheet: runId, lines })
  t.match(await refused([{ line: 3, scope: 'exact' }]), { status: 400, error: /no line 3; it has 2/ })
  t.match(await refused([{ line: 1, scope: 'tool' }]), { status: 400, error: /can be accepted with "exact", "folder", not with "tool"/ })
  t.match(await refused([{ line: 1, scope: 'folder' }, { line: 1, scope: 'tool' }]), { status: 400 })
  t.same((await request('GET', `/grants?taskId=${id}`)).grants, [], 'all of it or nothing')
  t.match(await request('POST', '/grants', { sheet: runId }), { error: 'body needs the field "lines".' })
  t.match(await request('POST', '/grants', { taskId: id, toolName: 'writeFile' }), { error: 'body needs the field "scope".' })
  t.match(await refused([{ line: 1, scope: 'folder' }, { line: 2, scope: 'exact' }]), { status: 201 })

  plans.of = [call('writeFile', { path: 'a.md', content: '2' }), call('deleteFile', { path: 'a.md' })]
  await runOnce()
  const { completed: { items: [run] } } = await tasks.get('/digest?since=0')
  t.match(run.differs, [
    { how: 'denied', isShown: false, text: 'It was not allowed to delete “a.md”, which the rehearsal did not show.' },
    { how: 'unused', about: 'b.txt', text: 'It did not do what the rehearsal showed: write the file “b.txt”, or something like it.' }
  ])
  t.same(readdirSync(app.cwd), ['a.md'])

  const granted = async () => (await request('GET', `/grants?taskId=${id}`)).grants
  const { grantId } = (await granted()).find(({ scope }: any) => scope === 'folder')
  t.match(await request('DELETE', `/grants/${grantId}`), { status: 200 })
  plans.of = [call('writeFile', { path: 'a.md', content: '1' })]
  const newest = async () => {
    await runOnce()
    return (await tasks.get('/digest?since=0')).completed.items[0]
  }
  const ended = 'It was not allowed to write the file “a.md”, which was accepted of the rehearsal, but its grant has ended.'
  t.match((await newest()).differs, [{ how: 'denied', isShown: true, why: 'grant_ended', text: ended }, { how: 'unused' }])
  t.match(await refused([{ line: 1, scope: 'folder' }]), { status: 201, grants: [{ scope: 'folder' }] }, 'it can be accepted once more')
  t.equal((await granted()).length, 2)

  await tasks.call('PUT', `/${id}`, { goal: 'something else' })
  t.match(await request('GET', `/runs/${runId}/sheet`), { void: /goal, the plan or the folder/ })
  t.match(await refused([{ line: 1, scope: 'folder' }]), { status: 409, code: 'ERR_SHEET_VOID' })
  t.same(await granted(), [])
  const changed = /^The goal, the plan or the folder of the task was changed since the rehearsal\./
  t.match(await request('GET', `/tasks/${id}/rehearsals`), { rehearsals: [{ runId, void: changed }] })
  const { differs, rehearsalVoid } = await newest()
  t.match([differs, rehearsalVoid], [undefined, changed], 'and the digest says why a run was denied what was accepted')
})

t.test('a task that may ask does so for what departs from its accepted rehearsal, and for nothing else', async (t) => {
  const { tasks, id, plans, request, rehearse, runOnce } = await withTask(t, [
    call('writeFile', { path: 'a.md', content: '1' }), call('writeFile', { path: 'b.md', content: '1' })
  ], { approval: { mode: 'changes' } })
  const { run: { runId: sheet } } = await rehearse()
  t.match(await request('POST', '/grants', { sheet, lines: [{ line: 1, scope: 'folder' }, { line: 2, scope: 'folder' }] }), { status: 201 })

  plans.of = [call('writeFile', { path: 'a.md', content: '2' }), call('writeFile', { path: 'c.txt', content: '2' })]
  const events = await tasks.watch()
  const waiting = await runOnce()
  t.match(waiting, { status: 'pending_approval' })
  const { approvals } = await request('GET', '/approvals')
  t.match(approvals, [{ taskId: id, toolName: 'writeFile', input: { path: 'c.txt' } }])
  t.equal(approvals.length, 1)
  await tasks.post(`/${id}/approve`, { approved: true })
  // Then it asks for its result, as it changed something.
  await events.until('task:approval', { kind: 'result' })
  await tasks.post(`/${id}/approve`, { approved: true })
  await events.until('task:complete')
  const { completed: { items: [{ differs }] } } = await tasks.get('/digest?since=0')
  t.match(differs, [{ text: 'It asked whether it may write the file “c.txt”, which the rehearsal did not show.' }])
})

t.test('tools of servers and of the application are not called, but those that were accepted as only reading', async (t) => {
  const { request, rehearse, tasks, id } = await withTask(t, [
    { toolCalls: [{ toolName: 'echo', input: { message: 'a' } }, { toolName: 'saveDocument', input: {} }] },
    call('askUser', { questions: [{ id: 'size', text: 'Which size?' }] })
  ], {
    approval: { mode: 'first_n', firstN: 3 },
    options: {
      app: 'editor',
      appTools: [{ name: 'saveDocument', description: 'Saves it', inputSchema: { type: 'object' }, effect: 'write' }]
    }
  })
  t.match(await request('POST', '/mcp/connect', everything('noting')), { status: 'connected' })
  const { run, sheet } = await rehearse()
  t.equal(run.status, 'completed')
  const scopes = [{ scope: 'exact' }, { scope: 'tool' }]
  t.match(sheet.lines, [
    { toolName: 'echo', outcome: 'unknown', asks: true, toolServer: { name: 'noting' }, scopes },
    { toolName: 'saveDocument', outcome: 'unknown', asks: true, scopes },
    { toolName: 'askUser', outcome: 'question', scopes: [] }
  ])
  t.match(run.toolCalls.at(-1), { toolName: 'askUser', status: 'denied', error: /decide yourself/ })
  t.same((await request('GET', '/tool-calls')).toolCalls, [], 'the application has nothing to do')
  t.same((await request('GET', '/approvals')).approvals.filter(({ kind }: any) => kind !== 'server'), [])

  t.match(await request('POST', '/grants', { sheet: run.runId, lines: [{ line: 1, scope: 'tool' }] }), { status: 201 })
  t.equal((await tasks.get(`/${id}`)).totalRuns, 0)
})

t.test('a tool that its server has changed makes its lines void, and no others, and the digest says why it was denied', async (t) => {
  const uses = [{ toolName: 'env', input: { name: 'A' } }, { toolName: 'get-sum', input: { a: 1, b: 2 } }]
  const { app, plans, id, tasks, request, rehearse, runOnce } = await withTask(t, [{ toolCalls: uses }])
  await request('PATCH', '/config', { permissions: { change: 'allow' }, analysis: false })
  for (const server of [misbehaving('odd'), everything('steady')]) await request('POST', '/mcp/connect', server)
  const { run: { runId: sheet } } = await rehearse()
  const accept = (...lines: number[]) => request('POST', '/grants', { sheet, lines: lines.map((line) => ({ line, scope: 'tool' })) })
  t.match(await accept(1, 2), { status: 201, grants: { length: 2 } })
  plans.of = [call('change', {})]
  await request('POST', '/run/sync', { id: 'c', message: { role: 'user', content: 'change' } })
  plans.of = [{ toolCalls: uses }]
  await until(() => app.tools.find('fresh') !== undefined)

  const shown = await request('GET', `/runs/${sheet}/sheet`)
  t.same(shown.lines.map((line: any) => line.void), ['env was changed since the rehearsal.', undefined])
  const [{ void: isVoid }] = (await request('GET', `/tasks/${id}/rehearsals`)).rehearsals
  t.same([shown.void, isVoid], [undefined, undefined])
  t.match(await accept(1), { status: 409, code: 'ERR_SHEET_VOID', error: /Line 1: env was changed .* Rehearse it again/ })
  const { toolCalls } = await runOnce()
  t.match(toolCalls.filter(({ toolName }: any) => toolName !== 'updatePhase'), [{ status: 'denied' }, { status: 'completed' }])
  const { completed: { items: [{ differs }] } } = await tasks.get('/digest?since=0')
  t.match(differs, [{ why: 'tool_changed', text: /was not allowed to .*, as the tool was changed since the rehearsal: rehearse/ }])
  t.equal(differs.length, 1)
})

t.test('without a box commands are not made; what runs unasked anyway is no line, or one without scopes', async (t) => {
  const { app, rehearse } = await withTask(t, [
    call('runCommand', { command: 'touch made' }), call('writeFile', { path: 'a.md', content: '1' })
  ], { approval: { mode: 'never' } })
  const { run, sheet } = await rehearse()
  t.equal(run.status, 'completed')
  t.match(sheet.lines, [{ toolName: 'runCommand', outcome: 'unknown', asks: false, scopes: [] }])
  t.equal(sheet.lines.length, 1)
  t.same(readdirSync(app.cwd), [])
})

const skip = process.platform === 'linux' ? false : 'the box is that of Linux'

t.test('commands in the background end with their rehearsal, and leave neither a process nor a copy', { skip }, async (t) => {
  const seconds = 40_000 + process.pid
  // It fills the copy as fast as it can.
  const command = `sleep ${seconds} & while :; do mkdir -p a/b; echo x > a/b/$RANDOM; done`
  const { app, request, rehearse, at } = await withTask(t, [
    call('runCommand', { command, background: true }),
    call('runCommand', { command: 'sleep 1', background: true, ports: [Number(await freePort())] })
  ], { boxes: BUBBLEWRAP })
  await request('PATCH', '/config', { analysis: false })
  const sleeping = () => readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').join(' ').trim() === `sleep ${seconds}`
    } catch {
      return false
    }
  })
  const say = (more: object) => request('POST', '/run/sync', { message: { role: 'user', content: 'go' }, ...more })
  const [{ run, sheet }, dry, onCopy] = await Promise.all([
    rehearse(),
    say({ id: 'chat', dryRun: true }),
    say({ id: 'copied', options: { workspace: 'copy' } })
  ])
  const calls = [{ output: { commandId: String, running: true } }, { output: { rehearsed: /was not made/ } }]
  t.match(run.toolCalls.filter(({ toolName }: any) => toolName === 'runCommand'), calls)
  t.match(sheet.lines, [{ outcome: 'copied', boundary: { is: 'confined' } }, { outcome: 'unknown' }])
  t.match(dry.toolCalls, calls)
  await until(() => readdirSync(`${app.home}-copies`).length === 1)
  t.equal(sleeping().length, 1)
  for (const { runId } of [run, dry]) {
    const { changes } = await request('GET', `/runs/${runId}/changes`)
    t.match(changes, [{ path: at('a'), kind: 'created', inner: Number }], 'what it made is shown')
  }
  t.match(onCopy.pendingApprovals, [{ toolName: 'runCommand' }], 'on a copy, ports ask')
  t.match((await request('GET', '/commands')).commands, [{ threadId: 'copied' }], 'on a copy that stays, the command stays')
  await app.inject({ method: 'DELETE', url: '/threads/copied', headers: { authorization: `Bearer ${TOKEN}` } })
  await until(() => readdirSync(`${app.home}-copies`).length === 0)
  t.same((await request('GET', '/commands')).commands, [])
  t.same(sleeping(), [])
  t.same(readdirSync(app.cwd), [])
})

t.test('two rehearsals go on at once, beside a run; they can be stopped, and end with their task', async (t) => {
  const service = await withTask(t, [{ text: Array.from({ length: 4_000 }, () => 'word '), partMs: 20 }])
  const { app, tasks, id, request } = service
  const begin = () => request('POST', `/tasks/${id}/rehearse`)
  const first = await begin()
  const second = await begin()
  t.match(await begin(), { status: 429, code: 'ERR_TOO_MANY_REHEARSALS' })
  const early = await request('POST', '/grants', { sheet: first.runId, lines: [{ line: 1, scope: 'exact' }] })
  t.match(early, { status: 409, code: 'ERR_RUN_LIVE' })
  await tasks.post(`/${id}/run`)
  t.equal((await tasks.get(`/${id}`)).status, 'running', 'its own run goes on beside them')
  t.match(await request('POST', `/run/${first.runId}/stop`), { ok: true, runId: first.runId, taskId: id })
  t.match(await request('GET', `/runs/${first.runId}?waitMs=60000`), { status: 'stopped' })
  await until(() => readdirSync(`${app.home}-copies`).length === 1)
  const third = await begin()
  t.match(third, { status: 202 })
  const cancel = () => request('POST', `/tasks/${id}/runs/${third.runId}/cancel`)
  t.match(await cancel(), { runId: third.runId, status: 'stopped' })
  t.match(await cancel(), { status: 409, error: 'The rehearsal is stopped; it can be cancelled while it is running.' })

  t.match(await tasks.call('DELETE', `/${id}`), { status: 200 })
  await until(() => readdirSync(`${app.home}-copies`).length === 0)
  t.match(await request('GET', `/runs/${second.runId}`), { status: 404 })
  t.match(await request('GET', `/runs/${second.runId}/sheet`), { status: 404, code: 'ERR_RUN_NOT_FOUND' })
  t.match(await request('POST', `/tasks/${id}/rehearse`), { status: 404 })
})

t.test('a message is rehearsed with dryRun: nothing of it happens, and its sheet is accepted for the conversation', async (t) => {
  const steps = [
    call('writeFile', { path: 'a.md', content: '1' }),
    {
      toolCalls: [
        { toolName: 'deleteFile', input: { path: 'kept.txt' } },
        { toolName: 'remember', input: { span: 'tidy up', kind: 'fact' } },
        { toolName: 'runCommand', input: { command: 'touch made' } }
      ]
    }
  ]
  const { app, gateway, request, at } = await withTask(t, steps)
  await request('PATCH', '/config', { analysis: false })
  writeFileSync(at('kept.txt'), 'as it was')
  const say = (more: object = {}) =>
    request('POST', '/run/sync', { id: 'chat', message: { role: 'user', content: 'tidy up' }, ...more })
  const run = await say({ dryRun: true })
  t.match(run, { status: 200, text: 'That is all.', threadId: 'chat', pendingApprovals: [] })
  t.same(readdirSync(app.cwd), ['kept.txt'])
  await until(() => readdirSync(`${app.home}-copies`).length === 0)
  t.match(await request('GET', '/threads/chat'), { status: 404 }, 'a conversation that was only rehearsed is none')
  const scopes = [{ scope: 'exact' }, { scope: 'folder' }]
  const sheet = await request('GET', `/runs/${run.runId}/sheet`)
  t.match(sheet, {
    status: 'completed',
    threadId: 'chat',
    taskId: undefined,
    output: 'That is all.',
    lines: [
      { toolName: 'writeFile', outcome: 'copied', asks: true, scopes },
      { toolName: 'deleteFile', outcome: 'copied', asks: true },
      { toolName: 'remember', outcome: 'unknown', asks: false },
      { toolName: 'runCommand', outcome: 'unknown', asks: true }
    ]
  })
  t.match(await request('GET', `/runs/${run.runId}`), { trigger: 'rehearsal', threadId: 'chat', sheet: undefined })
  t.match((await request('GET', `/runs/${run.runId}/changes`)).changes, [{ path: at('a.md') }, { path: at('kept.txt'), kind: 'deleted' }])
  for (const verb of ['undo', 'apply']) t.match(await request('POST', `/runs/${run.runId}/${verb}`), { error: /is a rehearsal/ })
  t.same((await request('GET', '/memory/brain/facts')).facts, [])
  t.notMatch(JSON.stringify([sheet, run, gateway.requests.map(({ body }) => body.prompt)]), '-copies')

  const lines = [{ line: 1, scope: 'folder' }, { line: 2, scope: 'exact' }]
  t.match(await request('POST', '/grants', { sheet: run.runId, lines }), { grants: [{ threadId: 'chat', source: 'rehearsal' }, {}] })
  const real = await say()
  t.match(real.pendingApprovals, [{ toolName: 'runCommand' }], 'it asks for what was not accepted alone')
  t.same(readdirSync(app.cwd), ['a.md'])

  const waiting = await request('GET', '/approvals')
  t.match(await say({ dryRun: true }), { status: 200, text: 'That is all.' })
  t.same(await request('GET', '/approvals'), waiting, 'what waits goes on waiting')
  t.equal((await request('GET', '/threads/chat')).messages.filter(({ role }: any) => role === 'user').length, 1)
  t.match(await request('POST', '/run/sync', { id: 'chat', continue: true, dryRun: true }), { status: 409 })
  const content = [{ type: 'tool-approval-response', approvalId: waiting.approvals[0].approvalId, approved: true }]
  const answered = await request('POST', '/run/sync', { id: 'chat', messages: [{ role: 'tool', content }], dryRun: true })
  t.match(answered, { status: 400, error: /"dryRun" goes with a new message/ })
  t.match((await request('GET', '/approvals')).approvals, [{ state: 'pending' }])
  await request('POST', '/run/chat/stop')
  const triggers = (await request('GET', '/runs?threadId=chat')).runs.map(({ trigger }: any) => trigger)
  t.same(triggers, ['rehearsal', 'message', 'rehearsal'])
  await app.inject({ method: 'DELETE', url: '/threads/chat', headers: { authorization: `Bearer ${TOKEN}` } })
  t.match(await request('GET', `/runs/${run.runId}/sheet`), { status: 404 })
})

t.test('a chat may send a rehearsed exchange along: it is no part of the conversation', async (t) => {
  const { app, gateway, request } = await withTask(t, [])
  const user = (id: string, text: string) => ({ id, role: 'user', parts: [{ type: 'text', text }] })
  const post = async (payload: object) =>
    (await app.inject({ method: 'POST', url: '/run', headers: { authorization: `Bearer ${TOKEN}` }, payload })).body
  await request('PATCH', '/config', { analysis: false })
  t.match(await post({ id: 'ui', messages: [user('1', 'try it')], dryRun: true }), /"messageMetadata":\{[^}]*"dryRun":true\}/)
  const tried = { id: '2', role: 'assistant', parts: [{ type: 'text', text: 'I did it.' }], metadata: { dryRun: true } }
  t.notMatch(await post({ id: 'ui', messages: [user('1', 'try it'), tried, user('3', 'now do it')] }), /dryRun/)
  t.same(gateway.requests.at(-1)!.body.prompt.flatMap(({ role, content }: any) => role === 'user' ? content[0].text : []), ['now do it'])
  t.match((await request('GET', '/threads/ui')).messages, { length: 2 })
})

t.test('a folder is named as it is called, whatever is in its name', async (t) => {
  const { tasks, request, at } = await withTask(t, [call('writeFile', { path: 'a.txt', content: 'x' })])
  mkdirSync(at('$& $1'))
  const { id } = await tasks.create('keep the notes', { plan: { phases: [{ description: 'do it' }] }, cwd: at('$& $1') })
  const { runId } = await request('POST', `/tasks/${id}/rehearse`)
  const { toolCalls } = await request('GET', `/runs/${runId}?waitMs=60000`)
  t.match(toolCalls.find(({ toolName }: any) => toolName === 'writeFile').output.path, at('$& $1/a.txt'))
  const { changes } = await request('GET', `/runs/${runId}/changes`)
  t.same(changes.map(({ path }: any) => path), [at('$& $1/a.txt')])
})
