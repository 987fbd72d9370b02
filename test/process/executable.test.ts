import { copyFileSync, existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ask, EXERCISED, exercise } from '../harness/exercise.ts'
import { noDisplay, startDisplay } from '../harness/display.ts'
import { startService } from '../harness/sidecar.ts'
import { ROOT } from '../harness/source-tree.ts'

const SCREENSHOT = { toolCalls: [{ output: { width: 800, height: 600 } }] }
const PRELOAD = `${ROOT}test/process/launcher.js`

/** Node under the name of an app, and a launcher that leaves a mark when it is run. */
function app (t: Test) {
  const dir = t.testdir({ home: { 'config.json': JSON.stringify(EXERCISED) }, work: {} })
  const node = `${dir}/My App`
  try {
    linkSync(process.execPath, node)
  } catch {
    copyFileSync(process.execPath, node)
  }
  writeFileSync(`${dir}/launcher`, `#!/bin/sh\necho run >> '${dir}/mark'\n`, { mode: 0o755 })
  const start = (env: NodeJS.ProcessEnv = {}) =>
    startService(t, {
      home: `${dir}/home`,
      cwd: `${dir}/work`,
      command: [node, '--import', PRELOAD, `${ROOT}dist/server.js`],
      env: { LAUNCHER: `${dir}/launcher`, ...env }
    })
  return { dir, node, start, wasLaunched: () => existsSync(`${dir}/mark`) }
}

/** Damages the database of a service that has ended, so that the next start repairs it in a child process. */
function damage (home: string) {
  rmSync(`${home}/data/CURRENT`)
}

const repaired = (home: string) => readdirSync(home).some((name) => name.startsWith('data.damaged-'))

/** The environments of the processes whose parent is `pid` or its guard. */
function childEnvironments (pid: number): string[] {
  const fieldsOf = (id: string) => readFileSync(`/proc/${id}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ')
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).flatMap((id) => {
    try {
      return fieldsOf(id)[1] === String(pid) ? [readFileSync(`/proc/${id}/environ`, 'latin1')] : []
    } catch {
      return []
    }
  })
}

t.test('the service works when its executable is called otherwise and process.execPath starts something else', {
  skip: process.platform !== 'linux' ? 'the kernel tells the executable only there' : noDisplay
}, async (t) => {
  const display = await startDisplay(t)
  const { dir, node, start, wasLaunched } = app(t)
  const first = await start()
  await exercise(first.url, `${dir}/work`)
  t.match(await first.stop(), { code: 0 })

  damage(`${dir}/home`)
  const second = await start({ DISPLAY: display.name })
  t.ok(repaired(`${dir}/home`), 'the data was repaired by a child')
  rmSync(node)
  await exercise(second.url, `${dir}/work`, 'later')
  t.match(await ask(second.url, 'take a screenshot', `${dir}/work`), SCREENSHOT)
  t.match(await second.stop(), { code: 0 })
  t.notOk(wasLaunched())
})

t.test("as Node of an Electron app it starts children that are Node too, and keeps that from the user's commands", {
  skip: process.platform !== 'linux' ? 'needs /proc' : noDisplay
}, async (t) => {
  const display = await startDisplay(t)
  const { dir, start, wasLaunched } = app(t)
  const { url, pid, stop } = await start({ ELECTRON_RUN_AS_NODE: '1', DISPLAY: display.name })
  t.match(await ask(url, 'take a screenshot', `${dir}/work`), SCREENSHOT)
  t.match(childEnvironments(pid).filter((environment) => environment.includes('DISPLAY=')), [/ELECTRON_RUN_AS_NODE=1/])
  t.match(await ask(url, 'run `env`', `${dir}/work`), { toolCalls: [{ output: { stdout: /^(?![^]*ELECTRON_RUN_AS_NODE)[^]*PATH=/ } }] })
  t.match(await stop(), { code: 0 })

  damage(`${dir}/home`)
  t.match(await (await start({ ELECTRON_RUN_AS_NODE: '1' })).stop(), { code: 0 })
  t.ok(repaired(`${dir}/home`))
  t.notOk(wasLaunched())
})
