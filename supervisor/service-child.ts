import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Readable, Writable } from 'node:stream'

/** The fields of the ready line. */
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

/** What the service gets on the first line of standard input, so that it is in no environment, argument or file. */
export interface Secrets {
  /** Every request needs it: `Authorization: Bearer <token>`. */
  token?: string
  /** The data are encrypted with it, instead of a key file. */
  passphrase?: string
  gatewayKey?: string
  /** Keys of providers by the provider's name: openai, anthropic, google, or an entry of config.json. */
  keys?: Record<string, string>
}

/** What the supervisor needs of a process that runs the service: a ChildProcess of Node or a UtilityProcess of Electron. */
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
 * Starts the service once. `port` is where it listened before a restart: with `--port` of that number it keeps its address. Errors of
 * the start may be thrown, or emitted as `error` by a process that does not exit.
 */
export type StartService = (restart: { port?: number }) => ServiceChild

/** A command, its arguments and what it needs in its environment. */
export interface Command {
  command: string
  args: readonly string[]
  env?: NodeJS.ProcessEnv
}

/** The program of the service is not there, so that no start can succeed. */
export class ProgramMissing extends Error {}

/** Returns the service's file of the installed package; undefined where there is none, as in a bundle without the package. */
function findServer (): string | undefined {
  // A bundler may have put this module elsewhere, and into a script that is no module.
  const places = [
    () => fileURLToPath(new URL('../server.js', import.meta.url)),
    () => {
      const { resolve: find } = createRequire(typeof __filename === 'string' ? __filename : import.meta.url)
      return join(dirname(find('local-agent-service/package.json')), 'dist', 'server.js')
    }
  ]
  for (const place of places) {
    try {
      // Native modules cannot be loaded from an archive of Electron: they lie beside it.
      const file = place().replace(/([\\/][^\\/]+\.asar)(?=[\\/])/, '$1.unpacked')
      if (existsSync(file)) return file
    } catch {
      // It is not there.
    }
  }
  return undefined
}

/** Returns the command that runs the service of the installed package with this process's own Node; else `local-agent` of the PATH. */
export function findCommand (): Command {
  const file = findServer()
  if (file === undefined) return { command: 'local-agent', args: [] }
  return { command: process.execPath, args: [file], ...(process.versions.electron && { env: { ELECTRON_RUN_AS_NODE: '1' } }) }
}

/** Throws ProgramMissing for what Node would report as a wrong command, or would fail with at each start. */
function assertThere (args: readonly string[], cwd = process.cwd()) {
  if (!existsSync(cwd)) throw new ProgramMissing(`The folder in which the service is to start is not there: ${cwd}`)
  const script = args.find((arg) => !arg.startsWith('-'))
  if (script !== undefined && /\.[cm]?[jt]s$/.test(script) && !existsSync(resolve(cwd, script))) {
    throw new ProgramMissing(`The file of the service is not there: ${resolve(cwd, script)}`)
  }
}

/** Returns the function that starts the command with `--stdin`, so that the service ends with this process, even a killed one. */
export const startCommand = ({ command, args, env }: Command, cwd?: string): StartService => ({ port }) => {
  assertThere(args, cwd)
  // Of two ports, the last one counts.
  const kept = port === undefined ? [] : ['--port', String(port)]
  return spawn(command, [...args, '--stdin', ...kept], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
}
