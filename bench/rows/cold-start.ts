import type { ChildProcess } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { byTurns, packedRows } from '../compare.ts'
import { createHome, freePort, spawnSubject, type Name } from '../subjects.ts'
import type { Context } from './context.ts'

const POLL_MS = 2
const FIRST_MS = 5_000
const ALL: Name[] = ['floor', 'plain', 'service']

/** Measures the time from spawn to the first 200 of /health, with a warm compile cache and an existing key file. */
export async function coldStart ({ times }: Context) {
  const { dir, remove } = createHome({})
  const start = async (name: Name, livesMs = 700) => {
    const port = await freePort()
    const began = performance.now()
    const { child, stop } = spawnSubject(name, { dir, port, url: 'http://127.0.0.1:9/v4/ai' })
    await untilHealthy(child, port)
    const took = performance.now() - began
    // The caches are written after the modules that load after start-up.
    await sleep(livesMs)
    await stop()
    return took
  }
  try {
    // The service stores its bytecode 3 s after its first start.
    for (const name of ALL) for (let warm = 0; warm < 3; warm++) await start(name, warm === 0 ? FIRST_MS : undefined)
    return packedRows({ what: 'spawn to /health 200', unit: 'ms', bar: 1 }, await byTurns(times(15), start, ALL))
  } finally {
    remove()
  }
}

/** Resolves when /health answers 200. Throws if the process ends first. */
export async function untilHealthy (child: ChildProcess, port: number): Promise<void> {
  while (!await isHealthy(port)) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with code ${child.exitCode} before it was healthy`)
    await sleep(POLL_MS)
  }
}

function isHealthy (port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.on('error', () => resolve(false))
    socket.on('data', (bytes) => {
      resolve(bytes.toString('latin1').startsWith('HTTP/1.1 200'))
      socket.destroy()
    })
    socket.write(`GET /health HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n\r\n`)
  })
}
