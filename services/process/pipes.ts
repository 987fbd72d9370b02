import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { spawnIsolated } from './spawn-isolated.ts'

/** A pipe for the output of a child: the end that the child writes to, and the stream that reads it. */
export interface Pipe {
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
