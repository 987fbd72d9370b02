import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'

// What small models write that is nearly right, and how they run in circles.

const allow = { permissions: { '*': 'allow' } }
const sync = async (app: App, payload: object) => (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
const user = (content: string) => ({ role: 'user', content })
const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })

t.test('an input that other agents\' tools would take is read as that of the tool', async (t) => {
  const meant: Array<[written: Plan, toolName: string, input: object]> = [
    [call('readFile', { file_path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('readFile', { filename: 'a.txt', limit: '2' }), 'readFile', { path: 'a.txt', limit: 2 }],
    [call('readFile', { input: { path: 'a.txt' } }), 'readFile', { path: 'a.txt' }],
    [call('readFile', { arguments: '{"path":"a.txt"}' }), 'readFile', { path: 'a.txt' }],
    [call('readFile', { name: 'readFile', parameters: { path: 'a.txt' } }), 'readFile', { path: 'a.txt' }],
    [call('readFile', [{ path: 'a.txt' }]), 'readFile', { path: 'a.txt' }],
    [call('readFile', { path: ['a.txt'] }), 'readFile', { path: 'a.txt' }],
    [call('readFile', 'a.txt'), 'readFile', { path: 'a.txt' }],
    [call('readFile', { path: 'a.txt', limit: 'null' }), 'readFile', { path: 'a.txt' }],
    [call('readFile', { Path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('functions.readFile:0', { path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('tools/read_file', { path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('readFile()', { path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('readFile<|channel|>commentary', { path: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('cat', { file: 'a.txt' }), 'readFile', { path: 'a.txt' }],
    [call('ls', { directory: '.' }), 'listDirectory', { path: '.' }],
    [call('bash', { cmd: 'true' }), 'runCommand', { command: 'true' }],
    [call('write_to_file', { path: 'b.txt', contents: 'b' }), 'writeFile', { path: 'b.txt', content: 'b' }],
    [call('str_replace', { file_path: 'a.txt', old_string: 'a', new_string: 'b' }), 'editFile', {
      path: 'a.txt',
      edits: [{ oldText: 'a', newText: 'b' }]
    }]
  ]
  const { app } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? meant[nth / 2][0] : { text: 'ok' }, { config: allow })
  writeFileSync(`${app.cwd}/a.txt`, 'a')
  for (const [plan, toolName, input] of meant) {
    const { toolCalls } = await sync(app, { messages: [user('go')] })
    t.match(toolCalls, [{ toolName, input, errorText: undefined }], JSON.stringify(plan))
  }
  t.equal(readFileSync(`${app.cwd}/b.txt`, 'utf8'), 'b')
})

t.test('what has no reading, or several, is not guessed', async (t) => {
  const wrong = [
    call('readFile', { file: 'a.txt', folder: 'b' }),
    call('readFile', { input: { path: 'a.txt' }, other: 1 }),
    call('readFile', ['a.txt', 'b.txt']),
    call('bash', { script: 'x', command: 5, more: true }),
    call('cat', { query: 'x' })
  ]
  const { app } = await withGateway(t, (_request, nth) => nth % 2 === 0 ? wrong[nth / 2] : { text: 'ok' }, { config: allow })
  for (const plan of wrong) {
    const { toolCalls } = await sync(app, { messages: [user('go')] })
    t.match(toolCalls, [{ errorText: /is not valid|no tool named/ }], JSON.stringify(plan))
  }
})

t.test('a call as text by the name of another agent\'s tool runs', async (t) => {
  const { app } = await withDirect(t, (_request, nth) => ({
    text: nth === 0 ? '<tool_call>{"name": "ls", "arguments": {"dir": "."}}</tool_call>' : 'Empty.'
  }))
  t.match(await sync(app, { messages: [user('go')] }), { text: 'Empty.', toolCalls: [{ toolName: 'listDirectory', status: 'completed' }] })
})

t.test('a run ends after eight steps in which no call was let run', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth < 20 ? call('readFile', { nothing: nth }) : { text: 'x' })
  const { stopped } = await sync(app, { messages: [user('go')] })
  t.match(stopped, { reason: 'no-progress', text: /None of the calls/ })
  t.equal(gateway.requests.length, 9)
})

t.test('a run ends when one tool says nothing new thirty times, and when equal calls come in another order of their keys', async (t) => {
  const inputs = [
    (nth: number) => ({ pattern: `nothing-${nth}` }),
    (nth: number) => nth % 2 === 0 ? { pattern: 'x', path: '.' } : { path: '.', pattern: 'x' }
  ]
  for (const [at, most] of [32, 6].entries()) {
    await t.test(`within ${most} calls`, async (t) => {
      const { app, gateway } = await withGateway(t, (_request, nth) => call('searchFiles', inputs[at](nth)))
      t.match(await sync(app, { messages: [user('go')] }), { stopped: { reason: 'repeating' } })
      t.ok(gateway.requests.length <= most, `${gateway.requests.length} calls`)
    })
  }
})

t.test('a text that repeats its own end is cut', async (t) => {
  const { app } = await withDirect(t, () => ({ text: ['Well: ', ...Array<string>(5_000).fill('Python; I am in Python; ')] }))
  const { text, stopped } = await sync(app, { messages: [user('go')] })
  t.match(stopped, { reason: 'looping-text' })
  t.ok(text.length < 20_000, `${text.length} characters`)
})

t.test('an answer that begins with blanks and has nothing else is cut, too', async (t) => {
  const { app } = await withDirect(t, () => ({ text: Array<string>(30_000).fill(' \n') }))
  t.match(await sync(app, { messages: [user('go')] }), { stopped: { reason: 'looping-text' } })
})

t.test('a call of a tool that is denied does not become a call of one with nearly the same name', async (t) => {
  const appTools = [{ name: 'read_file', description: 'Reads.', inputSchema: { type: 'object' }, effect: 'read' }]
  const names = ['readFile', 'functions.readFile']
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    nth < names.length ? call(names[nth], { path: 'a.txt' }) : { text: 'I may not.' })
  const answer = await sync(app, { messages: [user('go')], options: { appTools, denyTools: ['readFile'] } })
  t.match(answer, { text: 'I may not.', toolCalls: names.map(() => ({ errorText: /not/ })) })
  t.equal(gateway.requests.length, 3)
})

t.test('an object in the text that fits is the structured answer, also when it is nearly as the schema has it', async (t) => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, inhabitants: { type: 'integer' } },
    required: ['city', 'inhabitants'],
    additionalProperties: false
  }
  const texts = [
    'Here it is:\n\n```json\n{"city": "Bern", "inhabitants": "146000"}\n```\n\nAsk me for more.',
    'First {"town": 1}, and then {\'City\': "Bern", "inhabitants": 146000,}.'
  ]
  const { app, gateway } = await withGateway(t, (_request, nth) => ({ text: texts[nth] }))
  for (const text of texts) {
    const { object } = await sync(app, { messages: [user('go')], options: { object: { schema } } })
    t.same(object, { city: 'Bern', inhabitants: 146_000 }, text)
  }
  t.equal(gateway.requests.length, 2)
})
