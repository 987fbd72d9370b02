import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
import t from 'tap'
import { OLDEST } from '../../bin/node-version.js'

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
