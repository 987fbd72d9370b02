import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { of, say } from '../../harness/agent.ts'
import { connect, detail, everything, filesystem, real } from '../../harness/mcp.ts'
import { withGateway } from '../../harness/with-gateway.ts'

// Tool servers as their users know them, each through the whole service. docs/mcp.md names their versions.

const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

type Call = [toolName: string, input: object]
let planned: Call[] = []
const { app, gateway } = await withGateway(t, () => {
  const [next] = planned.splice(0, 1)
  return next === undefined ? { text: 'done' } : { toolCalls: [{ toolName: next[0], input: next[1] }] }
})
const folder = `${app.home}/../work`
const free = { approval: 'never' }
const connections = await Promise.all([
  everything('everything', free),
  { ...filesystem(folder), ...free },
  real('memory', { ...free, env: { MEMORY_FILE_PATH: `${app.cwd}/memory.jsonl` } }),
  real('sequential-thinking', free),
  { name: 'sdk2', command: process.execPath, args: [fileURLToPath(new URL('../../fakes/sdk2-server.ts', import.meta.url))], ...free }
].map((body) => connect(app, body)))

/** Calls the tools one a step; returns the outputs, what the model got of each, and the events. */
async function use (...calls: Call[]) {
  planned = [...calls]
  const { events } = await say(app, 'go')
  const told = gateway.requests.at(-1)!.body.prompt.filter(({ role }: any) => role === 'tool').map(({ content }: any) => content[0].output)
  t.same([...of(events, 'tool-output-error'), ...of(events, 'tool-input-error')], [])
  return { events, outputs: of(events, 'tool-output-available').map(({ output }) => output), told: told as any[] }
}

t.test('all are connected, and docs/mcp.md names the versions that are tried here', async (t) => {
  for (const [at, { statusCode, body }] of connections.entries()) t.equal(statusCode, 200, `${at} ${body}`)
  const docs = readFileSync(new URL('../../../docs/mcp.md', import.meta.url), 'utf8')
  const packages = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')).devDependencies
  const tried = Object.entries(packages).filter(([name]) => /^@modelcontextprotocol\/(server|conformance)/.test(name))
  t.equal(tried.length, 6)
  for (const [name, version] of tried) t.ok(docs.includes(`\`${name}\` ${version}`), `${name} ${version}`)
})

t.test('everything: progress, a structure that is told once, pictures, links that can be read', async (t) => {
  const { events, told } = await use(
    ['trigger-long-running-operation', { duration: 0.1, steps: 2 }],
    ['get-structured-content', { location: 'Chicago' }],
    ['get-annotated-message', { messageType: 'success', includeImage: true }],
    ['get-resource-links', { count: 1 }],
    ['readResource', { server: 'everything', uri: 'demo://resource/dynamic/text/2' }],
    ['listResources', {}]
  )
  t.match(of(events, 'tool-progress')[0], { progress: 1, total: 2 })
  const [, structured, annotated, links, read, list] = told
  t.strictSame(Object.keys(structured.value), ['structuredContent'])
  t.strictSame(annotated, { type: 'json', value: { content: ['[shown to the user only]'] } }, 'text and picture are for the user')
  t.match(links.value.content[1], { type: 'resource_link', uri: /^demo:/ })
  t.match(read.value, { server: 'everything', content: [{ resource: { text: /Resource 2/ } }] })
  t.strictSame(list.value.servers.map(({ server }: any) => server).sort(), ['everything', 'memory', 'sdk2'])
})

t.test('filesystem: texts that it says twice are told once, pictures are shown', async (t) => {
  writeFileSync(`${app.cwd}/picture.png`, Buffer.from(PICTURE, 'base64'))
  const { told } = await use(
    ['write_file', { path: `${folder}/notes.txt`, content: 'Buy tea' }],
    ['read_text_file', { path: `${folder}/notes.txt` }],
    ['list_directory', { path: folder }],
    ['read_media_file', { path: `${folder}/picture.png` }]
  )
  t.equal(readFileSync(`${app.cwd}/notes.txt`, 'utf8'), 'Buy tea')
  const [, text, list, picture] = told
  t.strictSame(text.value, { content: [{ type: 'text', text: 'Buy tea' }] })
  t.match(list.value.content[0].text, /\[FILE\] notes\.txt/)
  t.match(picture, { type: 'content', value: [{}, { type: 'file', mediaType: 'image/png', data: { data: PICTURE } }] })
  t.equal(picture.value.length, 2)
})

t.test('memory: what is stored is found again, and a default is filled in', async (t) => {
  const entity = { name: 'Ada', entityType: 'person', observations: ['drinks tea'] }
  const { told } = await use(['create_entities', { entities: [entity] }], ['search_nodes', { query: 'tea' }])
  t.match(told[1].value, { structuredContent: { entities: [entity] } })
  t.ok(existsSync(`${app.cwd}/memory.jsonl`))
})

t.test('sequential-thinking: numbers and booleans also as texts', async (t) => {
  const thought = { thought: 'First', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }
  const { told } = await use(
    ['sequentialthinking', thought],
    ['sequentialthinking', { thought: 'Then', nextThoughtNeeded: 'false', thoughtNumber: '2', totalThoughts: '2' }]
  )
  t.match(told[0].value.structuredContent, { nextThoughtNeeded: true })
  t.match(told[1].value.structuredContent, { nextThoughtNeeded: false, thoughtHistoryLength: 2 })
})

t.test('version 2 of the SDK: a default is filled in, a resource is read', async (t) => {
  const { outputs, events } = await use(['convert', { value: 10 }], ['readResource', { server: 'sdk2', uri: 'note://today' }])
  t.strictSame(of(events, 'tool-input-available')[0].input, { value: 10, unit: 'ft' })
  t.match(outputs, [{ structuredContent: { metres: 3.048 } }, { content: [{ resource: { text: 'Buy tea' } }] }])
  t.match(await detail(app, 'sdk2'), { status: 'connected', warnings: [] })
})
