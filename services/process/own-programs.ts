import { readlinkSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPack, readPacked } from '../lib/pack.ts'
import { runCode, runInput, runPacked } from './run-code.ts'

/**
 * The first command-line argument with which the service starts its own executable (of the sidecar archive, which contains no separate
 * Node.js) as a child process that runs a program from standard input. See bin/launcher.ts.
 */
export const RUN_INPUT = '--run-input'

const source = (name: string) => new URL(`../../workers/${name}.ts`, import.meta.url)

/** Command-line flags of threads. Without this flag, a diagnostic report contains the environment, with its keys, once for each thread. */
export const THREAD_FLAGS = ['--report-exclude-env']

/** Returns what `new Worker` takes to run workers/<name>.ts in a thread. */
export function workerProgram (name: 'task' | 'transform'): { program: string | URL, eval: boolean } {
  const pack = openPack()
  if (pack === undefined) return { program: source(name), eval: false }
  const args = [pack.fd, pack.index, pack.folder, `workers/${name}.cjs`].map((each) => JSON.stringify(each))
  return { program: `(${runPacked})(${runCode}, ${args})`, eval: true }
}

interface ChildProgram {
  command: string
  args: string[]
  /** Variables to add to the environment of the child. */
  env: NodeJS.ProcessEnv
  /** Bytes to write to the child's standard input before anything else. */
  input: Buffer
}

/** Returns the command that runs workers/<name>.ts in a child process with these arguments. */
export function childProgram (name: 'box-forwarder' | 'desktop' | 'port-relay' | 'salvage', args: string[] = []): ChildProgram {
  const command = ownExecutable()
  // Without it, the executable of an Electron app would start the app a second time.
  const env = process.versions.electron === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }
  const packed = `workers/${name}.cjs`
  const code = readPacked(packed)
  if (code === undefined) return { command, args: [fileURLToPath(source(name)), ...args], env, input: Buffer.alloc(0) }
  const program = [join(openPack()!.folder, packed), String(code.length), ...args]
  // Electron might have no such module.
  return process.getBuiltinModule('node:sea')?.isSea()
    ? { command, args: [RUN_INPUT, ...program], env, input: code }
    : { command, args: ['-e', `(${runInput})(${runCode}, ...process.argv.slice(1))`, ...program], env, input: code }
}

/**
 * Returns the path of the executable of this process. On Linux it comes from the kernel, because process.execPath can name a launcher, or a
 * file that was replaced or deleted. Without /proc, returns process.execPath there, too.
 */
function ownExecutable (): string {
  if (process.platform !== 'linux') return process.execPath
  const running = `/proc/${process.pid}/exe`
  try {
    const path = readlinkSync(running)
    return isSameFile(path, running) ? path : running
  } catch {
    return process.execPath
  }
}

function isSameFile (a: string, b: string): boolean {
  const [one, other] = [a, b].map((path) => statSync(path, { bigint: true, throwIfNoEntry: false }))
  return one !== undefined && other !== undefined && one.ino === other.ino && one.dev === other.dev
}
