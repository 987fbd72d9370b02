import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { buildSync } from 'esbuild'
import { createBrowser, startRealAuthorizationServer } from '../../fakes/real-authorization-server.ts'
import { makeOffice } from '../../harness/attached-files.ts'
import { makePdf } from '../../harness/pdf.ts'
import { ROOT } from '../../harness/source-tree.ts'
import { ALLOWED, ask, call, configure, HOME, model, node, plan, planCall, read, server, tell, url, WORK, type Step } from '../app.ts'
import { TEST } from '../wine.ts'

const execute = promisify(execFile)
const EVERYTHING = 'node_modules/@modelcontextprotocol/server-everything/dist'

/** Waits until a tool server has the state. */
async function until (name: string, status: string) {
  for (let n = 0; ; n++) {
    const found = await ask(`/mcp/servers/${name}`)
    if (found.status === status) return found
    ok(n < 300, JSON.stringify(found))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

export const doors: Step[] = [
  ['a tool server that is a batch file in PATH is started, and its arguments arrive', async () => {
    const { servers } = await ask('/mcp/servers')
    deepStrictEqual(servers.map(({ name, status }: any) => [name, status]), [['notes', 'connected']], JSON.stringify(servers))
  }],

  ['the tool server "everything" is used over stdio, and ends when it is removed', async () => {
    const place = join(TEST, 'everything')
    const banner = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)"
    mkdirSync(place)
    buildSync({
      ...{ entryPoints: [join(ROOT, EVERYTHING, 'index.js')], outfile: join(place, 'dist/index.mjs'), bundle: true },
      ...{ platform: 'node', format: 'esm', banner: { js: banner }, logLevel: 'error' }
    })
    cpSync(join(ROOT, EVERYTHING, 'docs'), join(place, 'docs'), { recursive: true })
    await ask('/mcp/connect', { name: 'everything', command: node, args: ['C:\\test\\everything\\dist\\index.mjs', 'stdio'] })
    await until('everything', 'connected')
    planCall('everything_echo', { message: 'häß 日本' })
    const body = { messages: [{ role: 'user', content: 'Echo it.' }], context: { cwd: WORK } }
    const stream = await ask('/run', body)
    const [, approvalId] = /"approvalId":"([^"]+)"/.exec(stream) ?? []
    ok(approvalId, stream)
    await ask(`/approvals/${approvalId}`, { approved: true })
    const [, runId] = /"runId":"([^"]+)"/.exec(stream)!
    await ask(`/runs/${runId}?waitMs=30000`)
    match(JSON.stringify(model.calls.at(-1)!.body.messages), /Echo: häß 日本/)
    await ask('/mcp/everything', undefined, 'DELETE')
    const { stdout } = await tell('run', { command: 'tasklist', args: [] })
    ok(!stdout.includes('everything'))
  }],

  ['a user signs in at a tool server, and the browser comes back to this computer', async () => {
    const ends: Array<() => unknown> = []
    const authorization = await startRealAuthorizationServer({ teardown: (end) => ends.push(end) })
    const web = await authorization.addServer()
    const { authorizationUrl } = await ask('/mcp/connect', { name: 'web', url: web.url })
    match(new URL(authorizationUrl).searchParams.get('redirect_uri')!, /^http:\/\/127\.0\.0\.1:\d+\/oauth\/callback$/)
    match((await createBrowser()(authorizationUrl)).text, /^Authorized/)
    await until('web', 'connected')
    await ask('/mcp/web', undefined, 'DELETE')
    for (const end of ends.reverse()) await end()
  }],

  ['attachments are kept, read in a worker and sent to the model', async () => {
    const attach = async (bytes: Buffer, type: string, name: string) => {
      const headers = { 'content-type': type, 'x-filename': name }
      return (await fetch(`${url}/attachments`, { method: 'POST', headers, body: new Uint8Array(bytes) })).json() as Promise<any>
    }
    const docx = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'
    const letter = makeOffice.docx('Dear häß')
    const kept = await attach(letter, docx, 'Letter.docx')
    const pdf = await attach(makePdf(['An offer of 42']), 'application/pdf', 'offer.pdf')
    const parts = [kept, pdf].map(({ url, mediaType, name }) => ({ type: 'file', url, mediaType, filename: name }))
    plan({ text: 'Read.' })
    const message = { role: 'user', parts: [{ type: 'text', text: 'What is in them?' }, ...parts] }
    await ask('/run', { id: 'attached', message, cwd: WORK })
    const told = JSON.stringify(model.calls.at(-1)!.body.messages)
    match(told, /Dear häß/)
    match(told, /An offer of 42/)
    const back = Buffer.from(await (await fetch(`${url}/attachments/${kept.digest}`)).arrayBuffer())
    ok(back.equals(letter))
  }],

  ['a client of OpenAI\'s API gets an answer, in one piece and streamed', async () => {
    const body = { model: 'ollama/llama3', messages: [{ role: 'user', content: 'system info' }], cwd: WORK }
    planCall('systemInfo', {})
    strictEqual((await ask('/v1/chat/completions', body)).choices[0].message.content, 'Done.')
    planCall('systemInfo', {})
    match(await ask('/v1/chat/completions', { ...body, stream: true }), /"content":"Done\."[\s\S]*data: \[DONE\]/)
  }],

  ['an editor starts the agent over stdio, is asked for a change, and sees what was done', async () => {
    await configure({})
    await tell('open', { command: node, args: [server, 'acp'], env: { LOCAL_AGENT_HOME: HOME } })
    let id = 0
    const heard: any[] = []
    const say = (message: object) => tell('say', { line: JSON.stringify({ jsonrpc: '2.0', ...message }) })
    async function listen (isIt: (message: any) => boolean) {
      for (let n = 0; ; n++) {
        const found = heard.find(isIt)
        if (found !== undefined) return found
        const { lines, code } = await tell('hear')
        ok(code === null && n < 60, JSON.stringify(heard.slice(-3)))
        heard.push(...lines.map((line: string) => JSON.parse(line)))
      }
    }
    const send = async (method: string, params: object) => {
      const mine = id++
      await say({ id: mine, method, params })
      return () => listen((message) => message.id === mine && message.method === undefined)
    }
    const request = async (method: string, params: object) => (await (await send(method, params))()).result
    strictEqual((await request('initialize', { protocolVersion: 1, clientCapabilities: {} })).protocolVersion, 1)
    const { sessionId } = await request('session/new', { cwd: WORK, mcpServers: [] })
    planCall('writeFile', { path: 'Editor.txt', content: 'hello' })
    const prompted = await send('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'write it' }] })
    const asked = await listen(({ method }) => method === 'session/request_permission')
    match(JSON.stringify(asked.params.toolCall), /"path":"C:\\\\test\\\\work\\\\Editor\.txt"/)
    await say({ id: asked.id, result: { outcome: { outcome: 'selected', optionId: 'once' } } })
    strictEqual((await prompted()).result.stopReason, 'end_turn')
    strictEqual(read('Editor.txt'), 'hello')
    strictEqual((await tell('shut')).code, 0, 'it ends with the editor')
    await configure(ALLOWED)
  }],

  ['recordings are replayed, and one that was made here is the same on Linux', async () => {
    const { runId } = await call('readFile', { path: 'Editor.txt' })
    const recorded = await ask(`/runs/${runId}/recording`, {})
    const place = join(TEST, 'recordings')
    mkdirSync(place)
    writeFileSync(join(place, 'windows.jsonl'), recorded)
    const names = ['files-changed-in-every-way', 'structured-answer', 'task-with-approvals', 'tool-server'].map((name) => `${name}.jsonl`)
    for (const name of names) copyFileSync(join(ROOT, 'test/recordings', name), join(place, name))
    const { status, stdout, stderr } = await tell('run', { command: node, args: [server, 'test', 'C:\\test\\recordings\\*.jsonl'] })
    strictEqual(status, 0, stdout + stderr)
    match(stdout, new RegExp(`${names.length + 1} recordings replayed, no difference`))
    match((await execute(process.execPath, [join(ROOT, 'dist/server.js'), 'test', join(place, 'windows.jsonl')])).stdout, /no difference/)
    ok(!readFileSync(join(place, 'windows.jsonl'), 'utf8').includes('C:\\\\test\\\\work'), 'the folder is replaced in it')
  }]
]
