import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { VERSION } from '../../services/lib/version.ts'
import { atEnd } from '../harness/at-end.ts'
import { allGone } from '../services/process/alive.ts'
import { EXERCISED, exercise } from '../harness/exercise.ts'

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

/** The names of the programs that npm has started, without shells, at this moment. */
function below (pid: number): string[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter((id) => id !== '').map(Number)
  return children.flatMap((child) => {
    const program = basename(readFileSync(`/proc/${child}/cmdline`, 'utf8').split('\0')[0])
    return [...program === 'sh' ? [] : [program], ...below(child)]
  })
}

/** `npm start -- --port 0`, until its ready line and what is done then; then it is ended. */
async function npmStart (
  t: Test,
  { root, home }: ReturnType<typeof clone>,
  { use = async () => {}, endNpm }: { use?: (url: string) => Promise<void>, endNpm?: NodeJS.Signals } = {}
) {
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
  if (process.platform === 'linux') t.same(below(child.pid!), ['node'], 'nothing but the service and the shells of npm')
  if (endNpm === undefined) process.kill(-child.pid!, 'SIGTERM')
  else process.kill(child.pid!, endNpm)
  // The outputs close when the last process that holds them has ended.
  await exited
  await allGone([ready.pid])
  if (endNpm !== undefined) t.match(log, /with which the service ends, has ended/)
  return ready
}

t.test('npm start builds a fresh clone anywhere, and again when a source is newer; it is one process that ends with npm', async (t) => {
  const place = clone(t)
  writeFileSync(`${place.home}/config.json`, JSON.stringify(EXERCISED))
  const first = await npmStart(t, place, { use: (url) => exercise(url, place.cwd), endNpm: 'SIGKILL' })
  t.match(first, {
    event: 'ready',
    url: /^http:\/\/127\.0\.0\.1:\d+$/,
    version: new RegExp(`^${VERSION}[+][0-9a-f]{8}$`)
  }, 'the ready line comes first')

  const built = `${place.root}/dist/server.js`
  appendFileSync(built, '// untouched\n')
  await npmStart(t, place, { endNpm: 'SIGTERM' })
  t.match(readFileSync(built, 'utf8'), '// untouched')

  const manifest = `${place.root}/package.json`
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(`"version": "${VERSION}"`, '"version": "9.9.9"'))
  const second = await npmStart(t, place)
  t.match(second, { version: /^9\.9\.9\+[0-9a-f]{8}$/ })
  t.not(second.version.split('+')[1], first.version.split('+')[1], 'each build has a version of its own')
})
