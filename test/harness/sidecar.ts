import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { atEnd, type Ending } from './at-end.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))

export interface Sidecar {
  url: string
  pid: number
  child: ChildProcess
  /** Returns the text of stdout so far. */
  out(): string
  /** Returns the text of stderr so far. */
  log(): string
  /** Ends the service and waits for its exit; resolves to `{ code, signal }`. */
  stop(signal?: NodeJS.Signals): Promise<{ code: number | null, signal: string | null }>
  exited: Promise<{ code: number | null, signal: string | null }>
}

interface Options {
  home: string
  cwd: string
  env?: NodeJS.ProcessEnv
  args?: string[]
  /** The value of `--port` (default '0', a free port); null leaves the choice to the environment and config.json. */
  port?: string | null
  /** Written to the stdin of the service, which then stays open. Without it, the service has no stdin. */
  stdin?: string | Buffer
  /** Modules that are loaded before the service, to break it on purpose. */
  preload?: string[]
  /** A file descriptor for stderr, instead of `log()`. */
  stderr?: number
  /** The command of the service, instead of the build in this folder. */
  command?: string[]
}

/** Variables that set the time zone and the date. `scripts/test-at.sh` changes them, and the services of a test get the same values. */
const DATE_VARIABLES = ['TZ', 'LD_PRELOAD', 'FAKETIME', 'FAKETIME_DONT_FAKE_MONOTONIC', 'NO_FAKE_STAT']

/**
 * Returns the environment of a service. It reuses the compiled code of an earlier service, as in normal use, where only the first start of
 * a build compiles. Without this, compiling takes a fifth of the time of most tests.
 */
export const serviceEnv = (home: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  LOCAL_AGENT_HOME: home,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
  ...Object.fromEntries(DATE_VARIABLES.map((name) => [name, process.env[name]]))
})

/** Runs the built service as a shell does, without waiting for it. */
export function spawnService ({ home, cwd, env, args = [], port = '0', stdin, preload = [], stderr, command }: Options) {
  const [program, ...first] = command ?? [process.execPath, ...preload.flatMap((module) => ['--import', module]), SERVER]
  const child = spawn(program, [
    ...first,
    ...port === null ? [] : ['--port', port],
    ...args
  ], {
    cwd,
    env: { ...serviceEnv(home), ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', stderr ?? 'pipe']
  })
  child.stdin?.on('error', () => {}).write(stdin)
  let out = ''
  let log = ''
  child.stdout!.setEncoding('utf8').on('data', (text) => {
    out += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text) => {
    log += text
  })
  const exited = once(child, 'close').then(([code, signal]) => ({ code, signal }))
  return { child, out: () => out, log: () => log, exited }
}

/** Runs the built service and waits for its ready line. Its temporary files are removed with the test. */
export async function startService (t: Ending, options: Options): Promise<Sidecar> {
  const TMPDIR = mkdtempSync(join(tmpdir(), 'service-'))
  const { child, out, log, exited } = spawnService({ ...options, env: { TMPDIR, ...options.env } })
  atEnd(t, async () => {
    child.kill('SIGKILL')
    await exited
    rmSync(TMPDIR, { recursive: true, force: true, maxRetries: 3 })
  })
  const lines = createInterface({ input: child.stdout! })
  const ready = await Promise.race([once(lines, 'line').then(([line]) => line), exited.then(() => undefined)])
  if (ready === undefined) throw new Error(`the service did not start: ${log()}`)
  const { url, pid } = JSON.parse(ready)
  return {
    url,
    pid,
    child,
    out,
    log,
    exited,
    stop (signal = 'SIGTERM') {
      child.kill(signal)
      return exited
    }
  }
}
