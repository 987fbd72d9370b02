import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Readable, Writable } from 'node:stream'

/** The fields of the ready line, which the service prints when it listens. */
export interface Ready {
  url: string
  port: number
  pid: number
  version: string
}

/** How a process ended: with an exit code, or by a signal. */
export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

/** The secrets that the service reads from the first line of standard input. They are thus in no environment, argument or file. */
export interface Secrets {
  /** Every request must carry this token: `Authorization: Bearer <token>`. */
  token?: string
  /** Encrypts the data, instead of a key file. */
  passphrase?: string
  gatewayKey?: string
  /** Provider keys by provider name: openai, anthropic, google, or an entry of config.json. */
  keys?: Record<string, string>
}

/** The part of a process that the supervisor uses: a ChildProcess of Node or a UtilityProcess of Electron. */
export interface ServiceChild {
  readonly pid?: number | undefined
  /** Present if the service was started with `--stdin`. */
  readonly stdin?: Writable | null
  readonly stdout: Readable | NodeJS.ReadableStream | null
  readonly stderr: Readable | NodeJS.ReadableStream | null
  kill (): boolean
  once (event: 'exit', listener: (code: any, signal?: any) => void): unknown
  once (event: 'error', listener: (error: any) => void): unknown
}

/**
 * Starts the service once. After a restart, `port` is the port of the previous start: pass it as `--port` to keep the address. A failed
 * start can throw, or make the process emit `error` without an exit.
 */
export type StartService = (restart: { port?: number }) => ServiceChild

/** A command, its arguments and its environment. */
export interface Command {
  command: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv
}

/** Thrown if the program of the service does not exist, so that no start can succeed. */
export class ProgramMissing extends Error {}

/** Returns the path of the installed package's `server.js`; undefined if it does not exist, for example in a bundle without the package. */
function findServer (): string | undefined {
  // A bundler might have moved this module, and might have made it a CommonJS script.
  const places = [
    () => fileURLToPath(new URL('../server.js', import.meta.url)),
    () => {
      const { resolve: find } = createRequire(typeof __filename === 'string' ? __filename : import.meta.url)
      return join(dirname(find('local-agent-service/package.json')), 'dist', 'server.js')
    }
  ]
  for (const place of places) {
    try {
      // Native modules cannot be loaded from Electron's `.asar` archive, so the package lies unpacked beside the archive.
      const file = place().replace(/([\\/][^\\/]+\.asar)(?=[\\/])/, '$1.unpacked')
      if (existsSync(file)) return file
    } catch {
      // The file is not at this place.
    }
  }
  return undefined
}

/**
 * Returns the command that runs the installed package with the Node of this process. If the package is not found, returns `local-agent` of
 * the PATH.
 */
export function findCommand (): Command {
  const file = findServer()
  if (file === undefined) return { command: 'local-agent', args: [] }
  return { command: process.execPath, args: [file], ...(process.versions.electron && { env: { ELECTRON_RUN_AS_NODE: '1' } }) }
}

/** Throws ProgramMissing if the folder or the script does not exist. Node would report a wrong command, or would fail at each start. */
function assertThere (args: readonly string[], cwd = process.cwd()) {
  if (!existsSync(cwd)) throw new ProgramMissing(`The folder in which the service is to start is not there: ${cwd}`)
  const script = args.find((arg) => !arg.startsWith('-'))
  if (script !== undefined && /\.[cm]?[jt]s$/.test(script) && !existsSync(resolve(cwd, script))) {
    throw new ProgramMissing(`The file of the service is not there: ${resolve(cwd, script)}`)
  }
}

/** Returns the function that starts the command with `--stdin`. The service then ends with this process, even if this process is killed. */
export const startCommand = ({ command, args, env }: Command, cwd?: string): StartService => ({ port }) => {
  assertThere(args, cwd)
  // The last `--port` wins, so this one overrides an earlier one in `args`.
  const kept = port === undefined ? [] : ['--port', String(port)]
  return spawn(command, [...args, '--stdin', ...kept], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
}
