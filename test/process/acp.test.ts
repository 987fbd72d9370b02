import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { fakeService, json, stream } from '../harness/fake-service.ts'
import { openEditor } from '../harness/editor.ts'
import { misbehaving } from '../harness/mcp.ts'
import { startService } from '../harness/sidecar.ts'

const place = (t: Test, config: object = {}) => {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}
const approvalsOf = async (url: string): Promise<any[]> => ((await (await fetch(`${url}/approvals`)).json()) as any).approvals

t.test('an editor asks for a change, sees it as a diff, allows it, and sees what was done', async (t) => {
  const where = place(t)
  const { url } = await startService(t, where)
  const editor = await openEditor(t, { home: where.home, permit: () => 'once' })
  t.match(editor.initialized, { protocolVersion: 1, agentCapabilities: { loadSession: true, promptCapabilities: { image: true } } })
  const { sessionId } = await editor.open(where.cwd)

  t.match(await editor.prompt(sessionId, 'write "hello" to notes.txt'), { stopReason: 'end_turn' })

  t.equal(readFileSync(`${where.cwd}/notes.txt`, 'utf8'), 'hello')
  const path = `${where.cwd}/notes.txt`
  const diff = { type: 'diff', path, oldText: null, newText: 'hello' }
  t.match(editor.asked, [{
    sessionId,
    toolCall: { title: 'writeFile: notes.txt', kind: 'edit', content: [diff], locations: [{ path }] },
    options: [
      { optionId: 'once', kind: 'allow_once', name: 'This call alone.' },
      { optionId: 'exact', kind: 'allow_always', name: /exactly/ },
      { optionId: 'folder', kind: 'allow_always', name: /\*\.txt files in or below/ },
      { optionId: 'reject', kind: 'reject_once' }
    ]
  }])
  const { toolCallId } = editor.asked[0].toolCall
  t.match(editor.of('tool_call'), [{ toolCallId, title: 'writeFile', status: 'pending' }], 'announced once')
  t.match(editor.of('tool_call_update').at(-1), { toolCallId, status: 'completed', content: [diff] })
  t.match(editor.text(), 'Created `notes.txt` (5 bytes).')
  await editor.until(() => editor.of('available_commands_update')[0])
  t.match(await editor.until(() => editor.of('session_info_update')[0]), { title: 'write "hello" to notes.txt' })

  t.same(await approvalsOf(url), [])
  t.match(await editor.quit(), [0])
  t.equal((await fetch(`${url}/health`)).status, 200, 'a service that was found goes on')
})

t.test('a scope that was allowed holds, and a rejection denies the call', async (t) => {
  const where = place(t)
  const { url } = await startService(t, where)
  const answers = ['folder', 'reject']
  const editor = await openEditor(t, { home: where.home, permit: () => answers.shift() })
  const { sessionId } = await editor.open(where.cwd)
  await editor.prompt(sessionId, 'write "1" to a.txt')
  await editor.prompt(sessionId, 'write "2" to b.txt')
  t.equal(editor.asked.length, 1, 'the second file was covered')
  t.ok(existsSync(`${where.cwd}/b.txt`))
  await editor.prompt(sessionId, 'write "3" to c.md')
  t.notOk(existsSync(`${where.cwd}/c.md`))
  t.match(editor.of('tool_call_update').at(-1), { status: 'failed' })
  const grants = await (await fetch(`${url}/grants?threadId=${sessionId}`)).json() as any
  t.match(grants.grants, [{ scope: 'folder', threadId: sessionId }])
})

t.test('a cancelled request decides nothing: it is asked again before the next prompt', async (t) => {
  const where = place(t)
  const { url } = await startService(t, where)
  const answers: Array<string | undefined> = [undefined, 'once']
  const editor = await openEditor(t, { home: where.home, permit: () => answers.shift() })
  const { sessionId } = await editor.open(where.cwd)
  t.match(await editor.prompt(sessionId, 'write "hello" to a.txt'), { stopReason: 'cancelled' })
  t.match(await approvalsOf(url), [{ threadId: sessionId, state: 'pending' }])
  t.notOk(existsSync(`${where.cwd}/a.txt`))

  t.match(await editor.prompt(sessionId, 'read a.txt'), { stopReason: 'end_turn' })
  t.equal(editor.asked.length, 2)
  t.equal(readFileSync(`${where.cwd}/a.txt`, 'utf8'), 'hello')
  t.match(editor.text(), /Created `a\.txt`.*hello/s, 'then the prompt was answered')
  t.same(await approvalsOf(url), [])
})

t.test('what is decided elsewhere takes the question back, and the turn goes on', async (t) => {
  const where = place(t)
  const { url } = await startService(t, where)
  const withdrawn = Promise.withResolvers<void>()
  const editor = await openEditor(t, {
    home: where.home,
    permit: async (_request, signal) => {
      signal.addEventListener('abort', () => withdrawn.resolve())
      await withdrawn.promise
      return 'reject'
    }
  })
  const { sessionId } = await editor.open(where.cwd)
  const turn = editor.prompt(sessionId, 'write "hello" to a.txt')
  await editor.until(() => editor.asked[0])
  const [{ approvalId }] = await approvalsOf(url)
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}/approvals/${approvalId}`, { method: 'POST', headers, body: '{"approved":true}' })

  t.match(await turn, { stopReason: 'end_turn' })
  await withdrawn.promise
  t.equal(readFileSync(`${where.cwd}/a.txt`, 'utf8'), 'hello', 'the late rejection was dropped')
  t.match(editor.text(), 'Created `a.txt`')
})

t.test('without a service it starts one, which ends with it, also when it is killed', async (t) => {
  const where = place(t)
  for (const signal of [undefined, 'SIGKILL'] as const) {
    const editor = await openEditor(t, { home: where.home })
    // An editor need not read the log.
    if (signal === undefined) editor.child.stderr.destroy()
    const { sessionId } = await editor.open(where.cwd)
    t.match(await editor.prompt(sessionId, 'list the files here'), { stopReason: 'end_turn' })
    const { pid, url } = JSON.parse(readFileSync(`${where.home}/instance.json`, 'utf8'))
    const { workspace } = await (await fetch(url)).json() as { workspace: string }
    t.match(workspace, /local-agent-editor-/, 'not the folder of the editor')
    t.same(readdirSync(workspace), [])
    if (signal === undefined) await editor.quit()
    else editor.child.kill(signal)
    await editor.exited
    for (let alive = true; alive;) {
      try {
        process.kill(pid, 0)
        await sleep(20)
      } catch {
        alive = false
      }
    }
    t.notOk(existsSync(`${where.home}/instance.json`), 'it ended in order')
  }
})

t.test('a wrong folder and an unknown session are errors with a sentence', async (t) => {
  const where = place(t)
  await startService(t, where)
  const editor = await openEditor(t, { home: where.home })
  await t.rejects(editor.open(`${where.cwd}/gone`), { message: /gone/ })
  await t.rejects(editor.prompt('nobody', 'hello'), { code: -32002 })
  await t.rejects(editor.agent.request('session/load', { sessionId: 'nobody', cwd: where.cwd, mcpServers: [] }), { code: -32002 })
})

t.test('a session whose messages cannot be read leaves no stream of its run open', async (t) => {
  const left = Promise.withResolvers<void>()
  const { url } = await fakeService(t, ({ line }, response) => {
    if (line.startsWith('GET /run/')) {
      stream(response, 'data: {"type":"start","messageId":"m"}\n\n').on('close', () => left.resolve())
    } else if (line.includes('protocol=ui')) {
      json(response, { error: 'A record is damaged.', code: 'ERR_INTERNAL', statusCode: 500 }, 500)
    } else if (line.startsWith('POST /grants')) {
      json(response, { error: 'No box.', code: 'ERR_INVALID_REQUEST', statusCode: 400 }, 400)
    } else {
      json(response, { models: [], grants: [] })
    }
  })
  const editor = await openEditor(t, { home: t.testdir({}), env: { LOCAL_AGENT_URL: url } })
  const load = editor.agent.request('session/load', { sessionId: 'one', cwd: process.cwd(), mcpServers: [] })
  await t.rejects(load, { message: /A record is damaged/ })
  await left.promise
})

t.test('a question of a tool server is asked while its call goes on: as a form, or in words that say where to answer', async (t) => {
  const where = place(t, { permissions: { ask: 'allow' }, mcp: [misbehaving('travel', [])] })
  const { url } = await startService(t, where)
  const form = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string', title: 'Name' } } } }
  const goal = `use ask with ${JSON.stringify(form)}`
  const editor = await openEditor(t, {
    home: where.home,
    permit: () => 'once',
    capabilities: { elicitation: { form: {} } },
    fill: () => ({ action: 'accept', content: { name: 'Ada' } })
  })
  const { sessionId } = await editor.open(where.cwd)
  t.match(await editor.prompt(sessionId, goal), { stopReason: 'end_turn' })
  t.match(editor.of('tool_call_update').at(-1), { status: 'completed' })
  t.match(JSON.stringify(editor.of('tool_call_update').at(-1)), /Ada/)

  const plain = await openEditor(t, { home: where.home, permit: () => 'once' })
  const other = await plain.open(where.cwd)
  const turn = plain.prompt(other.sessionId, goal)
  await plain.until(() => plain.text().includes('waits for your answers in the console') ? true : undefined)
  const [{ approvalId }] = await approvalsOf(url)
  const headers = { 'content-type': 'application/json' }
  await fetch(`${url}/approvals/${approvalId}`, { method: 'POST', headers, body: '{"answers":{"name":"Bea"}}' })
  t.match(await turn, { stopReason: 'end_turn' })
  t.match(JSON.stringify(plain.of('tool_call_update').at(-1)), /Bea/)
})
