import { existsSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import t, { type Test } from 'tap'
import { startFakeGateway, type Plan } from '../fakes/gateway.ts'
import { openEditor } from '../harness/editor.ts'
import { startService } from '../harness/sidecar.ts'

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const SERVER = fileURLToPath(new URL('../fakes/mcp-server.ts', import.meta.url))

/** An editor with a session of a service whose model answers as planned. */
async function openSession (t: Test, plans: Plan[], mcpServers: any[] = [], choices: string[] = []) {
  const gateway = await startFakeGateway({ reply: (request) => request.structured === undefined ? plans.shift() : undefined })
  t.teardown(() => gateway.close())
  const config = { model: 'test/model', analysis: false, threads: { titles: false } }
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
  const cwd = `${dir}/work`
  const env = { AI_GATEWAY_BASE_URL: gateway.url, AI_GATEWAY_API_KEY: 'the-key' }
  await startService(t, { home: `${dir}/home`, cwd, env })
  const editor = await openEditor(t, { home: `${dir}/home`, permit: () => choices.shift() ?? 'once' })
  const { sessionId } = await editor.agent.request('session/new', { cwd, mcpServers }) as { sessionId: string }
  const send = (...prompt: any[]): Promise<object> => editor.agent.request('session/prompt', { sessionId, prompt })
  return { editor, sessionId, cwd, gateway, send, toldAt: (n: number) => JSON.stringify(gateway.requests[n].body.prompt) }
}
const text = (words: string) => ({ type: 'text', text: words })

t.test('a prompt right after a cancel waits for the turn that is ending, and one beside a turn is refused', async (t) => {
  const stalled: Plan = { text: ['first ', 'never'], ending: 'stall', after: 4 }
  const { editor, sessionId, send } = await openSession(t, [stalled, { text: 'second' }])
  const turn = send(text('go'))
  await editor.until(() => editor.text() === '' ? undefined : true)
  await t.rejects(send(text('beside')), { code: -32600 })
  await editor.agent.notify('session/cancel', { sessionId })
  const next = send(text('the next one'))
  t.match(await turn, { stopReason: 'cancelled' })
  t.match(await next, { stopReason: 'end_turn' })
  t.match(editor.text(), /second$/)
})

t.test('the tool servers of an editor are connected for its session, and asked about; what cannot be connected is said', async (t) => {
  const servers = [
    { name: 'fake', command: process.execPath, args: [SERVER, '--tools=lookUp'], env: [] },
    { name: 'gone', command: '/no/such/program', args: [], env: [] },
    { type: 'sse', name: 'old', url: 'http://127.0.0.1:9/sse', headers: [] }
  ]
  const { editor, send, gateway, toldAt } = await openSession(t, [
    { toolCalls: [{ toolName: 'fake_lookUp', input: {} }] },
    { text: 'Found.' }
  ], servers)
  await editor.until(() => /"gone".*"old"|"old".*"gone"/s.test(editor.text('agent_thought_chunk')) || undefined)
  t.match(await send(text('look it up')), { stopReason: 'end_turn' })
  t.match(editor.asked, [{ toolCall: { rawInput: {} }, options: [{ optionId: 'once' }] }])
  t.match(toldAt(1), /lookUp was called/)
  t.match(editor.text(), /Found\.$/)
  const states = editor.updates.flatMap(({ update }) => 'toolCallId' in update && update.status ? [update.status] : [])
  t.same([...new Set(states)], ['pending', 'in_progress', 'completed'], 'no call goes back')
  t.ok(gateway.requests[0].body.tools.some(({ name }: any) => name === 'fake_lookUp'))
})

t.test('what is allowed for later covers the calls that wait beside it', async (t) => {
  const write = (path: string) => ({ toolName: 'writeFile', input: { path, content: 'x' } })
  const plans = [{ toolCalls: [write('a.txt'), write('b.txt'), write('c.md')] }, { text: 'Done.' }]
  const { editor, send, cwd } = await openSession(t, plans, [], ['folder', 'reject'])
  t.match(await send(text('write')), { stopReason: 'end_turn' })
  t.same(editor.asked.map(({ toolCall: { title } }) => title), ['writeFile: a.txt', 'writeFile: c.md'])
  t.same(['a.txt', 'b.txt', 'c.md'].map((name) => existsSync(`${cwd}/${name}`)), [true, true, false])
})

t.test('pictures as data URLs and as files are read, and what is refused is left out with a note', async (t) => {
  const { editor, send, cwd, toldAt } = await openSession(t, [{ text: 'Seen.' }, { text: 'Read.' }])
  writeFileSync(`${cwd}/pixel.png`, Buffer.from(PIXEL, 'base64'))
  const uri = pathToFileURL(`${cwd}/pixel.png`).href
  const image = { type: 'image', mimeType: 'image/png' }
  t.match(await send(text('look '), { ...image, data: `data:image/png;base64,${PIXEL}` }), { stopReason: 'end_turn' })
  t.match(toldAt(0), PIXEL.slice(0, 40))
  const refused = [{ ...image, data: '', uri: 'file:///no/such/file.png' }, { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }]
  t.match(await send(text('these? '), { ...image, data: '', uri }, ...refused), { stopReason: 'end_turn' })
  t.match(editor.text(), /Read\.$/)
  t.match(toldAt(1), /these\?.*A picture is left out.*A sound is left out: this agent takes no audio/s)
  t.match(editor.text('agent_thought_chunk'), /A picture is left out.*A sound is left out/s)
})
