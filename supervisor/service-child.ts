import { spawn } from 'node:child_process'
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

/** Starts the service once. Errors of the start may be thrown, or emitted as `error` by a process that does not exit. */
export type StartService = () => ServiceChild

/** Returns the function that starts the command with `--stdin`, so that the service ends with this process, even a killed one. */
export const startCommand = (
  command: string,
  args: readonly string[],
  { cwd, env }: { cwd?: string, env?: NodeJS.ProcessEnv }
): StartService => () => spawn(command, [...args, '--stdin'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true })
