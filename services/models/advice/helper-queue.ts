import { Aborted } from '../../lib/abort.ts'

/** The state of one local server. */
interface Server {
  /** The number of runs that use the server, and the number of these runs that belong to conversations, where a user waits. */
  runs: number
  conversations: number
  /** The helper call that the server is answering. */
  working?: Turn
  /** Resolves when the number of runs or the helper call changes. */
  changed: PromiseWithResolvers<void>
}

interface Turn {
  abort: AbortController
  /** True if the helper call is for a task: then the call waits only for runs of conversations. */
  isOfTask: boolean
}

const INTERRUPTED = new Aborted('cancel', 'The user goes first.')

type Servers = Map<string, Server>

function serverNamed (name: string, servers: Servers): Server {
  const server = servers.get(name) ?? { runs: 0, conversations: 0, changed: Promise.withResolvers<void>() }
  servers.set(name, server)
  return server
}

function noteChange (name: string, servers: Servers): void {
  const server = serverNamed(name, servers)
  server.changed.resolve()
  server.changed = Promise.withResolvers()
  if (server.runs === 0 && server.working === undefined) servers.delete(name)
}

/** Waits until a helper call can use the server, then reserves the server for this call. Rejects with the signal's reason. */
async function takeTurn (name: string, servers: Servers, isOfTask: boolean, signal: AbortSignal): Promise<Turn> {
  const aborted = Promise.withResolvers<never>()
  aborted.promise.catch(() => {})
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const server = serverNamed(name, servers)
      if ((isOfTask ? server.conversations : server.runs) > 0 || server.working !== undefined) {
        await Promise.race([server.changed.promise, aborted.promise])
        continue
      }
      server.working = { abort: new AbortController(), isOfTask }
      return server.working
    }
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

export type HelperQueue = ReturnType<typeof createHelperQueue>

/**
 * Creates the queue of helper calls to local servers, which answer one request after the other. A helper call waits until no run uses its
 * server. If a run begins to use the server, the call is aborted and made again later. `serverOf` returns the name of a model's local
 * server; undefined for other models, whose helper calls never wait.
 */
export function createHelperQueue (serverOf: (model: string) => Promise<string | undefined>) {
  const servers: Servers = new Map()

  return {
    /**
     * Keeps helper calls away from the servers of these models until `ended` resolves. Helper calls for tasks wait only for runs of
     * conversations.
     */
    async enterRun (models: readonly string[], ended: Promise<void>, isConversation = true): Promise<void> {
      const found = await Promise.all(models.map(serverOf))
      const used = [...new Set(found.filter((name) => name !== undefined))]
      for (const name of used) {
        const server = serverNamed(name, servers)
        server.runs++
        if (isConversation) server.conversations++
        if (isConversation || server.working?.isOfTask === false) server.working?.abort.abort(INTERRUPTED)
      }
      await ended
      for (const name of used) {
        const server = serverNamed(name, servers)
        server.runs--
        if (isConversation) server.conversations--
        noteChange(name, servers)
      }
    },

    /** True if a run uses the server of a model, so that a helper call would wait. */
    async isBusy (model: string): Promise<boolean> {
      const name = await serverOf(model)
      return name !== undefined && (servers.get(name)?.runs ?? 0) > 0
    },

    /** Makes a helper call when no run uses its local server. Rejects like `call`, and with the signal's reason. */
    async afterRuns<T> (
      model: string,
      signal: AbortSignal,
      call: (signal: AbortSignal, isLocal: boolean) => Promise<T>,
      { isOfTask = false } = {}
    ): Promise<T> {
      const name = await serverOf(model)
      if (name === undefined) return call(signal, false)
      for (;;) {
        const { abort: { signal: turn } } = await takeTurn(name, servers, isOfTask, signal)
        try {
          return await call(AbortSignal.any([signal, turn]), true)
        } catch (error) {
          if (signal.aborted || !turn.aborted) throw error
        } finally {
          serverNamed(name, servers).working = undefined
          noteChange(name, servers)
        }
      }
    }
  }
}
