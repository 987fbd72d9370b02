import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { answerOddly, BEGINNINGS, FORMS, PICTURES } from '../../fakes/odd-forms.ts'
import { startSite } from '../../fakes/site.ts'
import { build } from '../../harness/helper.ts'
import { run } from '../../harness/mcp-calls.ts'
import { connect, detail } from '../../harness/mcp.ts'
import { toModelOutput } from '../../../services/tools/model-output.ts'
import { readDefinitions } from '../../../services/mcp/tool-definitions.ts'

const program = (options: string[] = []) => ({
  name: 'odd',
  command: process.execPath,
  args: [fileURLToPath(new URL('../../fakes/odd-forms.ts', import.meta.url)), ...options],
  approval: 'never'
})

/** How servers send an answer over HTTP: with which status and headers, and as which text. */
const SENT: Record<string, { status?: number, type?: string, coding?: string, as?: (text: string) => string }> = {
  json: { type: 'application/json' },
  'with the coding "none"': { type: 'application/json', coding: 'none' },
  'without a type': {},
  'as text': { type: 'text/plain; charset=utf-8' },
  'with 202': { status: 202, type: 'application/json' },
  events: { type: 'text/event-stream', as: (text) => `event: answer\ndata: ${text}\n\n` },
  'events without a type': { as: (text) => `data: ${text}\n\n` }
}

async function startOddSite (t: Test, sent: keyof typeof SENT, options: { stateless?: boolean, refuses?: boolean } = {}) {
  const { status = 200, type, coding, as = (text: string) => text } = SENT[sent]
  const site = await startSite(t, {
    '/mcp': (req, res) => {
      const { body } = site.requests.at(-1)!
      if (req.method !== 'POST') return res.writeHead(200, { 'content-type': 'application/json' }).end('{}')
      const message = JSON.parse(body)
      const text = answerOddly(message, options)
      if (text === undefined) return res.writeHead(options.refuses ? 500 : 200, { 'content-type': 'text/html' }).end('<p>thanks</p>')
      return res.writeHead(status, { ...type && { 'content-type': type }, ...coding && { 'content-encoding': coding } }).end(as(text))
    }
  })
  return { name: 'odd', url: `${site.url}/mcp`, approval: 'never' }
}

/** The first block of a result as a model reads it; for a picture its label, when the picture is there, too. */
function modelTextOf (output: any): unknown {
  const shown = toModelOutput(output) as any
  return shown.type === 'content' && shown.value.length === 2 ? JSON.parse(shown.value[0].text).content[0] : shown
}

/** Connects a server and calls all forms that it may have. */
async function callAll (t: Test, server: object, over: 'stdio' | 'http') {
  const app = await build(t)
  t.match((await connect(app, { ...server, connectMs: 10_000, timeoutMs: 10_000 })).json(), { status: 'connected' })
  for (const [name, { gives, fails, only = over }] of Object.entries(FORMS)) {
    if (only !== over) continue
    const { output, errorText } = await app.tools.execute(run(app, name)) as any
    if (fails !== undefined) t.match(errorText, fails, name)
    else t.equal(PICTURES[name] === undefined ? output?.content[0]?.text : modelTextOf(output), gives, `${name} ${errorText ?? ''}`)
  }
}

for (const options of [[], ['--stateless']]) {
  t.test(`answers in odd forms are read at once over stdio ${options}`, (t) => callAll(t, program(options), 'stdio'))
}

for (const sent of Object.keys(SENT)) {
  t.test(`answers in odd forms are read at once over HTTP, ${sent}`, async (t) => callAll(t, await startOddSite(t, sent), 'http'))
}

t.test('answers in odd forms are read at once over HTTP without a session', async (t) =>
  callAll(t, await startOddSite(t, 'json', { stateless: true }), 'http'))

t.test('a notification that the server refuses ends nothing', async (t) => {
  const app = await build(t)
  t.match((await connect(app, await startOddSite(t, 'json', { refuses: true }))).json(), { status: 'connected' })
  t.match(await detail(app, 'odd'), { status: 'connected', stderr: /notifications\/initialized: it answered 500/ })
})

t.test('a first answer with nulls, lists in the place of objects or without what is not needed begins a session', async (t) => {
  const app = await build(t)
  for (const begins of Object.keys(BEGINNINGS)) {
    const connected = (await connect(app, program([`--begins=${begins}`]))).json()
    t.match(connected, { status: 'connected', tools: Object.keys(FORMS) }, begins)
  }
})

t.test('names in other scripts are written in Latin letters, or numbered, and stand in their descriptions', async (t) => {
  const app = await build(t)
  const names = ['группы', 'Поиск файлов', 'ψάξε', 'été', '群组', '用户', 'get_群组', '🔥', 'читатьФайл', 'реадФиле']
  t.match((await connect(app, program([`--names=${JSON.stringify(names)}`]))).json(), { status: 'connected', tools: names })
  const { toolDetails } = await detail(app, 'odd')
  t.same(toolDetails.map(({ agentName }: any) => agentName), [
    ...['gruppy', 'Poisk_faylov', 'psaxe', 'ete', 'odd_tool_1', 'odd_tool_2', 'odd_get_1', 'odd_tool_3'],
    ...['chitatFayl', 'odd_readFile']
  ])
  t.match(app.tools.find('odd_tool_2')!.model.description, /^The tool 用户: Takes/)
  const { output } = await app.tools.execute(run(app, 'odd_get_1', { fields: 'id', id: '1' })) as any
  t.match(output.content, [{ text: 'get_群组' }], 'each is called by its own name')
})

t.test('a server that lists the same words in another order has not changed, and one with another word has', async (t) => {
  const listed = (order: string) => JSON.parse(answerOddly({ id: 1, method: 'tools/list' }, { names: '["search"]', order })!).result.tools
  const [before, after] = ['1', '-1'].map((order) => readDefinitions(listed(order)).definitions[0])
  t.not(before.description, after.description)
  t.equal(before.digest, after.digest)
  const other = readDefinitions([{ ...after, description: after.description.replace('never', 'always') }]).definitions[0]
  t.not(other.digest, after.digest)
})
