import { once } from 'node:events'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { isMainThread } from 'node:worker_threads'

// Loaded before a service: its time leaps, and it says what it holds, when a test asks for it at the port LEAPS. Its clock starts AHEAD_MS
// ahead.

/** Shorter timers pace work on sockets and files, which takes its time. */
const LONG_MS = 1_000

if (isMainThread) {
  let aheadMs = 0
  const startMs = Number(process.env.AHEAD_MS ?? 0)
  const Real = Date
  globalThis.Date = class extends Real {
    constructor (...of) {
      if (of.length > 0) super(...of)
      else super(Date.now())
    }

    static now () {
      return Real.now() + startMs + aheadMs
    }
  }
  const monotonic = performance.now.bind(performance)
  performance.now = () => monotonic() + aheadMs

  const timers = new Map()
  const { setTimeout: set, clearTimeout: clear } = globalThis
  globalThis.setTimeout = (callback, ms, ...args) => {
    const fire = () => {
      timers.delete(timer)
      callback(...args)
    }
    const timer = set(fire, ms)
    if (ms >= LONG_MS) timers.set(timer, { at: performance.now() + ms, fire })
    return timer
  }
  globalThis.clearTimeout = (timer) => {
    timers.delete(timer)
    clear(timer)
  }

  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  const requests = {
    /** As over the sleep of a machine: who was due meanwhile wakes late, once. */
    leap (ms) {
      aheadMs += ms
      for (const [timer, { at, fire }] of [...timers].sort(([, one], [, other]) => one.at - other.at)) {
        if (at > performance.now()) break
        clear(timer)
        fire()
      }
    },
    async held () {
      for (let n = 0; n < 4; n++) {
        collect()
        await new Promise(setImmediate)
      }
      const { heapUsed, external } = process.memoryUsage()
      return { heap: heapUsed, external, longTimers: timers.size }
    }
  }
  if (process.env.LEAPS !== undefined) {
    const server = createServer(async (socket) => {
      socket.unref()
      for await (const line of createInterface({ input: socket })) {
        const [[name, argument]] = Object.entries(JSON.parse(line))
        socket.write(`${JSON.stringify(await requests[name](argument) ?? null)}\n`)
      }
    }).listen(Number(process.env.LEAPS), '127.0.0.1')
    await once(server, 'listening')
    server.unref()
  }
}
