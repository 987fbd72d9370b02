import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable, Writable } from 'node:stream'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { createGroup, createWindowsTree, newGroupTag, startOf } from './group.ts'
import { spawnIsolated } from './spawn-isolated.ts'
import { windowsCommand } from './windows-command.ts'

/**
 * The shell script that a guarded child runs first. `$0` is its group tag (group.ts), `$@` the command. fd 3 is one end of
 * a socket pair; the service holds the other end and reads one line from it, which signals that the command is about to start.
 * The guard waits on fd 3. When the service dies for any reason, the read ends. The guard then kills every process with the
 * group tag, repeatedly until it finds no more (killed processes may just have started others), and then its own group. The
 * guard
 * - is orphaned on purpose (a subshell within a subshell): it is no child of the command, so neither `wait` nor waitpid(-1)
 * sees it;
 * - holds none of the command's streams, otherwise their readers would never see the end;
 * - survives the SIGTERM that ends the group, to guard a command that traps it: the ignored signals are set before it is
 * forked, and the command starts after that;
 * - starts before the tag is set, so it does not find itself.
 */
const GUARD_SCRIPT = `
( trap '' TERM INT HUP QUIT; (
  read -r line <&3
  PATH=/usr/bin:/bin:$PATH
  round=0
  while [ $round -lt 50 ]; do
    marked=$(grep -l "^Max resident set  *$0 " /proc/[0-9]*/limits)
    [ -n "$marked" ] || break
    for limits in $marked; do
      limits=\${limits#/proc/}
      kill -KILL "\${limits%/limits}"
    done
    round=$((round + 1))
  done
  kill -KILL 0
) </dev/null >/dev/null 2>&1 & )
echo >&3
exec 3<&-
ulimit -m $(($0 / 1024)) 2>/dev/null
exec "$@"`

interface GuardedOptions {
  cwd: string
  /** The complete environment of the command; nothing is added. */
  env: NodeJS.ProcessEnv
  /** With `closed`, the command reads end-of-file at once. */
  stdin: 'closed' | 'pipe'
  /** Open files that the command gets beside its streams, from descriptor 4 on. Not on Windows. */
  files?: number[]
  /** True if the arguments are one line for cmd.exe, as `shellCommand` returns it. */
  isLine?: boolean
  clock: Clock
}

interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface GuardedChild {
  /** Process id of the command, and id of its group. */
  pid: number
  /** Null when stdin is closed. */
  stdin: Writable | null
  stdout: Readable
  stderr: Readable
  /** Settles when the command itself has exited; its remaining processes are then ended too. */
  exited: Promise<Exit>
  /** Sends a signal to the whole group. Does nothing after the group has ended. */
  kill(signal: NodeJS.Signals): void
  /**
   * Sends SIGTERM to the group and to processes that left it, and SIGKILL after `graceMs` (2 s by default). Resolves when all
   * of them have ended. Can be called again: with 0 it kills at once.
   */
  end(graceMs?: number): Promise<void>
}

/**
 * Starts a command in a new process group. The group is ended when the command exits, when `end` is called, and when this
 * process dies, also by SIGKILL. The command inherits no other open file of the service. `command` is looked up in the PATH of
 * `env`; when it is not found, the child exits with 127 and a message on stderr. Rejects when no process can be started (for
 * example, `cwd` does not exist).
 */
export async function spawnGuarded (command: string, args: string[], options: GuardedOptions): Promise<GuardedChild> {
  const groupTag = newGroupTag()
  const pipes = await makePipes(2, options.env)
  const child = start(command, args, groupTag, options, pipes)
  const pid = child.pid ?? 0
  const since = pid > 0 ? startOf(pid) : 0
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const guardChannel = child.stdio[3] as Duplex | undefined
  // A closed pipe is no failure of the service; the command's exit reports it.
  for (const stream of [child.stdin, guardChannel]) stream?.on('error', () => {})
  try {
    if (!await waitForStart(child, guardChannel)) throw await findStartError(command, args, options)
  } catch (error) {
    for (const { output } of pipes ?? []) output.destroy()
    throw error
  }

  const group = process.platform === 'win32'
    ? createWindowsTree(pid, exited)
    : createGroup({ pid, groupTag, since, clock: options.clock, exited, release: () => guardChannel?.destroy() })
  void exited.then(() => group.end())
  const [stdout, stderr] = pipes?.map(({ output }) => output) ?? [child.stdout!, child.stderr!]
  return { pid, stdin: child.stdin, stdout, stderr, exited, ...group }
}

function start (
  command: string,
  args: string[],
  groupTag: string,
  { cwd, env, stdin, files = [], isLine = false }: GuardedOptions,
  pipes: Pipe[] | undefined
): ChildProcess {
  const options = { cwd, env, windowsHide: true }
  const outputs = pipes?.map(({ input }) => input) ?? ['pipe', 'pipe'] as const
  const stdio = [stdin === 'closed' ? 'ignore' as const : 'pipe' as const, ...outputs]
  try {
    if (process.platform === 'win32') {
      const found = isLine ? { command, args, isLine } : windowsCommand(command, args, { cwd, env })
      return spawnIsolated(found.command, found.args, { ...options, windowsVerbatimArguments: found.isLine, stdio })
    }
    return spawnIsolated('/bin/sh', ['-c', GUARD_SCRIPT, groupTag, command, ...args], {
      ...options,
      detached: true,
      stdio: [...stdio, 'pipe', ...files]
    })
  } catch (error) {
    for (const { output } of pipes ?? []) output.destroy()
    throw error
  } finally {
    for (const { closeInput } of pipes ?? []) closeInput()
  }
}

/**
 * Resolves to true when the guard script reports that the command is about to start, and to false when the script did not
 * start (see spawnIsolated).
 */
function waitForStart (child: ChildProcess, guardChannel: Duplex | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    if (guardChannel === undefined) {
      child.once('spawn', () => resolve(true))
      return
    }
    guardChannel.once('data', () => resolve(true))
    guardChannel.once('close', () => resolve(false))
  })
}

/** Returns the reason why the process did not start: repeats the failure with an empty shell in a plain spawn, which reports it. */
async function findStartError (command: string, args: string[], { cwd, env }: GuardedOptions): Promise<Error> {
  const probe = spawn('/bin/sh', ['-c', 'exit', command, ...args], { cwd, env, stdio: 'ignore' })
  return once(probe, 'spawn').then(() => new Error('The process ended before its command was started.'), (error) => error)
}

/** A pipe for the output of a child: the end that the child writes to, and the stream that reads it. */
interface Pipe {
  output: Readable
  /** For `stdio` of spawn. Close it in this process once the child has it. */
  input: number
  closeInput: () => void
}

const { O_RDONLY, O_WRONLY, O_NONBLOCK = 0 } = constants
const MKFIFO_MS = 5000

/**
 * Creates pipes to use instead of the sockets that Node gives its children. On Linux a socket cannot be opened by its path, so
 * `echo … > /dev/stderr` and `tee /dev/stdout` would fail. Node cannot create pipes but can open FIFOs, whose names are
 * removed before they are used. Returns undefined on other systems, where sockets work, and when no FIFO can be created.
 */
export async function makePipes (count: number, env: NodeJS.ProcessEnv): Promise<Pipe[] | undefined> {
  if (process.platform !== 'linux') return undefined
  const pipes: Pipe[] = []
  try {
    const folder = await mkdtemp(join(tmpdir(), 'local-agent-'))
    try {
      const names = Array.from({ length: count }, (_, index) => join(folder, String(index)))
      const child = spawnIsolated('mkfifo', ['-m', '600', ...names], { env, timeout: MKFIFO_MS, stdio: ['ignore', 'ignore', 'ignore'] })
      const [code] = await once(child, 'exit')
      if (code !== 0) return undefined
      for (const name of names) pipes.push(openBoth(name))
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
    return pipes
  } catch {
    for (const { output, closeInput } of pipes) {
      output.destroy()
      closeInput()
    }
    return undefined
  }
}

/** Opens the read end first: without a reader, opening the write end would block. */
function openBoth (name: string): Pipe {
  const fd = openSync(name, O_RDONLY | O_NONBLOCK)
  const output = new Socket({ fd, readable: true, writable: false })
  const input = openSync(name, O_WRONLY)
  return { output, input, closeInput: () => closeSync(input) }
}
