import { ok, strictEqual } from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startFakeOpenAI, type Plan } from '../fakes/openai.ts'
import { startWindows, TEST } from './wine.ts'

// The packed service in Node for Windows, under Wine, and what all steps use of it. How Windows itself reads names is in
// test/services/tools/windows-paths.test.ts: Wine makes files named NUL and `a.txt.` like any other.

/** What a step shows, as a sentence, and how. */
export type Step = [sentence: string, step: () => Promise<void>]

const started = await startWindows()
if (typeof started === 'string') {
  console.log(`Not tried on Windows: ${started}.`)
  process.exit(0)
}
export const { tell, close, node, nodeFile, server } = started

/** The folders of the tests as the service has them, and as they are on Linux. */
export const [WORK, HOME] = ['C:\\test\\work', 'C:\\test\\home']
export const [work, home] = ['work', 'home'].map((name) => join(TEST, name))

// The model is on Linux. It calls the tools that a step has it call, then says that it is done.
let plans: Plan[] = []
/** The request that the plans are for, by words in it: runs of tasks go on beside it. */
let awaited = ''
let asked = 0
export const model = await startFakeOpenAI({
  reply ({ structured, body }) {
    if (structured !== undefined) return undefined
    return (JSON.stringify(body.messages).includes(awaited) ? plans.shift() : undefined) ?? { text: 'Done.' }
  }
})
/** Sets what the model answers next. */
export const plan = (...next: Plan[]) => {
  plans = next
  awaited = ''
}
export const planCall = (toolName: string, input: object) => plan({ toolCalls: [{ toolName, input }] })

export const ALLOWED = { runCommand: 'allow', writeFile: 'allow', editFile: 'allow', moveFile: 'allow', deleteFile: 'allow' }
/** Writes config.json, and has a service that runs read it. */
export async function configure (permissions: object, more: object = {}) {
  writeFileSync(join(home, 'config.json'), JSON.stringify({
    model: 'ollama/llama3',
    analysis: false,
    providers: { ollama: { baseURL: model.url } },
    permissions,
    mcp: [{ name: 'notes', command: 'notes-server', args: ['--reads=read', 'a b & c'] }],
    ...more
  }))
  if (url !== '') await ask('/config/reload', {})
}

/** Where the service listens. */
export let url = ''
const environment = { LOCAL_AGENT_HOME: HOME, PATH: 'C:\\test\\bin;C:\\windows\\system32;C:\\windows' }
/** Starts the service, or `command` with `args` in its place. */
export const boot = (more: object = {}): Promise<any> => tell('start', { cwd: WORK, env: environment, ...more })

export async function up (more: object = {}) {
  const { ready, log } = await boot(more)
  ok(ready, log)
  strictEqual(ready.event, 'ready')
  url = ready.url
}

export async function ask (path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<any> {
  const answer = await fetch(url + path, {
    method,
    ...body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  const text = await answer.text()
  ok(answer.ok, `${path} answered ${answer.status}: ${text}`)
  return answer.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : text
}

/** Has the model call a tool, and returns what it was told of it, with the id of the run. */
export async function call (toolName: string, input: object, more: object = {}): Promise<Record<'text' | 'runId' | 'threadId', string>> {
  planCall(toolName, input)
  awaited = `Use ${toolName}, ${++asked}.`
  const body = { messages: [{ role: 'user', content: awaited }], context: { cwd: WORK }, ...more }
  const { runId, threadId } = await ask('/run/sync', body)
  return { text: toldLast(), runId, threadId }
}

/** What the model was told last of a call. */
function toldLast (): string {
  const { messages } = model.calls.findLast(({ body }) => JSON.stringify(body.messages).includes(awaited))!.body
  const message = messages.findLast(({ role }: { role: string }) => role === 'tool')
  return typeof message?.content === 'string' ? message.content : JSON.stringify(message ?? messages.at(-1))
}

export const isHealthy = () => fetch(`${url}/health`).then(({ ok }) => ok, () => false)
/** Reads a file of the working folder. */
export const read = (name: string) => readFileSync(join(work, name), 'utf8')

mkdirSync(work)
mkdirSync(home)
await configure({ runCommand: 'allow' })
// As npm puts tools of packages into PATH.
mkdirSync(join(TEST, 'bin'))
writeFileSync(join(TEST, 'bin/notes-server.cmd'), `@"${node}" "C:\\test\\mcp-server.ts" %*\r\n`)
writeFileSync(join(TEST, 'mcp-server.ts'), readFileSync(new URL('../fakes/mcp-server.ts', import.meta.url)))
