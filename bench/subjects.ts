import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { bundle, ROOT } from '../scripts/bundle.ts'

/**
 * The measured programs. `plain` is the floor as a script that loads its packages from node_modules; the other two are bundles with a
 * compile cache.
 */
export type Name = 'floor' | 'plain' | 'service'
export const NAMES = ['floor', 'service'] as const

export interface Subject {
  pid: number
  port: number
  stop(): Promise<void>
}

export interface Models {
  url: string
  port: number
  stop(): Promise<void>
}

/**
 * The folder of the measured bundles, so that a concurrent build does not affect them. It is inside the project, so that native modules are
 * found.
 */
const BUILT = join(ROOT, 'bench/results/built')

/** Bundles the floor like the service, and copies the service's bundle. */
export async function prepare () {
  rmSync(BUILT, { recursive: true, force: true })
  cpSync(join(ROOT, 'dist'), join(BUILT, 'service'), { recursive: true })
  await bundle({ floor: 'bench/floor-boot.ts' }, 'bench/results/built/floor', { splitting: true })
  await build({ absWorkingDir: ROOT, entryPoints: { floor: 'bench/floor.ts' }, outdir: 'bench/results/built/plain', format: 'esm' })
}

/** Creates a folder for the caches of all subjects and the configuration of the service. */
export function createHome (config: object) {
  const dir = mkdtempSync(join(tmpdir(), 'bench-'))
  mkdirSync(join(dir, 'home'), { mode: 0o700 })
  mkdirSync(join(dir, 'work'))
  writeFileSync(join(dir, 'home/config.json'), JSON.stringify({ model: 'test/model', analysis: false, ...config }))
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

interface Place {
  dir: string
  url: string
  /** Environment variables in addition to those that every subject gets. */
  env?: Record<string, string>
}

/** Starts a subject on a port, without waiting until it listens. */
export function spawnSubject (name: Name, { dir, port, url, env = {} }: Place & { port: number }) {
  const args = name === 'service' ? [join(BUILT, 'service/server.js'), '--port', `${port}`] : [join(BUILT, `${name}/floor.js`)]
  const child = spawn(process.execPath, args, {
    cwd: join(dir, 'work'),
    // The subject writes its log as usual, but nothing reads it.
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      HOME: dir,
      PORT: `${port}`,
      COMPILE_CACHE: join(dir, 'floor-cache'),
      LOCAL_AGENT_HOME: join(dir, 'home'),
      AI_GATEWAY_API_KEY: 'bench',
      AI_GATEWAY_BASE_URL: url,
      ...env
    }
  })
  return { child, stop: () => end(child) }
}

/** Starts a subject and waits until it listens. */
export async function startSubject (name: Name, place: Place): Promise<Subject> {
  const port = await freePort()
  const { child, stop } = spawnSubject(name, { ...place, port })
  await firstLine(child)
  return { pid: child.pid!, port, stop }
}

/** Starts the model server in a separate process; `args` are options of test/fakes/gateway.ts. */
export async function startModels (
  args: { tokens: number, rate?: number, delay?: number, structuredDelay?: number, stamp?: boolean }
): Promise<Models> {
  const flags = Object.entries(args).flatMap(([name, value]) =>
    value === false ? [] : value === true ? [`--${name}`] : [`--${name}`, `${value}`]
  )
  const child = spawn(process.execPath, [join(ROOT, 'test/fakes/gateway.ts'), ...flags], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { url } = JSON.parse(await firstLine(child))
  return { url, port: Number(new URL(url).port), stop: () => end(child) }
}

export async function freePort (): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function firstLine (child: ChildProcess): Promise<string> {
  const ended = once(child, 'exit').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} ended before it was ready`)
  })
  ended.catch(() => {})
  const [line] = await Promise.race([once(createInterface({ input: child.stdout! }), 'line'), ended])
  return line
}

async function end (child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  await exited
}
