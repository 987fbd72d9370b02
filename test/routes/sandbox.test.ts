import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import t, { type Test } from 'tap'
import { asked, of } from '../harness/agent.ts'
import { stateOf } from '../harness/folders.ts'
import { readEvents } from '../harness/event-reader.ts'
import { BUBBLEWRAP, NO_BOX } from '../harness/boxes.ts'
import type { BoxKind } from '../../services/sandbox/sandbox.ts'
import { parseEvents, type Sent } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'
type Input = Record<string, unknown>
type Json = Record<string, any>

/** The service with a model that runs these commands in one step, each time that it is told to go. */
async function setUp (t: Test, settings: Parameters<typeof withGateway>[2] = {}) {
  let plan: Input[] = []
  const { app } = await withGateway(t, () => {
    const calls = plan.splice(0)
    return calls.length > 0 ? { toolCalls: calls.map((input) => ({ toolName: 'runCommand', input })) } : { text: 'done' }
  }, { boxes: BUBBLEWRAP, ...settings })
  const headers = settings.token === undefined ? {} : { authorization: `Bearer ${settings.token}` }
  const send = async (method: 'GET' | 'POST', url: string, payload?: object) =>
    await app.inject({ method, url, headers, ...(payload && { payload }) })
  return {
    app,
    call: async (method: 'GET' | 'POST', url: string, payload?: object): Promise<Json> => (await send(method, url, payload)).json(),
    async go (commands: Array<string | Input>, more: object = {}): Promise<Sent[]> {
      plan = commands.map((command) => typeof command === 'string' ? { command } : command)
      return parseEvents((await send('POST', '/run', { messages: [{ role: 'user', content: 'go' }], id: 'a', ...more })).body)
    },
    answer: async (approvalId: string, more: object = {}): Promise<Sent[]> => {
      const content = [{ type: 'tool-approval-response', approvalId, approved: true, ...more }]
      return parseEvents((await send('POST', '/run/approve', { messages: [{ role: 'tool', content }] })).body)
    }
  }
}
const leaving = (command: string): Input => ({ command, outside: true, reason: 'it needs the computer' })
const requests = (events: Sent[]): Json[] => of(events, 'tool-approval-request')
const outputs = (events: Sent[]): Json[] => of(events, 'tool-output-available').map(({ output }) => output)

t.test('a conversation asks once for its box, without a token, and then works; what leaves the box asks', { skip }, async (t) => {
  const { app, call, go, answer } = await setUp(t)
  mkdirSync(`${app.cwd}/inner`)
  const first = await go(['echo x >> log; cat /proc/1/comm'])
  t.match(requests(first), [{
    boundary: { is: 'confined', text: /^Runs in a box: it can write in ".*" alone, .* has no network\. What it .* can be undone\.$/ },
    scopes: [{ scope: 'once' }, { scope: 'sandbox', text: /^Also later, unasked: run a command: every one in the box of ".*work"/ }]
  }])
  t.match(await call('GET', '/approvals'), { approvals: [{ boundary: { is: 'confined' } }] })
  const ran = await answer(asked(first)[0], { scope: 'sandbox' })
  t.match(outputs(ran), [{ stdout: 'bwrap\n' }], JSON.stringify(ran))

  const later = await go(['echo y >> log', { command: 'pwd; echo z >> ../log', cwd: 'inner' }])
  t.match(outputs(later), [{ exitCode: 0 }, { exitCode: 0, stdout: `${app.cwd}/inner\n` }])
  t.equal(readFileSync(`${app.cwd}/log`, 'utf8'), 'x\ny\nz\n')
  t.match(await call('GET', '/grants?threadId=a'), { grants: [{ scope: 'sandbox', cwd: app.cwd, uses: 2 }] })

  const asking: Array<[input: Input, is: string, more?: object]> = [
    [leaving('true'), 'outside'],
    [{ command: 'true', network: ['example.com'] }, 'networked'],
    [{ command: 'true' }, 'confined', { id: 'another' }],
    [{ command: 'true' }, 'confined', { cwd: `${app.cwd}/inner` }]
  ]
  for (const [input, is, more] of asking) {
    const events = await go([input], more)
    t.match(requests(events), [{ boundary: { is } }], JSON.stringify(input))
    t.same(requests(events)[0].scopes.map(({ scope }: Json) => scope), is === 'confined' ? ['once', 'sandbox'] : ['once'])
    await answer(asked(events)[0], { approved: false })
  }
})

t.test('a person is told of files of theirs that got another name after a command in the background', { skip }, async (t) => {
  const { app, call, go } = await setUp(t, { config: { permissions: { runCommand: 'allow' } } })
  const events = await readEvents(t, await app.listen({ port: 0 }), { query: '?types=notification' })
  await events.connected()
  const [{ commandId }] = outputs(await go([{ command: 'until [ -e done ]; do sleep 0.02; done', background: true }]))
  writeFileSync(`${app.cwd}/CLAUDE.md`, 'be kind\n')
  writeFileSync(`${app.cwd}/done`, '')
  t.match(await events.until('notification'), {
    ...{ kind: 'boxed', threadId: 'a', title: 'Files that programs obey got another name after a command' },
    text: /CLAUDE\.md is now CLAUDE\.md\.boxed\. If one of them is yours, .* The command: until/
  })
  t.equal(readFileSync(`${app.cwd}/CLAUDE.md.boxed`, 'utf8'), 'be kind\n')
  t.match(await call('GET', '/notifications'), { notifications: [{ kind: 'boxed' }] }, String(commandId))
})

t.test('a task that is granted its box tests and builds, and does nothing outside', { skip }, async (t) => {
  const inputs = [{ command: 'echo built > out' }, leaving('echo x > left'), { command: 'true', network: ['example.com'] }]
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const input = inputs[prompt.filter(({ role }: Json) => role === 'assistant').length]
    return input === undefined ? { text: 'That is all.' } : { toolCalls: [{ toolName: 'runCommand', input }] }
  }, { boxes: BUBBLEWRAP })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('build', {
    plan: { phases: [{ description: 'build' }] },
    taskType: 'triggered',
    approval: { mode: 'granted' }
  })
  const granted = await app.inject({
    method: 'POST',
    url: '/grants',
    payload: { taskId: id, toolName: 'runCommand', input: { command: 'make' }, scope: 'sandbox' }
  })
  t.match(granted.json(), { scope: 'sandbox', source: 'request', cwd: app.cwd })
  await tasks.post(`/${id}/run`)
  const { runId } = await events.until('task:complete')
  t.match((await tasks.get(`/${id}/runs/${runId}`)).toolCalls, [
    { status: 'completed', output: { exitCode: 0 }, grantId: granted.json().grantId },
    { status: 'denied' },
    { status: 'denied' }
  ])
  t.equal(readFileSync(`${app.cwd}/out`, 'utf8'), 'built\n')
})

t.test('a task whose commands left its folder as it was is not asked about; one that made a file is', { skip }, async (t) => {
  const commands = ['cat /proc/1/comm', 'mkdir made', 'echo x > made/x']
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const isFirst = !prompt.some(({ role }: Json) => role === 'assistant')
    return isFirst ? { toolCalls: [{ toolName: 'runCommand', input: { command: commands.shift() } }] } : { text: 'That is all.' }
  }, { boxes: BUBBLEWRAP, config: { permissions: { runCommand: 'allow' } } })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const approval = { mode: 'changes' }
  const { id } = await tasks.create('look', { plan: { phases: [{ description: 'look' }] }, taskType: 'triggered', approval })
  await tasks.post(`/${id}/run`)
  t.notOk((await events.until('task:complete')).needsApproval)
  t.same(events.of('task:approval'), [])
  for (const what of ['a folder', 'a file']) {
    await tasks.post(`/${id}/run`)
    t.match(await events.until('task:approval'), { kind: 'result' }, what)
    await tasks.post(`/${id}/approve`, { approved: true })
    await events.until('task:complete')
  }
})

t.test('a grant for a command outside rests when commands in the box of its folder ran unasked', { skip }, async (t) => {
  const { call, go, answer } = await setUp(t, { token: 'correct horse' })
  for (const command of [leaving('sh deploy'), { command: 'echo true > deploy' }]) {
    const [approvalId] = asked(await go([command]))
    await answer(approvalId, { scope: 'outside' in command ? 'exact' : 'sandbox' })
  }
  t.same(asked(await go(['echo evil > deploy'])), [])
  const again = await go([leaving('sh deploy')])
  t.match(requests(again), [{ reason: /^The grant for this command rests: ".*" was written unasked/, boundary: { is: 'outside' } }])
  t.match(await call('GET', '/grants?threadId=a'), { grants: [{ scope: 'exact', suspended: { path: /work$/ } }, { scope: 'sandbox' }] })
})

t.test('each level of the box says what it holds: scopes and previews are those that it can keep', { skip }, async (t) => {
  const isTried = { tried: { ran: { stdout: 'bwrap\n' }, refused: undefined } }
  const levels: Array<[what: string, boxes: BoxKind, boundary: object, scopes: string[], preview: object]> = [
    ['a box that can try', { ...BUBBLEWRAP, canTry: true }, { is: 'confined', text: /^Runs in a box/ }, ['once', 'sandbox'], isTried],
    ['a box', { ...BUBBLEWRAP, canTry: false }, { is: 'confined', text: /^Runs in a box/ }, ['once', 'sandbox'], {
      tried: { changes: [], refused: /cannot be tried out on this computer: its box cannot mount an overlay of a folder/ }
    }],
    ['none', NO_BOX, { is: 'outside', text: /^Runs outside a box and may do .* No box can be had on this computer: / }, ['once'], {
      tried: { changes: [], refused: /^The command cannot be tried out\. No box can be had on this computer: / }
    }]
  ]
  for (const [what, boxes, boundary, scopes, preview] of levels) {
    await t.test(what, async (t) => {
      const { app, call, go, answer } = await setUp(t, { boxes })
      const [{ approvalId, ...request }] = requests(await go(['cat /proc/1/comm; echo x > made']))
      t.match({ boundary: request.boundary, scopes: request.scopes.map(({ scope }: Json) => scope) }, { boundary, scopes })
      t.match({ tried: await call('POST', `/approvals/${approvalId}/preview`, {}) }, preview)
      t.notOk(existsSync(`${app.cwd}/made`))
      const isBoxed = scopes.includes('sandbox')
      const ran = await answer(approvalId, { scope: isBoxed ? 'sandbox' : 'once' })
      t.equal(outputs(ran)[0].stdout === 'bwrap\n', isBoxed)
      t.equal((await call('GET', '/grants?threadId=a')).grants.length, isBoxed ? 1 : 0)
      t.same(asked(await go(['true'])).length, isBoxed ? 0 : 1)
    })
  }
})

t.test('where there is no box the request says so', async (t) => {
  const { go } = await setUp(t, { boxes: undefined, config: { commands: { sandbox: 'off' } } })
  t.match(requests(await go(['true'])), [{ boundary: { is: 'outside', text: /turned off in config\.json/ }, scopes: [{ scope: 'once' }] }])
})

t.test('where a box is demanded and there is none, nothing is asked and nothing runs', async (t) => {
  const { app, go } = await setUp(t, { boxes: { is: 'none', why: 'there is none' }, config: { commands: { sandbox: 'required' } } })
  const events = await go(['echo x > made'])
  t.match(of(events, 'tool-output-error'), [{ errorText: 'No box can be had on this computer: there is none.' }])
  t.same(asked(events), [])
  t.notOk(existsSync(`${app.cwd}/made`))
})

t.test('the options of a run demand a box that config.json does not', { skip }, async (t) => {
  const { go } = await setUp(t, { config: { permissions: { runCommand: 'allow' } } })
  const options = { sandbox: 'required' }
  t.match(outputs(await go([leaving('echo out')])), [{ stdout: 'out\n' }], 'allowed by config.json')
  const events = await go([leaving('echo out'), { command: 'cat /proc/1/comm' }], { options })
  t.match(of(events, 'tool-output-error'), [{ errorText: 'No command may run outside the box here.' }])
  t.match(outputs(events), [{ stdout: 'bwrap\n' }])
})

t.test('a command that was approved in its box runs nowhere else, also when a person corrects it', { skip }, async (t) => {
  const { call, app, go } = await setUp(t)
  const correct = async (input: Input) => {
    const [approvalId] = asked(await go(['echo mine > file']))
    const over = new Promise<string>((resolve) => app.agent.onEnd(resolve))
    const decided = await call('POST', `/approvals/${approvalId}`, { approved: true, input })
    await over
    return decided
  }
  t.match(await correct({ command: 'cat /proc/1/comm > file' }), { state: 'approved' })
  t.equal(readFileSync(`${app.cwd}/file`, 'utf8'), 'bwrap\n')
  t.match(await correct({ command: 'cat /proc/self/comm > file', outside: true, reason: 'mine' }), { state: 'approved' })
  t.equal(readFileSync(`${app.cwd}/file`, 'utf8'), 'cat\n')
})

t.test('a command is tried out before it is decided about, and nothing of that stays', { skip }, async (t) => {
  const { app, call, go } = await setUp(t)
  const files = { 'a.txt': 'one\n', 'src/b.txt': 'two\n', 'src/c.txt': 'three\n', 'old/d.txt': 'four\n' }
  for (const folder of ['src', 'old', '.git/hooks']) mkdirSync(`${app.cwd}/${folder}`, { recursive: true })
  for (const [path, content] of Object.entries(files)) writeFileSync(`${app.cwd}/${path}`, content)
  const before = stateOf(app.cwd)
  const command = [
    'rm src/b.txt; sed -i s/three/3/ src/c.txt; mkdir new; echo in > new/in; chmod 600 a.txt',
    // A folder in the place of one that was removed hides what that had.
    'rm -r old; mkdir old; echo again > old/e.txt',
    'mkdir .vscode; echo x > .git/hooks/pre-commit || echo held; cat /proc/1/comm; curl -sm 1 http://127.0.0.1; echo said >&2; exit 3'
  ].join('; ')
  const [{ approvalId }] = requests(await go([command]))
  t.match(await call('GET', `/approvals/${approvalId}/preview`), { changes: [], ran: undefined })
  const { changes, ran } = await call('POST', `/approvals/${approvalId}/preview`, {})
  t.match(ran, { exitCode: 3, stdout: 'held\nbwrap\n', stderr: /said/, timedOut: undefined })
  const root = realpathSync(app.cwd)
  const found = Object.fromEntries(changes.map(({ path, ...more }: Json) => [path.slice(root.length + 1), more]))
  t.match(found, {
    'a.txt': { kind: 'changed', mode: '600', diff: undefined },
    'src/b.txt': { kind: 'deleted', diff: /-two/ },
    'src/c.txt': { kind: 'changed', diff: /-three\n\+3/ },
    'old/d.txt': { kind: 'deleted' },
    'old/e.txt': { kind: 'created', diff: /\+again/ },
    new: { kind: 'created', withContents: true, diff: /new\/in[^]*\+in/ },
    '.vscode': { kind: 'created', withContents: undefined }
  })
  t.equal(Object.keys(found).length, 7)
  t.match(ran.note, /^\S+\/\.vscode would be renamed afterwards, because programs outside the box obey it\.$/)
  t.same(stateOf(app.cwd), before)
  const other = await call('POST', `/approvals/${approvalId}/preview`, { input: { command: 'rm a.txt' } })
  t.match(other.changes, [{ path: /a\.txt$/, kind: 'deleted' }])
  t.same(stateOf(app.cwd), before)
  const endless = 'while i=$((i + 1)); do head -c 10000000 /dev/zero > "large$i" || exit; done'
  const full = await call('POST', `/approvals/${approvalId}/preview`, { input: { command: endless } })
  t.match(full.ran.note, /It was ended, because a command that is tried out may write 160 MiB in all/)
  t.ok(full.changes.length > 10 && full.changes.length < 100)
  t.same(stateOf(app.cwd), before)
  const [outside] = requests(await go([leaving('rm a.txt')]))
  const refused = await call('POST', `/approvals/${outside.approvalId}/preview`, {})
  t.match(refused, { changes: [], refused: /outside the box cannot be tried out/ })
})

/** A server that writes a file, and tells who asks what it was asked. */
const SERVER = (port: number) => `exec node -e '
  require("fs").writeFileSync("started", "x")
  require("http").createServer((request, response) => response.end("dev " + request.url))
    .listen(${port}, "localhost", () => console.log("listening"))'`

/** A port that nothing listens at. */
async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

t.test('a server stays when its call has ended: later steps and the user reach it, no other conversation does', { skip }, async (t) => {
  let call: { toolName: string, input: Input } | undefined
  const { app } = await withGateway(t, () => {
    const calls = call === undefined ? [] : [call]
    call = undefined
    return calls.length > 0 ? { toolCalls: calls } : { text: 'done' }
  }, { boxes: BUBBLEWRAP, config: { permissions: { runCommand: 'allow' }, allowedOrigins: ['http://localhost:5173'] } })
  /** The output, or the error, of one call of the model. */
  const use = async (toolName: string, input: Input, id = 'a'): Promise<Json> => {
    call = { toolName, input }
    const { body } = await app.inject({ method: 'POST', url: '/run', payload: { messages: [{ role: 'user', content: 'go' }], id } })
    const events = parseEvents(body)
    return outputs(events)[0] ?? of(events, 'tool-output-error')[0] ?? { events }
  }
  const running = async () => (await app.inject('/commands')).json().commands
  const port = await freePort()
  const started = await use('runCommand', { command: SERVER(port), background: true, ports: [port] })
  const { commandId } = started
  t.match(started, { commandId: String, running: true })
  if (!started.output.includes('listening')) t.match(await use('readCommand', { commandId, waitMs: 10_000 }), { output: 'listening\n' })
  t.match(await use('readCommand', { commandId }), { output: '', running: true }, 'what was read is not read again')

  const url = `http://127.0.0.1:${port}/page`
  t.match(await use('fetchUrl', { url }), { status: 200, content: 'dev /page' })
  const inner = `curl -sS http://localhost:${port}/inner; cat /proc/net/dev | wc -l`
  t.match(await use('runCommand', { command: `${inner}; echo x > beside` }), { stdout: 'dev /inner3\n' }, 'and nothing but that')
  t.equal(await (await fetch(url)).text(), 'dev /page', 'the browser of the user')
  t.match(await use('fetchUrl', { url }, 'b'), { errorText: /not on the public internet/ })
  t.match(await use('runCommand', { command: `curl -sS ${url}` }, 'b'), { stderr: /connect/ })
  t.match(await use('readCommand', { commandId }, 'b'), { errorText: /No command ".*" of this conversation/ })
  t.match(await use('stopCommand', { commandId }, 'b'), { errorText: /No command/ })

  const [command] = await running()
  t.match(command, { commandId, threadId: 'a', ports: [port], command: /listening/ })
  const undo = (payload = {}) => app.inject({ method: 'POST', url: `/runs/${command.runId}/undo`, payload })
  t.match((await undo()).json(), { statusCode: 409, code: 'ERR_COMMAND_RUNS' })
  const taken = { command: 'sleep 100', background: true, ports: [port] }
  t.match(await use('runCommand', taken, 'b'), { errorText: /Port \d+ of this computer is in use/ })
  const served = JSON.stringify(await use('runCommand', { command: 'true', background: true, ports: [5173] }))
  t.match(served, /Pages of http:.{2}localhost:5173 may call this service/, 'a command must not serve what may call the service')
  t.match(JSON.stringify(await use('runCommand', { command: 'true', ports: [port] })), /ports.{2,4} are for commands with .{2,4}background/)
  t.match(await use('runCommand', { command: 'echo no; exit 3', background: true }), { running: false, exitCode: 3, output: 'no\n' })

  t.match(await use('stopCommand', { commandId }), { running: false, exitCode: 143 })
  t.same(await running(), [])
  await t.rejects(fetch(url), 'the port is closed')
  t.match(await use('readCommand', { commandId }), { running: false })
  const changes = async () => (await app.inject(`/runs/${command.runId}/changes`)).json().changes
  while ((await changes()).length === 0) continue
  const made = `${app.cwd}/started`
  const unnamed = (await undo()).json()
  t.match(unnamed, { restored: [], skipped: [{ path: made, reason: 'shared' }] }, 'somebody else may have made it')
  t.ok(existsSync(made))
  t.match(await changes(), [{ path: made, canUndo: true, why: 'shared' }])
  const undone = (await undo({ paths: ['.'] })).json()
  t.same(undone.restored, [made], 'what another command made is not its work')
  t.match(undone.notCovered, [{ reason: /what anybody changes in the folder until it ends counts as its work/ }])
  t.notOk(existsSync(`${app.cwd}/started`))

  const long = { command: 'sleep 1000', background: true }
  const other = await use('runCommand', long)
  await use('runCommand', long, 'c')
  t.equal((await running()).length, 2)
  t.equal((await app.inject({ method: 'DELETE', url: '/threads/c' })).statusCode, 200)
  while ((await running()).length > 1) await new Promise((resolve) => setTimeout(resolve, 2))
  t.match(await running(), [{ threadId: 'a' }], 'a command ends with its conversation')
  t.same((await app.inject({ method: 'POST', url: `/commands/${other.commandId}/stop` })).json(), { ok: true })
  t.equal((await app.inject({ method: 'POST', url: `/commands/${other.commandId}/stop` })).statusCode, 404)
})
