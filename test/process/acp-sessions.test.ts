import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { RequestError } from '@agentclientprotocol/sdk'
import t, { type Test } from 'tap'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { openEditor } from '../harness/editor.ts'
import { append, effects } from '../harness/effects.ts'
import { noting } from '../harness/mcp.ts'
import { asking } from '../harness/questions.ts'
import { startService } from '../harness/sidecar.ts'

/** A service with a model whose n-th answer is the n-th plan, and its folders. */
async function withModel (t: Test, plans: Array<Plan | Promise<Plan>>) {
  const gateway = await startFakeGateway({ reply: (request) => request.structured === undefined ? plans.shift() : undefined })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: { 'known.txt': 'one\ntwo\nthree\n' } })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const env = { AI_GATEWAY_BASE_URL: gateway.url, AI_GATEWAY_API_KEY: 'the-key' }
  const service = await startService(t, { ...where, env })
  return { ...where, gateway, env, service, url: service.url }
}
const approvalsOf = async (url: string): Promise<any[]> => ((await (await fetch(`${url}/approvals`)).json()) as any).approvals
const write = (path: string, content = 'x'): Plan => ({ toolCalls: [{ toolName: 'writeFile', input: { path, content } }] })

t.test('a cancel stops what streams, and the next prompt is answered', async (t) => {
  const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
  const { home, cwd, gateway, url } = await withModel(t, [stalled, { text: 'second' }])
  const editor = await openEditor(t, { home })
  const { sessionId } = await editor.open(cwd)
  const turn = editor.prompt(sessionId, 'go')
  await editor.until(() => editor.text() === '' ? undefined : true)
  await t.rejects(editor.prompt(sessionId, 'twice'), { code: -32600 })
  await editor.agent.notify('session/cancel', { sessionId })
  t.match(await turn, { stopReason: 'cancelled' })
  t.equal(await gateway.requests[0].ended, 'aborted')
  const { runs } = await (await fetch(`${url}/runs?threadId=${sessionId}`)).json() as any
  t.match(runs, [{ status: 'stopped' }])
  t.match(await editor.prompt(sessionId, 'again'), { stopReason: 'end_turn' })
  t.match(editor.text(), /second$/)
})

t.test('a cancel while it asks leaves the call open, and takes the question back', async (t) => {
  const { home, cwd, url } = await withModel(t, [write('a.txt')])
  const held = Promise.withResolvers<undefined>()
  const editor = await openEditor(t, { home, permit: () => held.promise })
  const { sessionId } = await editor.open(cwd)
  const turn = editor.prompt(sessionId, 'go')
  await editor.until(() => editor.asked[0])
  await editor.agent.notify('session/cancel', { sessionId })
  held.resolve(undefined)
  t.match(await turn, { stopReason: 'cancelled' })
  t.match(await approvalsOf(url), [{ threadId: sessionId, state: 'pending' }])
})

t.test('an editor that dies while it asks decides nothing; another one loads the session with everything in it, and is ' +
  'asked', async (t) => {
  const plan: Plan = { toolCalls: [{ toolName: 'updatePlan', input: { steps: [{ text: 'Look', status: 'running' }] } }] }
  const picture = readFileSync(new URL('../../docs/interface.png', import.meta.url)).toString('base64')
  const edit: Plan = {
    reasoning: 'I change it.',
    toolCalls: [{ toolName: 'editFile', input: { path: 'known.txt', edits: [{ oldText: 'two', newText: 'TWO' }] } }]
  }
  const read: Plan = { toolCalls: [{ toolName: 'readFile', input: { path: 'known.txt' } }] }
  const { home, cwd, url, gateway } = await withModel(t, [plan, read, edit, { text: 'Changed it.' }, { text: 'You are welcome.' }])
  const first = await openEditor(t, { home, permit: () => new Promise(() => {}) })
  const { sessionId } = await first.open(cwd)
  const turn = first.agent.request('session/prompt', {
    sessionId,
    prompt: [
      { type: 'text', text: 'Change ' },
      { type: 'resource_link', uri: `file://${cwd}/known.txt`, name: 'known.txt' },
      { type: 'image', data: picture, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: `file://${cwd}/unsaved.txt`, text: 'not saved', mimeType: 'text/plain' } }
    ]
  })
  turn.catch(() => {})
  await first.until(() => first.asked[0])
  t.match(first.of('plan'), [{ entries: [{ content: 'Look', status: 'in_progress' }] }])
  t.match(first.asked[0].toolCall.content, [{ type: 'diff', path: `${cwd}/known.txt`, oldText: /two/, newText: /TWO/ }])
  const asked = JSON.stringify(gateway.requests[0].body.prompt.at(-1))
  t.match(asked, `${cwd}/known.txt`, 'a link is the path of the file')
  t.match(asked, 'not saved', 'what the editor embeds is attached')
  first.child.kill('SIGKILL')
  await first.exited
  t.match(await approvalsOf(url), [{ threadId: sessionId, state: 'pending' }])

  const second = await openEditor(t, { home, permit: () => 'once' })
  const { sessions } = await second.agent.request('session/list', { cwd })
  t.match(sessions, [{ sessionId, cwd }])
  await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  t.match(second.text('user_message_chunk'), /Change .*known\.txt.*\[image\]\[resource_link\]$/s)
  t.match(second.text('agent_thought_chunk'), /I change it\..*waits for your decision/s)
  t.match(second.of('plan'), [{ entries: [{ content: 'Look', status: 'in_progress' }] }])
  t.match(second.of('tool_call').map(({ title }) => title), ['updatePlan', 'readFile: known.txt', 'editFile: known.txt'])
  t.match(second.of('tool_call_update').map(({ status }) => status), ['completed', 'completed'])
  t.equal(second.asked.length, 0, 'asked with the next prompt')

  t.match(await second.prompt(sessionId, 'thanks'), { stopReason: 'end_turn' })
  t.equal(second.asked.length, 1)
  t.equal(readFileSync(`${cwd}/known.txt`, 'utf8'), 'one\nTWO\nthree\n')
  t.match(second.text(), /^Changed it\.You are welcome\.$/)
})

t.test('a session that is loaded while its run goes on shows the rest of it once', async (t) => {
  const slow: Plan = { text: Array.from({ length: 40 }, (_, at) => `${at} `), partMs: 50 }
  const { home, cwd } = await withModel(t, [slow, { text: 'Done.' }])
  const first = await openEditor(t, { home })
  const { sessionId } = await first.open(cwd)
  first.prompt(sessionId, 'count').catch(() => {})
  await first.until(() => first.text().includes('3 ') ? true : undefined)
  first.child.kill('SIGKILL')
  await first.exited

  const second = await openEditor(t, { home })
  await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  t.match(await second.prompt(sessionId, 'and?'), { stopReason: 'end_turn' })
  t.equal(second.text(), `${slow.text instanceof Array ? slow.text.join('') : ''}Done.`)
})

t.test('a session that is loaded again while its run goes on shows the rest of it once', async (t) => {
  const end = Promise.withResolvers<Plan>()
  const { home, cwd } = await withModel(t, [{ toolCalls: [{ toolName: 'listDirectory', input: {} }] }, end.promise, { text: 'Done.' }])
  const first = await openEditor(t, { home })
  const { sessionId } = await first.open(cwd)
  first.prompt(sessionId, 'go').catch(() => {})
  await first.until(() => first.of('tool_call_update').find(({ status }) => status === 'completed'))
  first.child.kill('SIGKILL')
  await first.exited

  const second = await openEditor(t, { home })
  for (let n = 0; n < 2; n++) await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  end.resolve({ text: 'The end.' })
  t.match(await second.prompt(sessionId, 'and?'), { stopReason: 'end_turn' })
  t.equal(second.text(), 'The end.Done.')
})

t.test('a cancel of a prompt that waits for the run of a loaded session stops that run', async (t) => {
  const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
  const { home, cwd, gateway } = await withModel(t, [stalled, { text: 'second' }])
  const first = await openEditor(t, { home })
  const { sessionId } = await first.open(cwd)
  first.prompt(sessionId, 'go').catch(() => {})
  await first.until(() => first.text() === '' ? undefined : true)
  first.child.kill('SIGKILL')
  await first.exited

  const second = await openEditor(t, { home })
  await second.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  const turn = second.prompt(sessionId, 'and?')
  await second.agent.notify('session/cancel', { sessionId })
  t.match(await turn, { stopReason: 'cancelled' })
  t.equal(await gateway.requests[0].ended, 'aborted')
  t.match(await second.prompt(sessionId, 'again'), { stopReason: 'end_turn' })
})

t.test('questions of the agent: as a form, as a choice, and as words where the editor has no forms', async (t) => {
  const free = { id: 'name', text: 'What is it called?', required: true }
  const { home, cwd, gateway } = await withModel(t, [
    asking(), { text: 'One.' }, asking(), { text: 'Two.' }, asking(free), { text: 'Three.' }
  ])
  const formed = await openEditor(t, {
    home,
    capabilities: { elicitation: { form: {} } },
    fill: (request) => {
      const format = { oneOf: [{ const: 'md', title: 'Markdown' }, {}] }
      t.match(request, { requestedSchema: { properties: { format }, required: ['format'] } })
      return { action: 'accept', content: { format: 'pdf' } }
    }
  })
  const one = await formed.open(cwd)
  t.match(await formed.prompt(one.sessionId, 'go'), { stopReason: 'end_turn' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), '"format":"pdf"')

  const editor = await openEditor(t, { home, permit: ({ options }) => options.find(({ name }) => name === 'Markdown')?.optionId })
  const two = await editor.open(cwd)
  t.match(await editor.prompt(two.sessionId, 'go'), { stopReason: 'end_turn' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), '"format":"md"')
  t.match(await editor.prompt(two.sessionId, 'go on'), { stopReason: 'end_turn' })
  t.match(editor.text(), /What is it called\?\n\nYour next message is the answer\.$/)
  t.match(await editor.prompt(two.sessionId, 'Ada'), { stopReason: 'end_turn' })
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), '"name":"Ada"')
  t.match(editor.text(), /Three\.$/)
})

t.test('the model of a session is kept with it, and /undo takes the last changes back', async (t) => {
  const { home, cwd, gateway } = await withModel(t, [write('new.txt'), { text: 'Done.' }, { text: 'Yes.' }])
  const editor = await openEditor(t, { home, permit: () => 'once' })
  const opened = await editor.open(cwd)
  const { sessionId } = opened
  t.match(opened.modes, { currentModeId: 'ask' })
  const model = opened.configOptions!.find(({ id }) => id === 'model') as any
  t.match(model.options[0], { value: 'active', name: /test\/model/ })
  await t.rejects(editor.agent.request('session/set_mode', { sessionId, modeId: 'yolo' }), { code: -32602 })
  await editor.agent.request('session/set_config_option', { sessionId, configId: 'model', value: 'test/other' })
  await editor.prompt(sessionId, 'write it')
  t.equal(gateway.requests.at(-1)!.modelId, 'test/other')
  t.ok(existsSync(`${cwd}/new.txt`))
  await editor.prompt(sessionId, '/undo')
  t.notOk(existsSync(`${cwd}/new.txt`))
  t.match(editor.text(), /Taken back:\n- .*new\.txt$/)

  const other = await openEditor(t, { home })
  const loaded = await other.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  t.match((loaded as any).configOptions[1], { id: 'model', currentValue: 'test/other' })
})

t.test('two editors in one session: the prompt of one is asked what the other is asked, and one answer is for both', async (t) => {
  const { home, cwd, url, gateway } = await withModel(t, [write('a.txt'), { text: 'Wrote it.' }, { text: 'You are welcome.' }])
  const first = await openEditor(t, { home, permit: () => new Promise(() => {}) })
  const second = await openEditor(t, { home, permit: () => 'once' })
  const { sessionId } = await first.open(cwd)
  const turn = first.prompt(sessionId, 'go')
  await first.until(() => first.asked[0])
  await second.agent.request('session/resume', { sessionId, cwd, mcpServers: [] })
  t.match(await second.prompt(sessionId, 'thanks'), { stopReason: 'end_turn' })
  t.match(await turn, { stopReason: 'end_turn' })
  t.equal(second.asked.length, 1)
  t.ok(existsSync(`${cwd}/a.txt`))
  t.same(await approvalsOf(url), [])
  t.match(JSON.stringify(gateway.requests.at(-1)!.body.prompt), /Wrote it\..*thanks/)
  t.equal(gateway.requests.length, 3)
})

t.test('an empty session is loaded by another process, a run that broke off is continued, a closed session is unknown', async (t) => {
  const cut: Plan = { text: ['half ', 'of it'], error: { status: 400, message: 'The provider is confused.' } }
  const { home, cwd } = await withModel(t, [cut, { text: 'The rest.' }])
  const first = await openEditor(t, { home })
  const { sessionId } = await first.open(cwd)
  await first.quit()
  const editor = await openEditor(t, { home })
  await editor.agent.request('session/load', { sessionId, cwd, mcpServers: [] })
  await t.rejects(editor.prompt(sessionId, 'go'), { message: /confused/ })
  t.match(await editor.prompt(sessionId, '/continue'), { stopReason: 'end_turn' })
  t.match(editor.text(), /The rest\.$/)
  await editor.agent.request('session/close', { sessionId })
  await t.rejects(editor.prompt(sessionId, 'more'), { code: -32002 })
})

const noBox = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

t.test('in the mode sandbox commands run unasked in the box, and in the mode ask no more', { skip: noBox }, async (t) => {
  const call: Plan = { toolCalls: [append('a')] }
  const { home, cwd } = await withModel(t, [call, { text: 'One.' }, write('a.txt'), { text: 'Two.' }, call, { text: 'Three.' }])
  const editor = await openEditor(t, { home, permit: () => 'reject' })
  const { sessionId, modes } = await editor.open(cwd)
  t.match(modes!.availableModes.map(({ id }) => id), ['ask', 'sandbox', 'copy'])
  await editor.agent.request('session/set_mode', { sessionId, modeId: 'sandbox' })
  await editor.prompt(sessionId, 'go')
  t.equal(effects(cwd), 'a')
  t.equal(editor.asked.length, 0)
  await editor.prompt(sessionId, 'and write')
  t.equal(editor.asked.length, 1, 'all else asks')
  t.notOk(existsSync(`${cwd}/a.txt`))
  await editor.agent.request('session/set_config_option', { sessionId, configId: 'mode', value: 'ask' })
  await editor.prompt(sessionId, 'again')
  t.equal(editor.asked.length, 2)
  t.equal(effects(cwd), 'a')
})

t.test('what is not saved in the editor is what the agent reads, and is not overwritten', async (t) => {
  const read: Plan = { toolCalls: [{ toolName: 'readFile', input: { path: 'known.txt' } }] }
  const edit: Plan = { toolCalls: [{ toolName: 'editFile', input: { path: 'known.txt', edits: [{ oldText: 'two', newText: 'TWO' }] } }] }
  const { home, cwd, gateway } = await withModel(t, [read, edit, { text: 'Save it first.' }, edit, { text: 'Done.' }])
  const path = `${cwd}/known.txt`
  const buffers = new Map([[path, 'one\r\ntwo and a half\r\nthree\r\n']])
  const editor = await openEditor(t, { home, permit: () => 'once', buffers })
  const { sessionId } = await editor.open(cwd)
  await editor.prompt(sessionId, 'go')
  const [seen, refused] = gateway.requests.slice(1).map(({ body }) => JSON.stringify(body.prompt.at(-1)))
  t.match(seen, 'two and a half')
  t.match(seen, 'not saved yet')
  t.match(refused, 'changes in the user\'s editor that are not saved')
  t.equal(readFileSync(path, 'utf8'), 'one\ntwo\nthree\n')

  buffers.set(path, 'one\ntwo\nthree\n')
  await editor.prompt(sessionId, 'I have saved it')
  t.equal(readFileSync(path, 'utf8'), 'one\nTWO\nthree\n')
})

t.test('in the mode copy nothing is asked, the folder stays as it is, and /apply takes over', async (t) => {
  const { home, cwd } = await withModel(t, [write('a.txt', 'A'), write('b.txt', 'B'), { text: 'Done.' }])
  t.teardown(() => rmSync(`${home}-copies`, { recursive: true, force: true }))
  const editor = await openEditor(t, { home })
  const { sessionId } = await editor.open(cwd)
  await editor.agent.request('session/set_mode', { sessionId, modeId: 'copy' })
  t.match(await editor.prompt(sessionId, 'go'), { stopReason: 'end_turn' })
  t.equal(editor.asked.length, 0)
  t.match(editor.of('tool_call_update').at(-1), { content: [{ type: 'diff', path: `${cwd}/b.txt` }] })
  t.notOk(existsSync(`${cwd}/a.txt`))
  await editor.prompt(sessionId, '/apply a.txt')
  t.ok(existsSync(`${cwd}/a.txt`))
  t.notOk(existsSync(`${cwd}/b.txt`))
  await editor.prompt(sessionId, '/apply')
  t.ok(existsSync(`${cwd}/b.txt`))
  t.match(editor.text(), /Taken over:\n- .*b\.txt$/)
})

t.test('skills and prompts of tool servers are commands, which take the words behind them', async (t) => {
  const { home, cwd, gateway, url } = await withModel(t, [{ text: 'Read.' }, { text: 'Reviewed.' }, { text: 'As it was written.' }])
  for (const name of ['tidy', 'undo']) {
    mkdirSync(`${cwd}/.agents/skills/${name}`, { recursive: true })
    writeFileSync(`${cwd}/.agents/skills/${name}/SKILL.md`, `---\nname: ${name}\ndescription: What ${name} is for.\n---\nTidy up.\n`)
  }
  const server = noting(['--prompts'])
  const connected = await fetch(`${url}/mcp/connect`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(server)
  })
  t.equal(connected.status, 200)
  const editor = await openEditor(t, { home })
  const { sessionId } = await editor.open(cwd)
  const { availableCommands } = await editor.until(() => editor.of('available_commands_update')[0])
  t.same(availableCommands.slice(0, 3).map(({ name }) => name), ['continue', 'undo', 'apply'])
  t.match(availableCommands.slice(3), [
    { name: 'tidy', description: 'What tidy is for.', input: {} },
    { name: 'skill:undo' },
    { name: 'noting:review', description: 'Reviews.', input: { hint: 'file="…" [tone="…"]' } },
    { name: 'noting:broken' }
  ])
  const said = () => JSON.stringify(gateway.requests.at(-1)!.body.prompt.findLast(({ role }: { role: string }) => role === 'user'))

  await editor.prompt(sessionId, '/tidy the folder of drafts')
  t.match(said(), 'has chosen the skill \\"tidy\\"')
  t.match(said(), 'the folder of drafts')
  t.notMatch(said(), '/tidy')
  await editor.prompt(sessionId, '/noting:review')
  t.match(editor.text(), /needs file\. Write it behind the name: `\/noting:review file="…" \[tone="…"\]`$/)
  t.equal(gateway.requests.length, 1, 'no model was asked')
  await editor.prompt(sessionId, '/noting:review tone=kind file="my cart.js"')
  t.match(said(), 'Review my cart.js.')
  t.match(said(), 'kind')
  await editor.prompt(sessionId, '/tidied is a path')
  t.match(said(), '/tidied is a path')
})

t.test('a budget that is used up is asked as a permission; an editor without permissions gets the end of the run', async (t) => {
  const look = (limit: number): Plan => ({ toolCalls: [{ toolName: 'listDirectory', input: { path: '.', limit } }] })
  const { home, cwd, url, gateway } = await withModel(t, [look(1), { text: 'Looked.' }, look(2)])
  const day = { day: { tokens: 10 } }
  await fetch(`${url}/config`, { method: 'PATCH', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ budget: day }) })
  const answers = ['more', 'more', undefined]
  const editor = await openEditor(t, {
    home,
    permit () {
      const answer = answers.shift()
      if (answer === undefined) throw RequestError.methodNotFound('session/request_permission')
      return answer
    }
  })
  const { sessionId } = await editor.open(cwd)
  t.match(await editor.prompt(sessionId, 'look'), { stopReason: 'end_turn' })
  t.match(editor.text(), /Looked\.$/)
  t.match(editor.asked, [{
    toolCall: { title: /^Today all runs together have used [\d,]+ of 10 tokens\. Go on with 10 tokens more, until midnight\?$/ },
    options: [{ optionId: 'more', kind: 'allow_once' }, { optionId: 'stop', kind: 'reject_once' }]
  }])
  const before = gateway.requests.length
  answers.length = 0
  await t.rejects(editor.prompt(sessionId, 'once more'), { message: /the budget of a day is/ })
  t.equal(gateway.requests.length, before)
  t.same(await approvalsOf(url), [])
})
