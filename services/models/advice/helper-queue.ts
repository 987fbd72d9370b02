import { Aborted } from '../../lib/abort.ts'

/** What happens at one local server. */
interface Server {
  /** Runs whose answers come from it. */
  runs: number
  /** Aborts the helper call that it answers. */
  working?: AbortController
  /** Resolves at the next change of the two. */
  changed: PromiseWithResolvers<void>
}

const INTERRUPTED = new Aborted('cancel', 'The user goes first.')

type Servers = Map<string, Server>

function serverNamed (name: string, servers: Servers): Server {
  const server = servers.get(name) ?? { runs: 0, changed: Promise.withResolvers<void>() }
  servers.set(name, server)
  return server
}

function noteChange (name: string, servers: Servers): void {
  const server = serverNamed(name, servers)
  server.changed.resolve()
  server.changed = Promise.withResolvers()
  if (server.runs === 0 && server.working === undefined) servers.delete(name)
}

/** Waits until a helper may call the server, and takes the turn. Rejects with the signal's reason. */
async function takeTurn (name: string, servers: Servers, signal: AbortSignal): Promise<AbortController> {
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const server = serverNamed(name, servers)
      if (server.runs > 0 || server.working !== undefined) {
        await Promise.race([server.changed.promise, aborted.promise])
        continue
      }
      server.working = new AbortController()
      return server.working
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * Creates the queue of helper calls to local servers, which answer one request after the other. A call waits until no run uses its server,
 * is aborted when a run begins there, and is made again later. `serverOf` returns what names the local server of a model; undefined for
 * models elsewhere, whose calls never wait.
 */
export function createHelperQueue (serverOf: (model: string) => Promise<string | undefined>) {
  const servers: Servers = new Map()

  return {
    /** Lets no helper call the servers of these models until the run has ended. */
    async enterRun (models: readonly string[], ended: Promise<void>): Promise<void> {
      const found = await Promise.all(models.map(serverOf))
      const used = [...new Set(found.filter((name) => name !== undefined))]
      for (const name of used) {
        const server = serverNamed(name, servers)
        server.runs++
        server.working?.abort(INTERRUPTED)
      }
      await ended
      for (const name of used) {
        serverNamed(name, servers).runs--
        noteChange(name, servers)
      }
    },

    /** Whether a run uses the server of a model, so that a helper call would wait. */
    async isBusy (model: string): Promise<boolean> {
      const name = await serverOf(model)
      return name !== undefined && (servers.get(name)?.runs ?? 0) > 0
    },

    /** Makes a helper call, behind the runs of a local server. Rejects like `call`, and with the signal's reason. */
    async afterRuns<T> (model: string, signal: AbortSignal, call: (signal: AbortSignal, isLocal: boolean) => Promise<T>): Promise<T> {
      const name = await serverOf(model)
      if (name === undefined) return call(signal, false)
      for (;;) {
        const turn = await takeTurn(name, servers, signal)
        try {
          return await call(AbortSignal.any([signal, turn.signal]), true)
        } catch (error) {
          if (signal.aborted || !turn.signal.aborted) throw error
        } finally {
          serverNamed(name, servers).working = undefined
          noteChange(name, servers)
        }
      }
    }
  }
}
