import { existsSync, mkdirSync, readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { asked, of } from '../harness/agent.ts'
import { fakeClock } from '../harness/clock.ts'
import { parseEvents, type Sent } from '../harness/sse.ts'
import { build } from '../harness/helper.ts'
import { withGateway } from '../harness/with-gateway.ts'

const TOKEN = 'correct horse'
type Call = [toolName: string, input: object]
type Json = Record<string, any>

/** Sends each request with the token. */
function caller (app: App) {
  const headers = { authorization: `Bearer ${TOKEN}` }
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, payload?: object): Promise<Json> => {
    const response = await app.inject({ method, url, headers, ...(payload && { payload }) })
    const body: Json = response.json()
    return { status: response.statusCode, ...body }
  }
}

/** The service with a model that makes the calls of a step at once when it is told to go, and the conversation `a`. */
async function setUp (t: Test, { token, ...settings }: Parameters<typeof withGateway>[2] = { token: TOKEN }) {
  let plan: Call[] = []
  const { app, gateway } = await withGateway(t, () => {
    const calls = plan.splice(0)
    return calls.length > 0 ? { toolCalls: calls.map(([toolName, input]) => ({ toolName, input })) } : { text: 'done' }
  }, { ...(token !== undefined && { token }), ...settings })
  const headers = { authorization: `Bearer ${TOKEN}` }
  const send = async (url: string, payload: object): Promise<Sent[]> =>
    parseEvents((await app.inject({ method: 'POST', url, headers, payload })).body)
  return {
    app,
    gateway,
    call: caller(app),
    /** Lets the model make these calls in one step; the events tell which of them ask. */
    async go (calls: Call[], { id = 'a', cwd }: { id?: string, cwd?: string } = {}) {
      plan = [...calls]
      return send('/run', { messages: [{ role: 'user', content: 'go' }], id, ...(cwd && { context: { cwd } }) })
    },
    answer: (approvalId: string, answer: object) =>
      send('/run/approve', {
        messages: [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true, ...answer }] }]
      })
  }
}
const scopesOf = (events: Sent[]) => of(events, 'tool-approval-request').map(
  ({ scopes }) => scopes.map(({ scope }: Json) => scope).join(' ')
)
const toolsAsked = (events: Sent[]) => of(events, 'tool-approval-request').map(({ toolName }) => toolName)
const write = (path: string, content = 'x'): Call => ['writeFile', { path, content }]
const run = (command: string, more = {}): Call => ['runCommand', { command, ...more }]

t.test('an exact command runs unasked from then on, in its folder and conversation, to the last blank', async (t) => {
  const { app, call, go } = await setUp(t)
  mkdirSync(`${app.cwd}/inner`)
  const [approvalId] = asked(await go([run('echo x >> log')]))
  const { approvals: [{ scopes }] } = await call('GET', '/approvals')
  t.match(
    scopes,
    [{ scope: 'once', text: 'This call alone.' }, { scope: 'exact', text: /unasked: run a command, with exactly .*echo x >> log/ }]
  )
  const over = new Promise<string>((resolve) => app.agent.onEnd(resolve))
  t.match(await call('POST', `/approvals/${approvalId}`, { approved: true, scope: 'exact' }), { status: 200, state: 'approved' })
  await over

  t.same(asked(await go([run('echo x >> log')])), [], 'the same command')
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\nx\n')
  const others: Array<[calls: Call[], place?: object]> = [
    [[run('echo x >>  log')]],
    [[run('echo x >> log', { timeoutMs: 5_000 })]],
    [[run('echo x >> log', { cwd: 'inner' })]],
    [[run('echo x >> log')], { cwd: `${app.cwd}/inner` }],
    [[run('echo x >> log')], { id: 'another' }]
  ]
  for (const [calls, place] of others) t.equal(asked(await go(calls, place)).length, 1, JSON.stringify([calls, place]))
  t.match(await call('GET', '/grants?threadId=a'), {
    grants: [{
      threadId: 'a',
      toolName: 'runCommand',
      scope: 'exact',
      source: 'answer',
      approvalId,
      cwd: app.cwd,
      uses: 1,
      lastUsedAt: Number
    }]
  })
})

t.test('another folder under the same name is another folder', async (t) => {
  const { app, go, answer } = await setUp(t)
  for (const folder of ['one', 'two']) mkdirSync(`${app.cwd}/${folder}`)
  symlinkSync('one', `${app.cwd}/now`)
  const cwd = `${app.cwd}/now`
  const [approvalId] = asked(await go([run('pwd')], { cwd }))
  await answer(approvalId, { scope: 'exact' })
  t.same(asked(await go([run('pwd')], { cwd })), [])
  unlinkSync(cwd)
  symlinkSync('two', cwd)
  t.equal(asked(await go([run('pwd')], { cwd })).length, 1)
})

t.test('a folder of files is granted with its extension, and never what programs obey', async (t) => {
  const { app, go, answer } = await setUp(t)
  for (const folder of ['notes', 'notes/deep', 'notes/.git', 'elsewhere']) mkdirSync(`${app.cwd}/${folder}`)
  symlinkSync('../elsewhere', `${app.cwd}/notes/out`)
  symlinkSync('../elsewhere/a.txt', `${app.cwd}/notes/link.txt`)
  const first = await go([write('notes/a.txt')])
  t.same(scopesOf(first), ['once exact folder'])
  await answer(asked(first)[0], { scope: 'folder' })
  t.same(asked(await go([write('notes/a.txt', 'y'), write('notes/deep/b.TXT'), write('notes/new/c.txt')])), [])
  t.equal(readFileSync(`${app.cwd}/notes/a.txt`, 'utf8'), 'y')
  const outside = [
    write('notes/a.md'), write('notes/a'), write('notes/../elsewhere/a.txt'), write('notes/out/a.txt'),
    write('notes/.git/a.txt'), write('notes/.github/workflows/a.txt'), write('notes/requirements.txt'), write('notes/CMakeLists.txt'),
    write('notes-2/a.txt'), ['deleteFile', { path: 'notes/a.txt' }] as Call
  ]
  for (const call of outside) t.equal(asked(await go([call])).length, 1, JSON.stringify(call))
  t.same(asked(await go([write('notes/link.txt')])), [], 'what leads to nothing fails without a question')
  t.notOk(existsSync(`${app.cwd}/elsewhere/a.txt`))
})

t.test('a link elsewhere to a file of a granted folder is no file of that folder for a deletion', async (t) => {
  const { app, go, answer } = await setUp(t)
  for (const folder of ['notes', 'elsewhere']) mkdirSync(`${app.cwd}/${folder}`)
  for (const name of ['a.txt', 'b.txt']) writeFileSync(`${app.cwd}/notes/${name}`, '')
  symlinkSync('../notes/b.txt', `${app.cwd}/elsewhere/link.txt`)
  await answer(asked(await go([['deleteFile', { path: 'notes/a.txt' }]]))[0], { scope: 'folder' })
  t.equal(asked(await go([['deleteFile', { path: 'elsewhere/link.txt' }]])).length, 1)
  t.same(asked(await go([['deleteFile', { path: 'notes/b.txt' }]])), [])
})

t.test('what programs obey, and removing a folder, is granted exactly or not at all', async (t) => {
  const { go } = await setUp(t)
  const calls: Call[] = [
    write('package.json'), write('Makefile'), write('.npmrc'), write('a/.vscode/settings.json'), write('.husky/pre-commit'),
    write('PACKAGE-LOCK.JSON'), write('AGENTS.md'), ['deleteFile', { path: 'a', recursive: true }]
  ]
  for (const call of calls) t.same(scopesOf(await go([call])), ['once exact'], JSON.stringify(call))
})

t.test('a folder of files is granted without its programs', async (t) => {
  const { app, go, answer } = await setUp(t)
  writeFileSync(`${app.cwd}/tool.txt`, '', { mode: 0o755 })
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder' })
  t.same(asked(await go([write('b.txt')])), [])
  t.equal(asked(await go([write('tool.txt')])).length, 1)
})

t.test('an allowed tool asks where programs obey what it writes as soon as somebody opens a folder', async (t) => {
  const { go } = await setUp(t, { token: TOKEN, config: { permissions: { writeFile: 'allow' } } })
  t.same(asked(await go([write('Makefile')])), [])
  for (const path of ['.ENVRC', 'deep/claude.md', '.vscode./a.json', '.g\u200cit/config', '.github/Copilot-Instructions.md']) {
    t.equal(asked(await go([write(path)])).length, 1, path)
  }
})

t.test('an answer can choose no more than was offered; then nothing is decided', async (t) => {
  const { call, go, app } = await setUp(t)
  const [approvalId] = asked(await go([run('echo x > made')]))
  const wrong: Array<[answer: object, status: number, error: RegExp]> = [
    [{ approved: true, scope: 'folder' }, 400, /can be granted with "once", "exact", not with "folder"/],
    [{ approved: true, scope: 'tool' }, 400, /not with "tool"/],
    [{ approved: true, scope: 'all' }, 400, /scope/],
    [{ approved: false, scope: 'exact' }, 400, /belong to an approval, not to a denial/],
    [{ approved: true, until: { uses: 2 } }, 400, /belongs to a scope other than "once"/],
    [{ approved: true, scope: 'exact', until: {} }, 400, /until/],
    [{ approved: true, scope: 'exact', until: { uses: 0 } }, 400, /uses/],
    [{ approved: true, scope: 'exact', until: { at: 5 } }, 400, /has passed already/]
  ]
  for (const [answer, status, error] of wrong) {
    t.match(
      await call('POST', `/approvals/${approvalId}`, answer),
      { status, error },
      JSON.stringify(answer)
    )
  }
  t.match(await call('GET', '/approvals'), { approvals: [{ approvalId, state: 'pending' }] })
  t.match(await call('GET', '/grants'), { grants: [] })
  t.notOk(existsSync(`${app.cwd}/made`))
  t.match(await call('POST', `/approvals/${approvalId}`, { approved: true, scope: 'once' }), { status: 200 })
  t.match(
    await call('POST', `/approvals/${approvalId}`, { approved: true, scope: 'exact' }),
    { status: 409, error: /with the scope "once"/ }
  )
})

t.test('without a token a command is approved once only, by whichever way', async (t) => {
  const { call, go } = await setUp(t, {})
  const events = await go([run('echo x')])
  t.same(scopesOf(events), ['once'])
  t.match(
    await call('POST', `/approvals/${asked(events)[0]}`, { approved: true, scope: 'exact' }),
    { status: 400, error: /LOCAL_AGENT_TOKEN/ }
  )
  await call('POST', '/threads', { id: 'b' })
  t.match(await call('POST', '/grants', { threadId: 'a', toolName: 'runCommand', input: { command: 'echo x' }, scope: 'exact' }), {
    status: 400,
    error: /LOCAL_AGENT_TOKEN/
  })
  t.match(await call('POST', '/grants', { threadId: 'a', toolName: 'writeFile', input: { path: 'a.txt', content: '' }, scope: 'folder' }), {
    status: 201,
    text: /\*\.txt files in or below/
  })
})

t.test('uses are counted once each, of calls that come at once, and over a restart', async (t) => {
  const { app, go, answer } = await setUp(t)
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder', until: { uses: 7 } })
  t.same(asked(await go(Array.from({ length: 5 }, (_, n) => write(`n${n}.txt`)))), [])
  const { home, cwd } = app
  await app.close()
  const next = await build(t, { home, cwd, token: TOKEN })
  t.match(await caller(next)('GET', '/grants'), { grants: [{ uses: 5, until: { uses: 7 } }] })
})

t.test('a grant of five uses covers five of fifty calls of one step', async (t) => {
  const { app, go, call, answer } = await setUp(t)
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder', until: { uses: 5 } })
  const events = await go(Array.from({ length: 50 }, (_, n) => write(`n${n}.txt`)))
  t.equal(asked(events).length, 45)
  t.equal(Array.from({ length: 50 }, (_, n) => existsSync(`${app.cwd}/n${n}.txt`)).filter(Boolean).length, 5)
  t.match(await call('GET', '/grants'), { grants: [{ uses: 5 }] })
})

t.test('a grant ends at its time, when it is removed, and with its conversation', async (t) => {
  const clock = fakeClock()
  const { go, call, answer } = await setUp(t, { token: TOKEN, clock })
  const grant = async (until?: object) => answer(asked(await go([write('a.txt')]))[0], { scope: 'folder', ...(until && { until }) })
  await grant({ at: clock.now() + 60_000 })
  t.same(asked(await go([write('b.txt')])), [])
  await clock.advance(60_000)
  t.equal(asked(await go([write('b.txt')])).length, 1)
  await grant()
  t.same(asked(await go([write('b.txt')])), [])
  const { grants } = await call('GET', '/grants')
  t.match(await call('DELETE', `/grants/${grants.at(-1).grantId}`), { status: 200, ok: true })
  t.match(await call('DELETE', `/grants/${grants.at(-1).grantId}`), { status: 404, code: 'ERR_GRANT_NOT_FOUND' })
  t.equal(asked(await go([write('b.txt')])).length, 1)
  await grant()
  await call('DELETE', '/threads/a')
  t.same((await call('GET', '/grants')).grants, [])
})

t.test('a deletion of which no copy can be kept says so, and no grant covers it', async (t) => {
  const { app, go, call, answer } = await setUp(t, { token: TOKEN, config: { undo: { maxFileMb: 1 } } })
  mkdirSync(`${app.cwd}/notes/deep`, { recursive: true })
  for (const name of ['a.txt', 'b.txt']) writeFileSync(`${app.cwd}/notes/${name}`, '')
  writeFileSync(`${app.cwd}/notes/big.txt`, Buffer.alloc(3 * 1024 * 1024))
  writeFileSync(`${app.cwd}/notes/deep/big.bin`, Buffer.alloc(2 * 1024 * 1024))
  const remove = (path: string, more = {}): Call => ['deleteFile', { path, ...more }]
  await answer(asked(await go([remove('notes/a.txt')]))[0], { scope: 'folder' })
  t.same(asked(await go([remove('notes/b.txt')])), [])
  const events = await go([remove('notes/big.txt')])
  t.match(of(events, 'tool-approval-request'), [{ reason: /a file of 3 MiB.*cannot be undone/ }])
  t.same(scopesOf(events), ['once'])
  const refused = await call('POST', '/grants', { threadId: 'a', toolName: 'deleteFile', input: { path: 'notes/big.txt' }, scope: 'exact' })
  t.equal(refused.status, 400)
  await answer(asked(events)[0], {})
  t.notOk(existsSync(`${app.cwd}/notes/big.txt`), 'with a yes it is deleted')
  const whole = await go([remove('notes', { recursive: true })])
  t.match(of(whole, 'tool-approval-request'), [{ reason: /a file of 2 MiB/ }])
})

t.test('a grant that has ended stays ended when the clock goes back, also over a restart', async (t) => {
  const clock = fakeClock()
  let back = 0
  const moved = { ...clock, now: () => clock.now() - back }
  const { app, go, answer } = await setUp(t, { token: TOKEN, clock: moved })
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder', until: { at: clock.now() + 60_000 } })
  await clock.advance(60_000)
  back = 50_000
  t.equal(asked(await go([write('b.txt')])).length, 1, 'the time of the service does not go back')
  await app.close()
  const again = await setUp(t, { token: TOKEN, clock: moved, home: app.home, cwd: app.cwd })
  t.equal(asked(await again.go([write('b.txt')])).length, 1)
})

t.test('a grant whose end nobody looked at stays ended when the clock was set back while the service was down', async (t) => {
  const clock = fakeClock()
  let back = 0
  const moved = { ...clock, now: () => clock.now() - back }
  const { app, go, answer } = await setUp(t, { token: TOKEN, clock: moved })
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder', until: { at: clock.now() + 60_000 } })
  await clock.advance(60_000)
  await app.close()
  back = 50_000
  const again = await setUp(t, { token: TOKEN, clock: moved, home: app.home, cwd: app.cwd })
  t.equal(asked(await again.go([write('b.txt')])).length, 1)
})

t.test('a command is asked about again once the run may have written where it works', async (t) => {
  const { app, go, call, answer } = await setUp(t)
  mkdirSync(`${app.cwd}/inner`)
  const [approvalId] = asked(await go([run('node build.js', { cwd: 'inner' })]))
  await answer(approvalId, { scope: 'exact' })
  t.same(asked(await go([run('node build.js', { cwd: 'inner' })])), [])
  await call('POST', '/grants', { threadId: 'a', toolName: 'writeFile', input: { path: 'inner/build.js', content: '' }, scope: 'folder' })
  const again = await go([write('inner/build.js', 'rm -rf /'), run('node build.js', { cwd: 'inner' })])
  t.same(toolsAsked(again), ['runCommand'])
  await answer(asked(again)[0], {})
  await call('POST', '/grants', { threadId: 'a', toolName: 'writeFile', input: { path: 'other/build.js', content: '' }, scope: 'folder' })
  t.same(
    toolsAsked(await go([write('other/build.js', 'true'), run('node build.js', { cwd: 'inner' })])),
    [],
    'what lies elsewhere does not matter'
  )
})

t.test('a grant for a command rests once a file was written unasked where it works, in any conversation', async (t) => {
  const { app, go, call, answer } = await setUp(t)
  mkdirSync(`${app.cwd}/lib`)
  const command = run('sh lib/run.sh notes.md')
  await go([], { id: 'b' })
  await answer(asked(await go([command]))[0], { scope: 'exact' })
  t.same(asked(await go([command])), [])
  const allow = (path: string) =>
    call('POST', '/grants', { threadId: 'b', toolName: 'writeFile', input: { path, content: '' }, scope: 'exact' })
  await call('POST', '/grants', { threadId: 'b', toolName: 'writeFile', input: { path: 'other.md', content: '' }, scope: 'folder' })
  t.same(asked(await go([write('other.md')], { id: 'b' })), [])
  t.same(asked(await go([command])), [], 'a document is not executed')
  t.same(asked(await go([write('notes.md')], { id: 'b' })), [])
  const named = await go([command])
  t.match(of(named, 'tool-approval-request'), [{
    reason: `The grant for this command rests: "${app.cwd}/notes.md" was written unasked since ` +
    'it was given. If you approve the command, the grant holds again.'
  }], 'but one that its line names counts')
  await answer(asked(named)[0], {})
  t.same(asked(await go([command])), [], 'approved once more, it holds again')

  await allow('lib/run.sh')
  t.same(asked(await go([write('lib/run.sh', '')], { id: 'b' })), [])
  t.match((await call('GET', '/grants?threadId=a')).grants, [{ suspended: { path: `${app.cwd}/lib/run.sh` } }])
  t.same(toolsAsked(await go([command])), ['runCommand'])
})

t.test('a grant is given beforehand for a call that would ask, of a tool that takes it', async (t) => {
  const { call, go } = await setUp(t, { token: TOKEN, config: { permissions: { click: 'deny' } } })
  await go([])
  const body = { threadId: 'a', toolName: 'runCommand', input: { command: 'echo x' }, scope: 'exact' }
  const wrong: Array<[changes: object, status: number, error: RegExp]> = [
    [{ threadId: undefined }, 400, /either "threadId" or "taskId"/],
    [{ taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44' }, 400, /either "threadId" or "taskId"/],
    [{ threadId: 'nobody' }, 404, /thread/],
    [{ toolName: 'nothing' }, 400, /no tool named "nothing"/],
    [{ toolName: 'readFile', input: { path: 'a' } }, 400, /needs no approval/],
    [{ input: {} }, 400, /command/],
    [{ scope: 'once' }, 400, /answer to an approval request/],
    [{ scope: 'tool' }, 400, /not with "tool"/],
    [{ scope: 'tool', input: undefined }, 400, /runCommand cannot be granted as a whole/],
    [{ input: undefined }, 400, /needs "input"/],
    [{ cwd: 'nowhere' }, 400, /not a folder/],
    [{ more: 1 }, 400, /more/]
  ]
  for (const [changes, status, error] of wrong) {
    t.match(
      await call('POST', '/grants', { ...body, ...changes }),
      { status, error },
      JSON.stringify(changes)
    )
  }
  t.match(await call('POST', '/grants', body), { status: 201, source: 'request', uses: 0, text: /run a command, with exactly/ })
  t.same(asked(await go([run('echo x')])), [])
})

t.test('permissions win over grants', async (t) => {
  const { app, go, answer } = await setUp(t)
  await answer(asked(await go([write('a.txt')]))[0], { scope: 'folder' })
  app.config.current.permissions = { writeFile: 'deny' }
  const events = await go([write('b.txt')])
  t.match(of(events, 'tool-input-error'), [{ errorText: /no tool named "writeFile"/ }])
})
