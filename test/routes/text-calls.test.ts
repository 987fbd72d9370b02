import t from 'tap'
import type { App } from '../../app.ts'
import { of, say } from '../harness/agent.ts'
import { textOf } from '../harness/sse.ts'
import { withDirect } from '../harness/with-direct.ts'

const LIST = '{"name": "listDirectory", "arguments": {"path": "."}}'
const sync = async (app: App, payload: object) => (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
const user = (content: string) => ({ role: 'user', content })
const letters = (text: string) => [...text]

t.test('a call that is written as text runs, and nothing of it is shown', async (t) => {
  const texts = [letters(`Let me look.\n\n[TOOL_CALLS][${LIST}]</s>`), ['It is empty.', '<|im_end|>', '\n<|im_start|>user\nThanks']]
  const { app, server } = await withDirect(t, (_request, nth) => ({ text: texts[nth] }))
  const { events } = await say(app, 'what is here?')
  t.equal(textOf(events), 'Let me look.\n\nIt is empty.')
  t.notMatch(JSON.stringify(of(events, 'text-delta')), /TOOL_CALLS|listDirectory|im_end|Thanks/)
  t.match(of(events, 'tool-output-available'), [{}])
  t.match(server.calls[1].body.messages.at(-2), {
    content: /^Let me look\.\s*$/,
    tool_calls: [{ function: { name: 'listDirectory', arguments: '{"path":"."}' } }]
  })
})

t.test('tokens of a template are not sent back', async (t) => {
  const { app, server } = await withDirect(t, () => ({ text: ['Hello', '.<|eot_', 'id|><|start_header_id|>user'] }))
  await sync(app, { id: 'c', messages: [user('hi')] })
  t.match(await sync(app, { id: 'c', messages: [user('again')] }), { text: 'Hello.' })
  t.notMatch(JSON.stringify(server.calls.at(-1)!.body.messages), /eot_id|header_id/)
})

t.test('a call that cannot be read is asked for once more, and never ends as a success', async (t) => {
  const broken = '<tool_call>\n{"name": "listDirectory", "arguments": {"path": \n</tool_call>'
  const texts = [broken, `<tool_call>${LIST}</tool_call>`, 'It is empty.', broken, broken]
  const { app, server } = await withDirect(t, (_request, nth) => ({ text: texts[nth] }))
  const mended = await sync(app, { messages: [user('go')] })
  t.match(mended, { text: 'It is empty.', stopped: undefined, toolCalls: [{ toolName: 'listDirectory', status: 'completed' }] })
  const asked = JSON.stringify(server.calls[1].body.messages.at(-1))
  t.match(asked, /could not be read/, 'the model is told')
  t.match(asked, /"path/, 'what it wrote')
  t.match(asked, /<tool_call>/, 'and how to call')
  const { stopped, text } = await sync(app, { messages: [user('go')] })
  t.match(stopped, { reason: 'unread-call', text: /could not be read/ })
  t.equal(text, '')
  t.equal(server.calls.length, 5)
})

t.test('a call of a tool that nobody offers is no success, either', async (t) => {
  const { app } = await withDirect(t, () => ({ text: '<tool_call>{"name":"noSuchTool","arguments":{}}</tool_call>' }))
  t.match(await sync(app, { messages: [user('go')] }), { stopped: { reason: 'unread-call' }, toolCalls: [] })
})

t.test('a call behind prose asks when it can change something, and a quoted one never runs', async (t) => {
  const write = '{"name": "writeFile", "arguments": {"path": "x.txt", "content": "x"}}'
  const texts = [`I write it now: <tool_call>${write}</tool_call>`, `In Hermes:\n\n\`\`\`\`\n<tool_call>${write}</tool_call>\n\`\`\`\``]
  const { app } = await withDirect(t, (_request, nth) => ({ text: texts[nth] }), { config: { permissions: { writeFile: 'allow' } } })
  t.match(await sync(app, { messages: [user('go')] }), { text: 'I write it now: ', pendingApprovals: [{ toolName: 'writeFile' }] })
  t.match(await sync(app, { messages: [user('go')] }), { text: texts[1], toolCalls: [], finishReason: 'stop' })
})

t.test('a thought whose beginning the template wrote is a thought, also after it was shown', async (t) => {
  const { app, server } = await withDirect(t, () => ({ text: ['2 and 2', ' make 4.\n', '</think>', '\n\nIt is 4.'] }))
  const { events } = await say(app, 'what is 2+2?', { id: 'c' })
  t.equal(of(events, 'data-retry').length, 1)
  t.equal(of(events, 'reasoning-delta').map(({ delta }) => delta).join(''), '2 and 2 make 4.\n')
  t.match(await sync(app, { id: 'c', messages: [user('and now?')] }), { text: 'It is 4.' })
  t.notMatch(JSON.stringify(server.calls.at(-1)!.body.messages), /make 4/)
})

t.test('a call that a server sends and leaves in the text is one call', async (t) => {
  const { app } = await withDirect(t, (_request, nth) => nth > 0
    ? { text: 'Empty.' }
    : { text: `<tool_call>${LIST}</tool_call>`, toolCalls: [{ toolName: 'listDirectory', input: { path: '.' } }] })
  const { toolCalls } = await sync(app, { messages: [user('go')] })
  t.equal(toolCalls.length, 1)
})
