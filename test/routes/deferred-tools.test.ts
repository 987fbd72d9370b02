import { readFileSync } from 'node:fs'
import t from 'tap'
import { MEMORY_FOLLOWS } from '../../services/contracts/model-texts.ts'
import { tokensIn } from '../../services/models/index.ts'
import { openChat } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import type { Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })
const use = (toolName: string, input: unknown) => call('useTool', { toolName, input })
const namesIn = ({ body }: { body: any }): string[] => body.tools.map(({ name }: { name: string }) => name)
/** A window for which the prompt is compact. */
const small = { contextWindows: { test: 16_000 } }
const COMPACT = [
  'readFile', 'searchFiles', 'listDirectory', 'editFile', 'writeFile', 'runCommand', 'fetchUrl', 'createTask', 'findTools', 'useTool'
]

t.test('a model with a small window is told of ten tools in few words, finds the others, and calls them', async (t) => {
  const plans = [call('findTools', { query: 'find files by their names' }), use('findFiles', { pattern: '*' }), { text: 'Two files.' }]
  const { app, gateway } = await withGateway(t, (_request, nth) => plans[nth], { config: small, boxes: BUBBLEWRAP })
  for (let n = 0; n < 60; n++) {
    const fact = `The ${n}th boat of my harbour is called Ms. ${'Petrel'.repeat(3)} ${n}.`
    await app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact } })
  }
  const { events } = await say(app, 'what is here?', { id: 'small' })
  const [{ body: { tools, prompt } }] = gateway.requests
  t.same(namesIn(gateway.requests[0]), COMPACT)
  t.ok(tokensIn(JSON.stringify(tools.find(({ name }: any) => name === 'createTask'))) <= 65, 'few for a task')
  const system: string = prompt.filter(({ role }: any) => role === 'system').map(({ content }: any) => content).join('\n\n')
  const memory = system.slice(system.indexOf(MEMORY_FOLLOWS))
  t.ok(tokensIn(memory) <= 300 && memory.includes('Petrel'), `the memory takes ${tokensIn(memory)}`)
  const told = tokensIn(system) - tokensIn(memory) + tokensIn(JSON.stringify(tools))
  t.ok(told <= 900, `the prompt and the tools take ${told} tokens`)
  t.match(system, /Do not retry calls that were denied/)

  const [found, listed] = of(events, 'tool-output-available')
  t.equal(found.output.tools[0].name, 'findFiles')
  t.match(found.output.tools[0], { description: String, input: { properties: { path: Object } } })
  t.ok(found.output.others.length > 0, `a miss is no dead end: ${found.output.others}`)
  t.notOk(found.output.others.includes('readFile'))
  t.match(listed, { toolName: 'findFiles', output: { files: Array } })
  t.same(
    of(events, 'tool-input-start').map(({ toolName }) => toolName),
    ['findTools', 'findFiles'],
    'readers see the tool that was called'
  )
  t.match(of(events, 'tool-input-available')[1], { toolName: 'findFiles', input: { pattern: '*' } })

  const last = gateway.requests[2]
  const parts = last.body.prompt.flatMap(({ content }: any) => Array.isArray(content) ? content : [])
  const calls = parts.filter(({ toolCallId }: any) => toolCallId)
  t.match(calls.filter(({ toolName }: any) => toolName === 'useTool'), [
    { type: 'tool-call', input: { toolName: 'findFiles', input: { pattern: '*' } } },
    { type: 'tool-result' }
  ], 'the model gets its calls as it made them')

  const data = `data:text/plain;base64,${Buffer.from('A letter').toString('base64')}`
  const content = [{ type: 'text', text: 'And this?' }, { type: 'file', data, mediaType: 'text/plain' }]
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'small', message: { role: 'user', content } } })
  t.same([2, gateway.requests.length - 1].map((n) => namesIn(gateway.requests[n])), [COMPACT, COMPACT], 'the list stays')
})

t.test('an edit in the short form of a small window is one edit', async (t) => {
  const plans = [
    call('writeFile', { path: 'a.txt', content: 'one two' }),
    call('editFile', { path: 'a.txt', oldText: 'two', newText: 'three' })
  ]
  const permissions = { writeFile: 'allow', editFile: 'allow' }
  const { app } = await withGateway(t, (_request, nth) => plans[nth] ?? { text: 'Done.' }, { config: { ...small, permissions } })
  await say(app, 'go')
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'one three')
})

t.test('a found tool is asked about, approved and denied as itself', async (t) => {
  const plans = [use('moveFile', { from: 'a.txt', to: 'b.txt' }), { text: 'Moved.' }]
  const { app } = await withGateway(t, (_request, nth) => plans[nth], { config: small })
  const { events } = await say(app, 'rename it', { id: 'move' })
  t.match(of(events, 'tool-approval-request'), [{ toolName: 'moveFile', input: { from: 'a.txt', to: 'b.txt' } }])
})

t.test('a tool that the user denies is not found', async (t) => {
  const denying = await withGateway(t, (_request, nth) => [use('moveFile', { from: 'a.txt', to: 'b.txt' }), { text: 'No.' }][nth], {
    config: { ...small, permissions: { moveFile: 'deny' } }
  })
  const { events: denied } = await say(denying.app, 'rename it')
  t.match(of(denied, 'tool-input-error')[0]?.errorText ?? of(denied, 'tool-output-error')[0].errorText, /no tool named "moveFile"/)
})

t.test('inputs of found tools are read leniently, and names of no tool are told', async (t) => {
  const plans = [
    use('list_directory', '{"path": ".",}'),
    call('listDirectory', { path: '.' }),
    use('teleport', { to: 'Mars' }),
    call('useTool', { input: {} }),
    call('use_tool', { toolName: 'listDirectory', input: { path: '.' } }),
    { text: 'Done.' }
  ]
  const { app } = await withGateway(t, (_request, nth) => plans[nth], { config: small })
  const { events } = await say(app, 'go')
  t.same(of(events, 'tool-output-available').map(({ toolName }) => toolName), ['listDirectory', 'listDirectory', 'listDirectory'])
  t.match(of(events, 'tool-output-error').map(({ errorText }) => errorText), [/no tool named "teleport".*findTools/])
  t.match(of(events, 'tool-input-error').map(({ errorText }) => errorText), [/toolName/])
})

t.test('options of a run and permissions hold for found tools and for the finders', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) =>
    [use('deleteFile', { path: 'a.txt' }), call('findTools', { query: 'delete' }), { text: 'x' }][nth % 3], { config: small })
  const { events } = await say(app, 'go', { options: { denyTools: ['deleteFile'] } })
  t.match(of(events, 'tool-output-error')[0].errorText, /no tool named "deleteFile"/)
  t.notMatch(JSON.stringify(of(events, 'tool-output-available')[0].output), /"deleteFile"/)
  await say(app, 'go', { options: { denyTools: ['findTools'] } })
  t.ok(namesIn(gateway.requests[3]).includes('deleteFile'), 'without a finder all are described')
})

t.test('a large window describes all tools that runs often need', async (t) => {
  const { app, gateway } = await withGateway(t, () => ({ text: 'hi' }))
  await say(app, 'hi')
  t.ok(namesIn(gateway.requests[0]).includes('listDirectory'))
  t.same(['webSearch', 'remember', 'readCommand'].map((name) => namesIn(gateway.requests[0]).includes(name)), [true, true, false])
})

t.test('a task finds its tools, and keeps those that it owes', async (t) => {
  const plans: Plan[] = [
    use('listDirectory', { path: '.' }),
    call('updatePhase', { phaseId: 'phase-1', status: 'completed' }),
    { text: 'There is one file.' }
  ]
  let step = 0
  const { app, gateway } = await withGateway(t, ({ body }) => body.tools === undefined ? undefined : plans[step++], {
    config: small
  })
  const tasks = await tasksOf(t, app)
  const watched = await tasks.watch()
  const { id } = await tasks.create('count the files', { plan: { phases: [{ description: 'look' }] } })
  await tasks.post(`/${id}/start`)
  await watched.until('task:complete')
  t.match((await tasks.runs(id))[0].toolCalls, [{ toolName: 'listDirectory' }])
  const offered = namesIn(gateway.requests.find(({ body }) => body.tools)!)
  t.ok(offered.includes('updatePhase'))
  t.notOk(offered.includes('remember'))
})

for (const version of versions) {
  t.test(`a chat of ${version.name} shows the tool that was found, and its next request is understood`, async (t) => {
    const plans = [use('findFiles', { pattern: '*' }), { text: 'One file.' }, { text: 'Yes.' }]
    const { app, gateway } = await withGateway(t, (_request, nth) => plans[nth], { config: small })
    const open = await openChat(app, version, { id: 'c' })
    await open.say('what is here?')
    t.match(open.calls, [{ type: 'tool-findFiles', state: 'output-available', input: { pattern: '*' } }])
    await open.say('sure?')
    t.same([open.text, open.errors], ['Yes.', []])
    t.match(JSON.stringify(gateway.requests[2].body.prompt), /"toolName":"useTool","input":\{"toolName":"findFiles"/)
  })
}

t.test('the window of a server of the user is asked for', async (t) => {
  const models = [{ id: 'llama3', max_model_len: 8_192 }]
  const { app, server } = await withDirect(t, () => ({ text: 'hi' }), { server: { models } })
  await say(app, 'hi')
  const [{ body }] = server.requests.filter(({ body }) => body?.tools)
  t.same(body.tools.map(({ function: { name } }: any) => name).slice(-2), ['findTools', 'useTool'])
})
