import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { noDisplay, startDisplay } from '../harness/display.ts'
import { ask, exercise, EXERCISED, spoil } from '../harness/exercise.ts'
import { startService } from '../harness/sidecar.ts'
import { ROOT } from '../harness/source-tree.ts'

/** A copy of the built service as an installation holds it, with its native packages, and its other folders. */
function installed (t: Test) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(EXERCISED) }, work: {} })
  const lib = `${dir}/an app`
  mkdirSync(lib)
  writeFileSync(`${lib}/package.json`, '{ "type": "module" }')
  cpSync(`${ROOT}dist`, `${lib}/dist`, { recursive: true, filter: (path) => !/dist\/(sidecar|client)/.test(path) })
  symlinkSync(`${ROOT}node_modules`, `${lib}/node_modules`)
  return { dir, lib, options: { home: `${dir}/home`, cwd: `${dir}/work`, command: [process.execPath, `${lib}/dist/server.js`] } }
}

const updates: Record<string, (lib: string) => void> = {
  'is unpacked over it': (lib) => spoil(`${lib}/dist`),
  'takes its place': (lib) => {
    renameSync(lib, `${lib}.old`)
    cpSync(`${lib}.old`, lib, { recursive: true })
    rmSync(`${lib}.old`, { recursive: true })
    spoil(`${lib}/dist`)
  },
  'lies beside it, and it is deleted': (lib) => rmSync(lib, { recursive: true })
}

for (const [what, update] of Object.entries(updates)) {
  t.test(`a service that runs does all it did when a new version ${what}`, async (t) => {
    const { lib, options } = installed(t)
    const { url, stop } = await startService(t, options)
    update(lib)
    await exercise(url, options.cwd)
    t.match(await stop(), { code: 0 })
  })
}

t.test('it still uses the desktop then, also when its working folder is gone', { skip: noDisplay }, async (t) => {
  const display = await startDisplay(t)
  const { dir, lib, options } = installed(t)
  mkdirSync(`${dir}/started here`)
  const { url, stop } = await startService(t, { ...options, cwd: `${dir}/started here`, env: { DISPLAY: display.name } })
  spoil(`${lib}/dist`)
  rmSync(`${dir}/started here`, { recursive: true })
  t.match(await ask(url, 'take a screenshot', options.cwd), { toolCalls: [{ output: { width: 800, height: 600 } }] })
  t.notOk(existsSync(`${dir}/started here`))
  t.match(await stop(), { code: 0 })
})

const OF_OTHERS = 'service-0000000000000000.cjs.code'

t.test('the compiled code of the service is kept for its owner, replaced by that of another build, and not used when it is ' +
  'damaged', async (t) => {
  const dir = t.testdir({ home: {}, work: {} })
  const places = { home: `${dir}/home`, cwd: `${dir}/work` }
  const codeIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.code'))

  // Its own, in its home.
  const env = { NODE_COMPILE_CACHE: undefined }
  const first = await startService(t, { ...places, env })
  const cache = join(places.home, 'cache')
  const folder = join(cache, readdirSync(cache)[0])
  writeFileSync(join(folder, OF_OTHERS), 'code')
  while (existsSync(join(folder, OF_OTHERS)) || codeIn(folder).length < 2) await wait(50)
  const files = codeIn(folder).map((name) => join(folder, name))
  for (const file of files) t.equal(statSync(file).mode & 0o777, 0o600)
  await first.stop()

  const whole = files.map((file) => readFileSync(file))
  const bad = (code: Buffer) => Buffer.from(code).fill(0x5a, code.length >> 1, (code.length >> 1) + 4_096)
  const ways = [bad, (code: Buffer) => code.subarray(0, 1_000), () => Buffer.alloc(0), (code: Buffer) => Buffer.alloc(code.length)]
  for (const spoilt of ways) {
    files.forEach((file, n) => writeFileSync(file, spoilt(whole[n])))
    const { url, stop } = await startService(t, { ...places, env })
    t.equal((await fetch(`${url}/health`)).status, 200)
    // The page of the interface's documentation is code that no start needs.
    t.equal((await fetch(`${url}/docs`)).status, 200)
    t.match(await stop(), { code: 0 })
  }
})
