import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { VERSION } from '../../services/lib/version.ts'
import { atEnd } from '../harness/at-end.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Not in a clone, or of no use to what is built of it. */
const LEFT_OUT = ['.git', '.tap', 'node_modules', 'dist', 'test', 'bench', 'docs']

/** A clone of the sources, never built, with the packages installed, and its other folders, called as users may call theirs. */
function clone (t: Test) {
  const dir = t.testdir()
  const [root, home, cwd] = ['my clöne #1 (100%41)', 'hö me', 'wörk here'].map((name) => `${dir}/${name}`)
  for (const folder of [root, home, cwd]) mkdirSync(folder)
  for (const part of readdirSync(ROOT).filter((name) => !LEFT_OUT.includes(name))) {
    cpSync(`${ROOT}${part}`, `${root}/${part}`, { recursive: true })
  }
  symlinkSync(`${ROOT}node_modules`, `${root}/node_modules`)
  return { root, home, cwd }
}

/** `npm start -- --port 0`, until its ready line and what is done then; then it is ended. */
async function npmStart (t: Test, { root, home }: ReturnType<typeof clone>, use: (url: string) => Promise<void> = async () => {}) {
  // npm itself may run on another Node; the script's is the installed one. A group of its own, so that all of it ends.
  const child = spawn('npm', ['start', '--silent', '--', '--port', '0'], {
    cwd: root,
    env: { ...process.env, LOCAL_AGENT_HOME: home },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const exited = once(child, 'close')
  atEnd(t, () => {
    if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL')
  })
  const lines = createInterface({ input: child.stdout })
  const first = await Promise.race([once(lines, 'line').then(([line]) => line), exited])
  t.type(first, 'string', log)
  const ready = JSON.parse(first)
  t.equal((await fetch(`${ready.url}/health`)).status, 200)
  await use(ready.url)
  process.kill(-child.pid!, 'SIGTERM')
  await exited
  return ready
}

/** Has the service read and start what lies in its clone and its home: chunks, assets, workers, children. */
async function exercise (t: Test, url: string, cwd: string) {
  const page = createServer((_, res) => res.setHeader('content-type', 'text/html').end('<h1>From elsewhere</h1><p>As markdown.</p>'))
    .listen(0, '127.0.0.1')
  t.teardown(() => page.close())
  await once(page, 'listening')
  const post = async (path: string, body: object) =>
    await (await fetch(`${url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }))
      .text()
  const run = (content: string) => post('/run/sync', { messages: [{ role: 'user', content }], context: { cwd } })
  t.match(await run('run `pwd`'), cwd, 'a guarded child')
  t.match(await run(`fetch http://127.0.0.1:${(page.address() as AddressInfo).port}/`), '# From elsewhere', 'the transform worker')
  t.match(await (await fetch(`${url}/docs/swagger-ui.css`)).text(), '.swagger-ui', 'an asset of a package')
  t.match(await (await fetch(`${url}/openapi.json`)).json(), { openapi: /^3/ })
  const { id } = JSON.parse(await post('/tasks', { goal: 'run `echo done > by-a-task.txt`', approval: { mode: 'never' }, cwd }))
  await post(`/tasks/${id}/start`, {})
  while (!existsSync(`${cwd}/by-a-task.txt`)) await new Promise((resolve) => setTimeout(resolve, 50))
}

t.test('npm start builds a fresh clone wherever it lies, again when a source is newer, and only then', async (t) => {
  const place = clone(t)
  writeFileSync(
    `${place.home}/config.json`,
    JSON.stringify({ analysis: false, permissions: { runCommand: 'allow' }, fetch: { allowPrivate: true } })
  )
  t.match(await npmStart(t, place, (url) => exercise(t, url, place.cwd)), {
    event: 'ready',
    url: /^http:\/\/127\.0\.0\.1:\d+$/,
    version: VERSION
  }, 'the ready line comes first')

  const built = `${place.root}/dist/server.js`
  appendFileSync(built, '// untouched\n')
  await npmStart(t, place)
  t.match(readFileSync(built, 'utf8'), '// untouched')

  const manifest = `${place.root}/package.json`
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"version": "${VERSION}"`, '"version": "9.9.9"'))
  t.match(await npmStart(t, place), { version: '9.9.9' })
})
