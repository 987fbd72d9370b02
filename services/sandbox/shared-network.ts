import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { Clock } from '../lib/clock.ts'
import { settlesWithin } from '../lib/deadline.ts'
import { childProgram, type GuardedChild, spawnGuarded } from '../process/index.ts'
import { makeTemporary } from './temporary.ts'

/** The path of nsenter, which joins a network. PATH is not searched, because it might contain a folder that the agent writes to. */
const NSENTER = ['/usr/bin/nsenter', '/bin/nsenter', '/run/current-system/sw/bin/nsenter'].find(existsSync)
/**
 * The process that keeps the network alive. It writes READY when it runs: a process that joins earlier might find a namespace without
 * users, or without a loopback interface.
 */
const READY = 'ready'
const KEEPER = ['/bin/sh', '-c', `echo ${READY} >&2; exec /bin/sleep 2147483647`]
const START_MS = 10_000
/** The most open connections to one port. */
const MOST_CONNECTIONS = 256

/** A network that the boxes (sandboxes) of several commands share. It leads nowhere but to the ports of those commands. */
export interface SharedNetwork {
  /** The command that runs another one in this network. */
  join: string[]
  /**
   * Makes a port of the network reachable at 127.0.0.1 of this computer, until the returned function is called. Rejects if the port is
   * taken.
   */
  open(port: number): Promise<() => void>
  close(): Promise<void>
}

/** Whether networks can be shared on this computer, if bubblewrap makes its boxes. */
export const canShare = (): boolean => NSENTER !== undefined

/** Makes a network that several boxes can share. `bubblewrap` is the path of the program. Rejects if that fails. */
export async function makeSharedNetwork (
  bubblewrap: string,
  { clock, environment }: { clock: Clock, environment: NodeJS.ProcessEnv }
): Promise<SharedNetwork> {
  // Nothing but the keeper runs in this box. With a /dev of its own, bubblewrap would keep the network in a namespace that nobody can join.
  const box = ['--unshare-user', '--unshare-net', '--unshare-pid', '--cap-drop', 'ALL', '--ro-bind', '/', '/', '--info-fd', '1', '--']
  const keeper = await spawnGuarded(bubblewrap, [...box, ...KEEPER], { cwd: '/', env: environment, stdin: 'closed', clock })
  const servers = new Set<Server>()
  const sockets = new Set<Socket>()
  let relay: ReturnType<typeof startRelay> | undefined

  /** Starts the program that connects to the ports of the network. Returns the path of its socket. */
  async function startRelay (): Promise<{ path: string, close: () => Promise<void> }> {
    const folder = await makeTemporary()
    const path = join(folder, 'ports.sock')
    let child: GuardedChild | undefined
    const close = async () => {
      await child?.end(0)
      await rm(folder, { recursive: true, force: true })
    }
    try {
      const { command, args, env, input } = childProgram('port-relay', [path])
      const [name, ...before] = network.join
      child = await spawnGuarded(name, [...before, command, ...args], {
        cwd: '/',
        env: { ...environment, ...env },
        stdin: input.length > 0 ? 'pipe' : 'closed',
        clock
      })
      child.stdin?.end(input)
      child.stderr.resume()
      await firstOutput(child, clock, (text) => text.includes('\n') || undefined)
      return { path, close }
    } catch (error) {
      await close()
      throw error
    }
  }

  const network: SharedNetwork = {
    join: [],
    async open (port) {
      relay ??= startRelay().catch((error) => {
        relay = undefined
        throw error
      })
      const { path } = await relay
      const server = createServer((client) => {
        const inner = connect(path)
        for (const [one, other] of [[client, inner], [inner, client]]) {
          sockets.add(one.on('error', () => {}).on('close', () => {
            sockets.delete(one)
            other.destroy()
          }))
        }
        inner.write(`${port}\n`)
        client.pipe(inner).pipe(client)
      })
      server.maxConnections = MOST_CONNECTIONS
      await new Promise<void>((resolve, reject) => server.on('error', reject).listen(port, '127.0.0.1', resolve))
      servers.add(server)
      return () => {
        servers.delete(server)
        // Open connections stay until the process behind them ends.
        server.close()
      }
    },
    async close () {
      for (const server of servers) server.close()
      for (const socket of sockets) socket.destroy()
      const started = await relay?.catch(() => undefined)
      await Promise.all([started?.close(), keeper.end(0)])
    }
  }

  // Bubblewrap closes the standard output, so READY comes on standard error.
  const ready = firstOutput({ exited: keeper.exited, stdout: keeper.stderr }, clock, (text) => text.includes(READY) || undefined)
  ready.catch(() => {})
  try {
    const pid = await firstOutput(keeper, clock, (text) => /"child-pid":\s*(\d+)/.exec(text)?.[1])
    await ready
    network.join = [NSENTER!, '-t', pid, '-U', '-n', '--preserve-credentials', '--']
    return network
  } catch (error) {
    await network.close()
    throw error
  }
}

/** Resolves to the first value that `find` returns for the output of the child. Rejects if the child ends or takes too long. */
async function firstOutput<T> (
  { stdout, exited }: Pick<GuardedChild, 'stdout' | 'exited'>,
  clock: Clock,
  find: (text: string) => T | undefined
): Promise<T> {
  const found = Promise.withResolvers<T>()
  let text = ''
  stdout.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString('latin1')).slice(-10_000)
    const value = find(text)
    if (value !== undefined) found.resolve(value)
  })
  void exited.then(() => found.reject(new Error('The network of the box could not be made.')))
  if (!await settlesWithin({ clock, ms: START_MS }, found.promise)) throw new Error('The network of the box was not made in time.')
  return found.promise
}
