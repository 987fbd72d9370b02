import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { connect as open } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { freePort } from '../../harness/free-port.ts'
import { build } from '../../harness/helper.ts'
import { run } from '../../harness/mcp-calls.ts'
import { connect, detail, until } from '../../harness/mcp.ts'
import { toModelOutput } from '../../../services/tools/model-output.ts'

// Servers written with the Python SDKs. CI installs them; elsewhere: python3 -m venv ~/.cache/local-agent-servers/mcp1, and pip there.

const FOLDER = process.env.LOCAL_AGENT_SERVERS ?? `${homedir()}/.cache/local-agent-servers`
const SDKS = ['mcp1', 'mcp2', 'fastmcp2', 'fastmcp'].filter((name) => existsSync(`${FOLDER}/${name}/bin/python`))
const PROGRAM = fileURLToPath(new URL('../../fakes/python-server.py', import.meta.url))

const pythonOf = (sdk: string) => `${FOLDER}/${sdk}/bin/python`

async function startOverHttp (t: Test, sdk: string, port: string): Promise<ChildProcess> {
  const child = spawn(pythonOf(sdk), [PROGRAM, 'http', port], { stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  for (;;) {
    const socket = open(Number(port), '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(() => true, () => false)
    socket.destroy()
    if (isOpen) return child
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function callAll (t: Test, entry: object) {
  const app = await build(t)
  // The service waits on timers that keep no process alive.
  const alive = setInterval(() => {}, 1_000)
  t.teardown(() => clearInterval(alive))
  const connected = (await connect(app, { name: 'py', approval: 'never', ...entry })).json()
  t.match(connected, { status: 'connected', tools: ['echo', 'process', 'rows', 'picture', 'url', 'fail', 'noisy', 'группы'] })
  const call = async (tool: string, input: object = {}) => await app.tools.execute(run(app, tool, input)) as any
  const textOf = async (tool: string, input: object = {}) => {
    const { output, errorText } = await call(tool, input)
    return errorText ?? output.content[0].text
  }
  t.equal(await textOf('echo', { text: 'hi' }), 'hi')
  t.match(await textOf('fail'), /out of paper|^Error executing tool fail$/, 'version 2 keeps the words to itself')
  t.equal(await textOf('noisy'), 'heard')
  t.equal(await textOf('gruppy', { имя: 'Ада' }), 'Ада')
  t.match((await call('echo', { text: { a: null } })).errorText, /text must be string|valid string/)
  t.equal((await call('rows', { count: 8_000 })).output.note, undefined, 'what it says twice counts once')
  t.match((await call('rows', { count: 12_000 })).output.note, /larger than 1 MiB .* and was cut. The call was made/)
  for (const tool of ['picture', 'url']) {
    t.match(toModelOutput((await call(tool)).output), { type: 'content', value: [{}, { type: 'file' }] }, tool)
  }
  return { app, textOf }
}

for (const sdk of SDKS) {
  t.test(`a server written with ${sdk} is used, and again after it was killed`, async (t) => {
    const { app, textOf } = await callAll(t, { command: pythonOf(sdk), args: [PROGRAM] })
    process.kill(Number(await textOf('process')), 'SIGKILL')
    await until(app, 'py', 'disconnected')
    t.equal(await textOf('echo', { text: 'again' }), 'again', 'a call in the moment before the restart waits for it')
    t.match(await detail(app, 'py'), { status: 'connected', warnings: [] })
  })

  t.test(`a server written with ${sdk} is used over HTTP, and again after it was killed`, async (t) => {
    const port = await freePort()
    const first = await startOverHttp(t, sdk, port)
    const { app, textOf } = await callAll(t, { url: `http://127.0.0.1:${port}/mcp` })
    first.kill('SIGKILL')
    await once(first, 'exit')
    const waiting = textOf('echo', { text: 'again' })
    await startOverHttp(t, sdk, port)
    t.equal(await waiting, 'again')
    await until(app, 'py', 'connected')
  })
}

if (SDKS.length === 0) t.pass('no Python SDK is installed here')
