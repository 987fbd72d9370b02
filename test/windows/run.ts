import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { startFakeOpenAI, type Plan } from '../fakes/openai.ts'
import { until } from '../harness/exercise.ts'
import { startWindows, TEST } from './wine.ts'

// Uses the packed service in Node for Windows, under Wine. How Windows itself reads names is in test/services/tools/windows-paths.test.ts:
// Wine makes files named NUL and `a.txt.` like any other.

const KILLS = 10
const [WORK, HOME] = ['C:\\test\\work', 'C:\\test\\home']
const [work, home] = ['work', 'home'].map((name) => join(TEST, name))

setPriority(10)
const began = performance.now()
const started = await startWindows()
if (typeof started === 'string') {
  console.log(`Not tried on Windows: ${started}.`)
  process.exit(0)
}
const { tell, close, node, server } = started

// The model is on Linux. It calls the tool that a step has it call, then says that it is done.
let plans: Plan[] = []
const model = await startFakeOpenAI({
  reply: ({ structured }) => structured === undefined ? plans.shift() ?? { text: 'Done.' } : undefined
})
const ALLOWED = { runCommand: 'allow', writeFile: 'allow', editFile: 'allow', moveFile: 'allow', deleteFile: 'allow' }
const config = (permissions: object) =>
  writeFileSync(join(home, 'config.json'), JSON.stringify({
    model: 'ollama/llama3',
    analysis: false,
    providers: { ollama: { baseURL: model.url } },
    permissions,
    mcp: [{ name: 'notes', command: 'notes-server', args: ['--reads=read', 'a b & c'] }]
  }))
mkdirSync(work)
mkdirSync(home)
config({ runCommand: 'allow' })
// As npm puts tools of packages into PATH.
mkdirSync(join(TEST, 'bin'))
writeFileSync(join(TEST, 'bin/notes-server.cmd'), `@"${node}" "C:\\test\\mcp-server.ts" %*\r\n`)
writeFileSync(join(TEST, 'mcp-server.ts'), readFileSync(new URL('../fakes/mcp-server.ts', import.meta.url)))

let url = ''
const boot = (): Promise<any> =>
  tell('start', { cwd: WORK, env: { LOCAL_AGENT_HOME: HOME, PATH: 'C:\\test\\bin;C:\\windows\\system32;C:\\windows' } })

async function up () {
  const { ready, log } = await boot()
  ok(ready, log)
  strictEqual(ready.event, 'ready')
  url = ready.url
}

async function ask (path: string, body?: object, method = body === undefined ? 'GET' : 'POST'): Promise<any> {
  const answer = await fetch(url + path, {
    method,
    ...body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  })
  const text = await answer.text()
  ok(answer.ok, `${path} answered ${answer.status}: ${text}`)
  return text.startsWith('{') ? JSON.parse(text) : text
}

/** Has the model call a tool, and returns what it was told of it, with the id of the run. */
async function call (toolName: string, input: object, more: object = {}): Promise<{ text: string, runId: string }> {
  plans = [{ toolCalls: [{ toolName, input }] }]
  const { runId } = await ask('/run/sync', { messages: [{ role: 'user', content: `Use ${toolName}.` }], context: { cwd: WORK }, ...more })
  return { text: toldLast(), runId }
}

const isHealthy = () => fetch(`${url}/health`).then(({ ok }) => ok, () => false)

const toldLast = (): string => {
  const message = model.calls.at(-1)!.body.messages.findLast(({ role }: { role: string }) => role === 'tool')
  return typeof message.content === 'string' ? message.content : JSON.stringify(message.content)
}
const read = (name: string) => readFileSync(join(work, name), 'utf8')

const steps: Array<[sentence: string, step: () => Promise<void>]> = [
  ['the service starts and is healthy, and says that it is on Windows', async () => {
    await up()
    strictEqual((await fetch(`${url}/health`)).status, 200)
    const info = JSON.parse((await call('systemInfo', {})).text)
    strictEqual(info.platform, 'win32')
    match(info.shell, /cmd\.exe/)
    match(JSON.stringify(model.calls.at(-1)!.body.messages[0]), /Windows; commands run in cmd\.exe/)
  }],

  ['a file is written once its user says so, and is taken back', async () => {
    plans = [{ toolCalls: [{ toolName: 'writeFile', input: { path: 'sub/Letter.txt', content: 'hello' } }] }]
    const stream = await ask('/run', { messages: [{ role: 'user', content: 'write it' }], context: { cwd: WORK } })
    const approvalId = /"approvalId":"([^"]+)"/.exec(stream)?.[1]
    ok(approvalId, stream)
    ok(!existsSync(join(work, 'sub')), 'nothing is written unasked')
    match(JSON.stringify(await ask('/approvals')), /C:\\\\+test\\\\+work/)
    await ask(`/approvals/${approvalId}`, { approved: true })
    await until(() => existsSync(join(work, 'sub/Letter.txt')))
    strictEqual(read('sub/Letter.txt'), 'hello')
    const runId = /"runId":"([^"]+)"/.exec(stream)?.[1]
    while ((await ask(`/runs/${runId}`)).status !== 'completed') await wait(20)
    deepStrictEqual((await ask(`/runs/${runId}/undo`, {})).restored, ['C:\\test\\work\\sub\\Letter.txt'])
    ok(!existsSync(join(work, 'sub')))
    config(ALLOWED)
    await ask('/config/reload', {})
  }],

  ['file tools read, change, move, find and delete, with both slashes and in any case', async () => {
    await call('writeFile', { path: 'src\\deep/A.TXT', content: 'one\ntwo\n' })
    strictEqual(read('src/deep/A.TXT'), 'one\ntwo\n')
    writeFileSync(join(work, 'src/crlf.txt'), 'one\r\ntwo\r\n')
    await call('editFile', { path: 'c:/TEST/work/SRC/crlf.txt', edits: [{ oldText: 'two', newText: 'three\nfour' }] })
    strictEqual(read('src/crlf.txt'), 'one\r\nthree\r\nfour\r\n', 'lines end as they did')
    match((await call('readFile', { path: 'SRC\\Deep\\a.txt' })).text, /one/)
    match((await call('findFiles', { pattern: 'src\\**\\*.txt' })).text, /src\/deep\/A\.TXT/)
    match((await call('searchFiles', { pattern: 'three', glob: 'C:\\test\\work\\src\\*.TXT' })).text, /crlf\.txt/)
    match((await call('listDirectory', { path: '.', depth: 3 })).text, /src\/deep\/A\.TXT/)
    const { runId } = await call('moveFile', { from: 'src\\deep', to: 'moved\\deep' })
    strictEqual(read('moved/deep/A.TXT'), 'one\ntwo\n')
    await ask(`/runs/${runId}/undo`, {})
    strictEqual(read('src/deep/A.TXT'), 'one\ntwo\n')
    const gone = await call('deleteFile', { path: 'SRC', recursive: true })
    ok(!existsSync(join(work, 'src')), gone.text)
    const { skipped } = await ask(`/runs/${gone.runId}/undo`, {})
    deepStrictEqual(skipped, [])
    deepStrictEqual(readdirSync(join(work, 'src'), { recursive: true }).sort(), ['crlf.txt', 'deep', 'deep/A.TXT'])
  }],

  ['names that Windows reads otherwise are refused, and nothing is made', async () => {
    const before = readdirSync(work, { recursive: true }).sort()
    const elsewhere = ['\\\\.\\C:\\test\\x', '\\\\127.0.0.1\\c$\\x', 'Z:\\tmp\\x']
    for (const path of ['NUL', 'con.txt', 'a.txt.', 'a.txt ', 'a.txt:b', 'C:a.txt', ...elsewhere]) {
      match((await call('writeFile', { path, content: 'x' })).text, /device|dot or blank|":"|relative to|outside/, path)
    }
    match((await call('readFile', { path: '\\\\?\\C:\\test\\work\\src\\crlf.txt' })).text, /three/, 'in the long form')
    match((await call('readFile', { path: 'C:\\TEST\\HOME\\config.json' })).text, /off limits|outside/)
    deepStrictEqual(readdirSync(work, { recursive: true }).sort(), before)
  }],

  ['a file that a program has open is said to be in use, and stays as it is', async () => {
    writeFileSync(join(work, 'open.txt'), 'old')
    await tell('hold', { path: `${WORK}\\open.txt` })
    match((await call('writeFile', { path: 'open.txt', content: 'new' })).text, /in use by another program/)
    strictEqual(read('open.txt'), 'old')
    deepStrictEqual(readdirSync(work).filter((name) => name.startsWith('.')), [], 'and nothing is left beside it')
    await tell('letGo')
    await call('writeFile', { path: 'open.txt', content: 'new' })
    strictEqual(read('open.txt'), 'new')
  }],

  ['a command line reaches cmd.exe as it was written, in its folder', async () => {
    const run = async (command: string, more: object = {}) => (await call('runCommand', { command, ...more })).text
    match(await run('echo "a b" ^& %CD%'), /\\"a b\\" & C:\\\\+test\\\\+work/)
    match(await run('echo häß日 & exit /b 3'), /"exitCode":3.*häß日/)
    match(await run('echo one\necho two'), /first line only/)
    match(await run('cd', { cwd: 'SRC' }), /C:\\\\+test\\\\+work\\\\+src/i)
    await call('runCommand', { command: 'echo made by a command> made.txt' })
    match(read('made.txt'), /made by a command/)
  }],

  ['a command that takes too long is ended with what it started', async () => {
    writeFileSync(join(work, 'child.cjs'), 'setInterval(() => require("fs").appendFileSync("beat.txt", "x"), 50)')
    const start = 'require("child_process").spawn(process.execPath, ["child.cjs"])'
    writeFileSync(join(work, 'parent.cjs'), `${start}; setInterval(() => {}, 1000)`)
    match((await call('runCommand', { command: `"${node}" parent.cjs`, timeoutMs: 5_000 })).text, /timedOut|ended after/)
    ok(existsSync(join(work, 'beat.txt')), 'it ran')
    const size = () => read('beat.txt').length
    const then = size()
    await wait(500)
    strictEqual(size(), then, 'the child of the command has ended, too')
  }],

  ['what a command changed is taken back', async () => {
    const { runId } = await call('runCommand', { command: 'echo changed> open.txt & del made.txt & md new & echo x> new\\y.txt' })
    match(read('open.txt'), /changed/)
    const undone = await ask(`/runs/${runId}/undo`, {})
    deepStrictEqual(undone.skipped, [], JSON.stringify(undone))
    strictEqual(read('open.txt'), 'new')
    match(read('made.txt'), /made by a command/)
    ok(!existsSync(join(work, 'new')))
  }],

  ['a tool server that is a batch file in PATH is started, and its arguments arrive', async () => {
    const { servers } = await ask('/mcp/servers')
    deepStrictEqual(servers.map(({ name, status }: any) => [name, status]), [['notes', 'connected']], JSON.stringify(servers))
  }],

  ['a task runs by itself', async () => {
    plans = [{ toolCalls: [{ toolName: 'writeFile', input: { path: 'by-a-task.txt', content: 'task' } }] }]
    const { id } = await ask('/tasks', { goal: 'write it', approval: { mode: 'never' }, cwd: WORK })
    await ask(`/tasks/${id}/start`, {})
    await until(() => existsSync(join(work, 'by-a-task.txt')))
  }],

  ['everything is erased, and the service goes on', async () => {
    await ask('/data', { confirm: 'erase everything' }, 'DELETE')
    while (!await isHealthy()) await wait(50)
    strictEqual((await ask('/threads')).threads.length, 0)
    await call('writeFile', { path: 'after.txt', content: 'after' })
    strictEqual(read('after.txt'), 'after')
    config(ALLOWED)
    await ask('/config/reload', {})
  }],

  ['a command in the background stays until it is stopped', async () => {
    writeFileSync(join(work, 'stays.cjs'), 'setInterval(() => require("fs").appendFileSync("stays.txt", "x"), 50)')
    const { text } = await call('runCommand', { command: `"${node}" stays.cjs`, background: true })
    const commandId = /"commandId":"([^"]+)"/.exec(text)?.[1]
    strictEqual((await ask('/commands')).commands[0].commandId, commandId)
    await until(() => existsSync(join(work, 'stays.txt')))
    await ask(`/commands/${commandId}/stop`, {})
    const { length } = read('stays.txt')
    await wait(500)
    strictEqual(read('stays.txt').length, length)
  }],

  ['a run works on a copy of its folder, and its changes are taken over', async () => {
    const { text, runId } = await call('writeFile', { path: 'new\\of-a-copy.txt', content: 'copy' }, { options: { workspace: 'copy' } })
    match(text, /C:\\\\test\\\\work\\\\new\\\\of-a-copy\.txt/)
    ok(!existsSync(join(work, 'new')))
    deepStrictEqual((await ask(`/runs/${runId}/apply`, {})).skipped, [])
    strictEqual(read('new/of-a-copy.txt'), 'copy')
  }],

  ['files that change trigger a task', async () => {
    const triggers = [{ type: 'files', path: '.', glob: '*.CSV' }]
    const { id } = await ask('/tasks', { goal: 'look', approval: { mode: 'never' }, cwd: WORK, triggers })
    await ask(`/tasks/${id}/start`, {})
    for (let n = 0, seen = 0; seen === 0; n++) {
      writeFileSync(join(work, 'new.csv'), String(n))
      await wait(1_000)
      seen = (await ask(`/tasks/${id}/firings`)).firings.length
      ok(n < 30, 'no firing')
    }
    await ask(`/tasks/${id}`, undefined, 'DELETE')
  }],

  ['a backup is made and put back, and the key is changed', async () => {
    const headers = { 'x-export-passphrase': 'a long passphrase', 'content-type': 'application/octet-stream' }
    const body = await (await fetch(`${url}/export`, { headers })).arrayBuffer()
    const imported = await fetch(`${url}/import`, { method: 'POST', headers, body })
    strictEqual(imported.status, 200, await imported.text())
    while (!await isHealthy()) await wait(50)
    await tell('stop')
    const line = `set LOCAL_AGENT_HOME=${HOME}&& ${node} ${server} rotate-key`
    match((await tell('run', { command: 'C:\\windows\\system32\\cmd.exe', args: ['/d', '/c', line] })).stderr, /encrypted with the new key/)
    await up()
    ok((await ask('/threads')).threads.length > 0)
  }],

  ['a second service is refused as long as the first one runs', async () => {
    const { code, log } = await boot()
    strictEqual(code, 73, log)
    match(log, /in use by process/)
  }],

  [`${KILLS} kills lose no message`, async () => {
    for (let n = 0; n < KILLS; n++) {
      const { threadId } = await ask('/run/sync', { messages: [{ role: 'user', content: `message ${n}` }], context: { cwd: WORK } })
      await tell('kill')
      await up()
      match(JSON.stringify(await ask(`/threads/${threadId}`)), new RegExp(`message ${n}`))
    }
  }],

  ['a lock whose process id another program has is taken over, and the end of an app ends the service in order', async () => {
    await tell('kill')
    const { pid } = await tell('pid')
    writeFileSync(join(home, 'service.lock'), JSON.stringify({ pid, started: 1 }))
    await up()
    const { code, log } = await tell('stop')
    strictEqual(code, 0, log)
    ok(!existsSync(join(home, 'service.lock')))
    await up()
  }]
]

let failed = 0
for (const [sentence, step] of steps) {
  const from = performance.now()
  try {
    await step()
    console.log(`ok - ${sentence} (${((performance.now() - from) / 1000).toFixed(1)} s)`)
  } catch (error) {
    failed++
    console.log(`not ok - ${sentence}\n${(error as Error).stack}`)
  }
}
if (failed > 0) console.log((await tell('log').catch(() => undefined))?.log?.split('\n').slice(-20).join('\n'))
await close()
await model.close()
rmSync(join(TEST), { recursive: true, force: true })
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`On Windows, under Wine: ${steps.length - failed} of ${steps.length} work, in ${seconds} s.`)
process.exit(failed > 0 ? 1 : 0)
