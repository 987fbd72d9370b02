import { execFile } from 'node:child_process'
import { once } from 'node:events'
import {
  accessSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import t, { type Test } from 'tap'
import { OLDEST } from '../../bin/node-version.js'
import { systemClock } from '../../services/lib/clock.ts'
import { VERSION } from '../../services/lib/version.ts'
import { schemaName } from '../../services/store/meta-record.ts'
import { migrations, newestOf } from '../../services/store/migrations.ts'
import { openStore } from '../../services/store/open.ts'
import { spawnService, startService } from '../harness/sidecar.ts'
import { ofEarlierBuild } from '../services/store/rewrite.ts'

const DIST = new URL('../../dist/', import.meta.url)

type Options = Partial<Parameters<typeof spawnService>[0]>

function place (t: Test, config?: unknown) {
  const dir = t.testdir({
    home: config === undefined ? {} : { 'config.json': typeof config === 'string' ? config : JSON.stringify(config) },
    work: {}
  })
  return { home: `${dir}/home`, cwd: `${dir}/work` }
}

/** Runs a service that is not expected to start. */
async function fails (t: Test, options: Options & { home: string, cwd: string }) {
  const service = spawnService(options)
  t.teardown(() => service.child.kill('SIGKILL'))
  const { code } = await service.exited
  return { code, out: service.out(), log: service.log() }
}

/** A local port that something else listens on. */
async function takenPort (t: Test, wanted = 0) {
  const server = createServer().listen(wanted, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function freePort () {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** The version of the package, and the beginning of the digest of the built service. */
const builtVersion = () =>
  `${VERSION}+${/^service-(.{8}).*\.cjs$/m.exec(readdirSync(DIST).join('\n'))?.[1]}`

t.test('one line on stdout says that the service is ready and where; logs are on stderr', async (t) => {
  const service = await startService(t, { ...place(t), args: [] })
  const port = Number(new URL(service.url).port)
  const ready = JSON.parse(service.out())
  t.match(ready, { event: 'ready', url: `http://127.0.0.1:${port}`, port, pid: service.child.pid, version: builtVersion() })
  t.same(Object.keys(ready), ['event', 'url', 'port', 'pid', 'version'])
  t.equal((await fetch(`${service.url}/ready`)).status, 200, 'it listens')
  await fetch(`${service.url}/nowhere`)
  t.match(await service.stop(), { code: 0 })
  t.equal(service.out().split('\n').length, 2, 'no other line ever')
  t.match(service.log(), /^\{"level":30/)
})

t.test('--port wins over LOCAL_AGENT_PORT, that over config.json; an empty variable is unset', async (t) => {
  const [flag, variable, configured] = [await freePort(), await freePort(), await freePort()]
  const at = async (options: Options) => {
    const service = await startService(t, { ...place(t, { port: configured }), ...options })
    await service.stop()
    return Number(new URL(service.url).port)
  }
  t.equal(await at({ port: String(flag), env: { LOCAL_AGENT_PORT: String(variable) } }), flag)
  t.equal(await at({ port: null, env: { LOCAL_AGENT_PORT: String(variable) } }), variable)
  t.equal(await at({ port: null, env: { LOCAL_AGENT_PORT: '' } }), configured)
  t.not(await at({ port: '0', env: { LOCAL_AGENT_PORT: String(variable) } }), variable, '0 picks a free one')
})

t.test('without any of them the port is 3001', async (t) => {
  await takenPort(t, 3001)
  t.match(await fails(t, { ...place(t), port: null }), { code: 98, log: /Port 3001 of 127\.0\.0\.1 is in use/ })
})

t.test('a port in use ends with 98, and leaves the store free', async (t) => {
  const port = await takenPort(t)
  const where = place(t)
  t.match(await fails(t, { ...where, port: String(port) }), {
    code: 98,
    out: '',
    log: new RegExp(`Port ${port} .*--port or LOCAL_AGENT_PORT`)
  })
  await startService(t, where)
})

const senseless: Array<[string, Options, RegExp]> = [
  ['a port that is no number', { port: 'abc' }, /--port must be a port number from 0 to 65535, not "abc"/],
  ['a port that is too large', { port: '65536' }, /--port/],
  ['a negative port', { port: null, args: ['--port=-1'] }, /--port/],
  ['an empty port', { port: '' }, /--port/],
  ['a fraction', { port: '1.5' }, /--port/],
  ['a variable that is no number', { port: null, env: { LOCAL_AGENT_PORT: '0x1F' } }, /LOCAL_AGENT_PORT must be a port number/],
  ['an unknown option', { args: ['--nonsense'] }, /--nonsense[\s\S]*--port <n>/],
  ['an argument', { args: ['start'] }, /start/],
  ['an option without its value', { args: ['--host'] }, /--host/],
  ['an empty host', { args: ['--host', ''] }, /--host/],
  [
    'every address, without a token',
    { args: ['--host', '0.0.0.0'] },
    /--host 0\.0\.0\.0 would allow access from other machines: set LOCAL_AGENT_TOKEN/
  ],
  ['another address, without a token', { args: ['--host', '192.0.2.1'] }, /LOCAL_AGENT_TOKEN/],
  ['every IPv6 address, with an empty token', { args: ['--host', '::'], env: { LOCAL_AGENT_TOKEN: '' } }, /LOCAL_AGENT_TOKEN/],
  ['a name that may be any address', { args: ['--host', 'localhost.evil.example'] }, /LOCAL_AGENT_TOKEN/],
  [
    'a token that no header can carry',
    { env: { LOCAL_AGENT_TOKEN: 'read-from-a-file\n' } },
    /LOCAL_AGENT_TOKEN begins or ends with a space/
  ],
  [
    "an address that is not this machine's",
    { args: ['--host', '192.0.2.1'], env: { LOCAL_AGENT_TOKEN: 'x' } },
    /cannot listen there.*--host/
  ]
]
for (const [what, options, message] of senseless) {
  t.test(`${what} ends with 64 and says why`, async (t) => {
    const { code, out, log } = await fails(t, { ...place(t), ...options })
    t.equal(code, 64)
    t.equal(out, '')
    t.match(log, message)
    t.notMatch(log, /^ +at /m, 'no stack')
  })
}

t.test('with a token it listens on every address', async (t) => {
  const { url } = await startService(t, { ...place(t), args: ['--host', '0.0.0.0'], env: { LOCAL_AGENT_TOKEN: 'x' } })
  const local = `http://127.0.0.1:${new URL(url).port}`
  t.equal((await fetch(local)).status, 401)
  t.equal((await fetch(local, { headers: { authorization: 'Bearer x' } })).status, 200)
})

t.test('other names of the loopback address need no token', async (t) => {
  for (const host of ['localhost', '127.0.0.2']) {
    const { url } = await startService(t, { ...place(t), args: ['--host', host] })
    t.equal((await fetch(`${url}/health`)).status, 200, host)
  }
})

t.test('--version and --help print and end, and touch nothing', async (t) => {
  const { home, cwd } = place(t)
  rmSync(home, { recursive: true })
  t.match(await fails(t, { home, cwd, port: null, args: ['--version'] }), { code: 0, out: `${builtVersion()}\n`, log: '' })
  for (const flag of ['--help', '-h']) {
    t.match(await fails(t, { home, cwd, port: null, args: [flag] }), { code: 0, out: /--port <n>[\s\S]*LOCAL_AGENT_HOME/, log: '' })
  }
  t.throws(() => rmSync(home, { recursive: true }), { code: 'ENOENT' })
})

t.test('a second service on the same home ends with 73 and says which process has it', async (t) => {
  const where = place(t)
  const first = await startService(t, where)
  t.match(await fails(t, where), { code: 73, out: '', log: new RegExp(`in use by process ${first.pid}[\\s\\S]*LOCAL_AGENT_HOME`) })
  t.equal((await fetch(`${first.url}/health`)).status, 200, 'the first one goes on')
})

t.test('without the key that the data was written with it ends with 78', async (t) => {
  const where = place(t)
  const key = `${where.home}/master.key`
  await (await startService(t, where)).stop()
  t.match(
    await fails(t, { ...where, env: { LOCAL_AGENT_PASSPHRASE: 'x' } }),
    { code: 78, log: /Unset LOCAL_AGENT_PASSPHRASE/ },
    'a passphrase instead'
  )
  writeFileSync(key, Buffer.alloc(32, 7))
  t.match(await fails(t, where), { code: 78, out: '', log: /is not the key/ }, 'another key')
  writeFileSync(key, 'short')
  t.match(await fails(t, where), { code: 78, log: /is not a key file/ }, 'no key')
  rmSync(key)
  t.match(await fails(t, where), { code: 78, log: /master\.key is missing/ }, 'none at all')
  mkdirSync(key)
  t.match(await fails(t, where), { code: 78, log: /LOCAL_AGENT_HOME/ }, 'a folder in its place')
})

t.test('a home that cannot be used ends with 78 and names the way out', async (t) => {
  const { home, cwd } = place(t, '{}')
  for (const path of [`${home}/config.json`, `${home}/config.json/x`]) {
    const { code, log } = await fails(t, { home: path, cwd })
    t.equal(code, 78)
    t.match(log, /^The configuration directory .* cannot be used: .*LOCAL_AGENT_HOME/)
    t.notMatch(log, /^ +at /m, 'no stack')
  }
})

t.test('a malformed config.json degrades the service, which starts all the same', async (t) => {
  const service = await startService(t, place(t, '{"model": '))
  const health = await fetch(`${service.url}/health`)
  t.equal(health.status, 200)
  t.match(await health.json(), { status: 'degraded', checks: { config: /not JSON.*config\.json\.invalid-/ } })
  t.match(service.log(), /not JSON/)
})

t.test('a relative home is meant from the working directory', async (t) => {
  const { cwd } = place(t)
  await (await startService(t, { home: 'here', cwd })).stop()
  t.doesNotThrow(() => rmSync(`${cwd}/here/master.key`))
})

const { base, version } = newestOf(migrations)
const next = { base, version: version + 1 }
const newer = { clock: systemClock, migrations: [...migrations, { to: next.version, async * migrate () {} }] }

async function lay (t: Test) {
  const dir = t.testdir({ home: {}, work: {} })
  const [home, cwd] = [`${dir}/home`, `${dir}/work`]
  const store = await openStore({ ...newer, dir: home })
  await store.transact([{ type: 'put', key: 'task/later', value: { of: 'another day' } }])
  await store.close()
  return { home, cwd }
}

/** Starts the built service and returns its sentences. */
async function refused (t: Test, where: { home: string, cwd: string }) {
  const { exited, log } = spawnService(where)
  t.match(await exited, { code: 78 })
  t.notMatch(log(), /^\s+at /m, 'no stack')
  return log()
}

t.test('the built service refuses data of a newer version in a sentence, and leaves it alone', async (t) => {
  const where = await lay(t)

  t.match(await refused(t, where), new RegExp(`newer version[^]*schema ${schemaName(next).replace('.', '\\.')}`))

  const again = await openStore({ ...newer, dir: where.home })
  t.same(await again.get('task/later'), { of: 'another day' })
  await again.close()
})

t.test('the built service refuses data of an earlier build, says what to do, and leaves it alone', async (t) => {
  const { home, cwd } = await lay(t)
  await ofEarlierBuild(home, 4)
  cpSync(home, `${home}-kept`, { recursive: true })

  t.match(await refused(t, { home, cwd }), /earlier build[^]*or move .*data away to start empty/)

  t.same(readdirSync(home).filter((name) => name.startsWith('data')), ['data'])
  t.same(await ofEarlierBuild(home, 4), await ofEarlierBuild(`${home}-kept`, 4))
})

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ENTRY = join(ROOT, 'dist/server.js')
const START = join(ROOT, 'scripts/start.js')
/** This Node, but for the number it gives. */
const AS_OLD = [
  '--import',
  'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: process.env.AS_NODE } })'
]

interface Outcome {
  code: number
  out: string
  log: string
}

const run = (node: string, args: string[], env: NodeJS.ProcessEnv): Promise<Outcome> =>
  new Promise((resolve) => {
    execFile(node, args, { env: { PATH: process.env.PATH, ...env } }, (error, out, log) =>
      resolve({ code: Number(error?.code ?? 0), out, log }))
  })

/** A Node of this machine that is too old, if there is one. */
async function oldNode (): Promise<string | undefined> {
  for (const dir of (process.env.PATH ?? '').split(delimiter)) {
    const node = join(dir, process.platform === 'win32' ? 'node.exe' : 'node')
    try {
      accessSync(node, constants.X_OK)
    } catch {
      continue
    }
    const { out } = await run(node, ['-p', 'process.versions.node'], {})
    if (Number(out.split('.')[0]) < Number(OLDEST.split('.')[0])) return node
  }
  return undefined
}

t.test('the version that is asked for is the one in package.json', (t) => {
  const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  t.equal(engines.node, `>=${OLDEST}`)
  t.end()
})

t.test('the built entry is read by any Node: no static import, no await outside a function', (t) => {
  t.doesNotThrow(() => new Script(readFileSync(ENTRY, 'utf8').replace(/^#!.*/, '')), 'a script by its syntax')
  t.end()
})

t.test('an older Node is told which one is needed, in one sentence, whatever it is asked to run, and nothing is touched', async (t) => {
  const home = `${t.testdir()}/home`
  const nodes: Array<[string, string[], string]> = ['22.17.1', '20.20.2', '18.0.0'].map((version) => [process.execPath, AS_OLD, version])
  const real = await oldNode()
  if (real !== undefined) nodes.push([real, [], ''])
  for (const [node, options, version] of nodes) {
    for (const args of [[ENTRY, '--help'], [ENTRY, 'rotate-key'], [ENTRY, '--port', '0'], [START]]) {
      const { code, out, log } = await run(node, [...options, ...args], { LOCAL_AGENT_HOME: home, AS_NODE: version })
      t.same({ code, out }, { code: 64, out: '' }, `${version} ${args}`)
      t.match(
        log,
        new RegExp(
          `^local-agent needs Node ${OLDEST.replace('.', '\\.')} or newer, but .* is Node ${version}.*: run it with a newer one\\.\\n$`
        )
      )
    }
  }
  t.notOk(existsSync(home))
})

t.test('the oldest that does, and newer ones, run it', async (t) => {
  for (const version of [`${OLDEST}.0`, '22.20.1', '23.0.0', '100.1.0']) {
    t.match(await run(process.execPath, [...AS_OLD, ENTRY, '--version'], { AS_NODE: version }), { code: 0, log: '' }, version)
  }
})

t.test('an installation that lacks a file or a package says in one sentence what is missing, and what to do', async (t) => {
  // Outside this folder, whose packages it would find.
  const dir = mkdtempSync(join(tmpdir(), 'incomplete-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  writeFileSync(`${dir}/package.json`, '{ "type": "module" }')
  const dist = `${dir}/dist`
  for (const name of readdirSync(DIST).filter((name) => /\.(?:c?js|bin)$/.test(name))) {
    cpSync(new URL(name, DIST), `${dist}/${name}`)
  }
  const refused = async (what: RegExp) => {
    const { code, out, log } = await run(process.execPath, [`${dist}/server.js`, '--port', '0'], { LOCAL_AGENT_HOME: `${dir}/home` })
    t.same({ code, out }, { code: 72, out: '' })
    t.match(log, /^local-agent is not completely installed: [^\n]*\. Install it again; [^\n]*npm ci[^\n]*\n$/)
    t.match(log, what)
  }
  await refused(/classic-level/)
  const [later] = readdirSync(dist).filter((name) => name.startsWith('later-'))
  truncateSync(`${dist}/${later}`, 1_000)
  await refused(/later-\w+\.cjs has 1000 bytes of \d+/)
  rmSync(`${dist}/${later}`)
  await refused(/later-\w+\.cjs is missing/)
  rmSync(`${dist}/main.js`)
  await refused(/main\.js/)

  for (const name of ['scripts', 'bin', 'package.json']) cpSync(join(ROOT, name), `${dir}/${name}`, { recursive: true })
  t.match(await run(process.execPath, [`${dir}/scripts/start.js`], {}), {
    code: 72,
    out: '',
    log: /^The package \S+ is not installed\. Run npm ci, then npm start\.\n$/
  }, 'a clone without its packages')
})
