import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT } from '../harness/source-tree.ts'
import { exercise } from '../harness/exercise.ts'
import { followPage, isShown } from '../harness/your-app.ts'
import { places, scratch, sizeOf } from './scratch.ts'
import { start } from './start.ts'

// Packs the package, installs it elsewhere without running a script of its dependencies, and uses it there.

/** Installed size without Node, in bytes. */
const LARGEST = 26e6

const dir = scratch()
const { version } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
const empty = join(dir, 'no home')
mkdirSync(empty)
const env = { ...process.env, HOME: empty }
// `npm run` names its script; on Windows npm itself is no program that can be started without a shell.
const [command, ...first] = process.env.npm_execpath ? [process.execPath, process.env.npm_execpath] : ['npm']
const npm = (cwd: string, ...args: string[]) =>
  execFileSync(command, [...first, ...args], { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim()

const began = performance.now()
// Its `prepack` builds.
const tarball = join(dir, npm(ROOT, 'pack', '--silent', '--pack-destination', dir).split('\n').at(-1)!)

/** Installs the tarball in an app that has nothing else, without compiling anything. */
function install (name: string, ...options: string[]): string {
  const app = join(dir, name)
  mkdirSync(app)
  // Without one, npm installs into a folder above that has one.
  writeFileSync(join(app, 'package.json'), '{}')
  npm(app, 'install', '--silent', '--ignore-scripts', ...options, tarball)
  return app
}

/** The relative links of the package's pages that lead to nothing. */
function brokenLinks (root: string): string[] {
  return globSync('**/*.md', { cwd: root }).flatMap((page) => {
    const links = [...readFileSync(join(root, page), 'utf8').matchAll(/\]\((?!\w+:|#)([^)#]+)/g)].map(([, link]) => link)
    return links.filter((link) => !existsSync(join(root, dirname(page), link))).map((link) => `${page}: ${link}`)
  })
}

const app = install('an app')
const size = sizeOf(join(app, 'node_modules'))
deepStrictEqual(brokenLinks(join(app, 'node_modules/local-agent-service')), [], 'what the pages of the package link to is in it')
ok(size <= LARGEST, `the package takes ${size} bytes`)
ok(npm(app, 'exec', '--no', '--', 'local-agent', '--version').startsWith(`${version}+`), 'the version names the build')
const { cwd, home } = places(dir)
/** The command of an installed package. On Windows it is a script for cmd.exe, so Node starts the file that it names. */
const installed = (app: string): string[] =>
  process.platform === 'win32'
    ? [process.execPath, join(app, 'node_modules/local-agent-service/dist/server.js')]
    : [join(app, 'node_modules/.bin/local-agent')]
const service = await start(installed(app), { cwd, home })
await exercise(service.url, cwd)
// In the CI of an app: without a service, a home or a key.
const replayed = npm(app, 'exec', '--no', '--', 'local-agent', 'test', `${ROOT}test/recordings/task-with-approvals.jsonl`)
ok(replayed.endsWith('1 recording replayed, no difference.'), replayed)
const check = 'import("local-agent-service/client").then(({ runAgent }) => console.log(typeof runAgent))'
strictEqual(execFileSync(process.execPath, ['-e', check], { cwd: app, encoding: 'utf8' }).trim(), 'function')
strictEqual(await service.stop(), 0)

const lean = install('another', '--omit=optional')
const other = await start(installed(lean), { cwd, home })
await exercise(other.url, cwd, 'again')
strictEqual(await other.stop(), 0)
// The page for those who begin, from an empty folder on, and the test of an app among the examples.
const folder = join(dir, 'my app')
mkdirSync(folder)
const { steps } = await followPage({
  folder,
  node: process.execPath,
  install: (line) => void npm(folder, ...line.split(' ').slice(1).map((word) => word.endsWith('.tgz') ? tarball : word))
})
for (const { command, output, shown } of steps) ok(shown === undefined || isShown(output, shown), `${command}: ${output}`)
const example = 'node_modules/local-agent-service/examples/ci/conversation.test.js'
execFileSync(process.execPath, [example], { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`package: ${(size / 1e6).toFixed(1)} MB installed; run, approval, task and docs work, with and without robotjs (${seconds} s)`)
