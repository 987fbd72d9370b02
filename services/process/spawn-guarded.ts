import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable, Writable } from 'node:stream'
import type { Clock } from '../lib/clock.ts'
import { createGroup, createWindowsTree } from './group.ts'
import { newGroupTag } from './group-tag.ts'
import { startOf } from './group-members.ts'
import { makePipes, type Pipe } from './pipes.ts'
import { GUARD_SCRIPT } from './guard-script.ts'
import { spawnIsolated } from './spawn-isolated.ts'

export interface GuardedOptions {
  cwd: string
  /** The whole environment: nothing is added to it. */
  env: NodeJS.ProcessEnv
  /** `closed` reads as an end at once. */
  stdin: 'closed' | 'pipe'
  clock: Clock
}

export interface Exit {
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
  /** Settles when the command itself ended; what it left behind is ended then, too. */
  exited: Promise<Exit>
  /** Sends a signal to the whole group. Does nothing once it was ended. */
  kill(signal: NodeJS.Signals): void
  /**
   * TERM for the group and for what left it, KILL after `graceMs` (2 s). Resolves when all of it is gone. May be called
   * again: with 0 it kills at once.
   */
  end(graceMs?: number): Promise<void>
}

/**
 * Starts a command in a process group of its own, which ends when the command ends, when `end` is called, and when
 * this process dies, by SIGKILL as well. It gets no open file of the service. `command` is looked up in the PATH of
 * `env`; one that cannot be found exits with 127 and says so on stderr. Rejects when no process can be started (no such `cwd`).
 */
export async function spawnGuarded (command: string, args: string[], options: GuardedOptions): Promise<GuardedChild> {
  const mark = newGroupTag()
  const pipes = await makePipes(2, options.env)
  const child = start(command, args, mark, options, pipes)
  const pid = child.pid ?? 0
  const since = pid > 0 ? startOf(pid) : 0
  const exited = new Promise<Exit>((resolve) => child.once('exit', (code, signal) => resolve({ code, signal })))
  const hold = child.stdio[3] as Duplex | undefined
  // A reader that left is no failure of ours; it is seen by the exit.
  for (const stream of [child.stdin, hold]) stream?.on('error', () => {})
  try {
    if (!await begun(child, hold)) throw await whyNot(command, args, options)
  } catch (error) {
    for (const { output } of pipes ?? []) output.destroy()
    throw error
  }

  const group = process.platform === 'win32'
    ? createWindowsTree(pid)
    : createGroup({ pid, mark, since, clock: options.clock, exited, release: () => hold?.destroy() })
  void exited.then(() => group.end())
  const [stdout, stderr] = pipes?.map(({ output }) => output) ?? [child.stdout!, child.stderr!]
  return { pid, stdin: child.stdin, stdout, stderr, exited, ...group }
}

function start (
  command: string,
  args: string[],
  mark: string,
  { cwd, env, stdin }: GuardedOptions,
  pipes: Pipe[] | undefined
): ChildProcess {
  const options = { cwd, env, windowsHide: true }
  const outputs = pipes?.map(({ input }) => input) ?? ['pipe', 'pipe'] as const
  const stdio = [stdin === 'closed' ? 'ignore' as const : 'pipe' as const, ...outputs]
  try {
    return process.platform === 'win32'
      ? spawnIsolated(command, args, { ...options, stdio })
      : spawnIsolated('/bin/sh', ['-c', GUARD_SCRIPT, mark, command, ...args], { ...options, detached: true, stdio: [...stdio, 'pipe'] })
  } catch (error) {
    for (const { output } of pipes ?? []) output.destroy()
    throw error
  } finally {
    for (const { closeInput } of pipes ?? []) closeInput()
  }
}

/** Whether the command is about to start, as the prologue says; false when not even that began (see spawnIsolated). */
function begun (child: ChildProcess, hold: Duplex | undefined): Promise<boolean> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    if (hold === undefined) return child.once('spawn', () => resolve(true))
    hold.once('data', () => resolve(true))
    hold.once('close', () => resolve(false))
    return undefined
  })
}

/** Lets a shell that does nothing fail in the same way, in a plain spawn, which tells the reason. */
async function whyNot (command: string, args: string[], { cwd, env }: GuardedOptions): Promise<Error> {
  const probe = spawn('/bin/sh', ['-c', 'exit', command, ...args], { cwd, env, stdio: 'ignore' })
  return once(probe, 'spawn').then(() => new Error('The process ended before its command was started.'), (error) => error)
}
