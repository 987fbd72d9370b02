import { isDeepStrictEqual } from 'node:util'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../schemas/config.ts'
import type { Log } from '../../services/lib/log.ts'

type ReachSettings = NonNullable<Config['reach']>

const PORT = 3002
const HOST = '127.0.0.1'

export type ReachPort = ReturnType<typeof createReachPort>

/** Opens and closes the port for devices as config.json says. Changes are applied one after the other. */
export function createReachPort ({ build, log }: {
  build: (settings: { host: string, address?: string }) => Promise<FastifyInstance>
  log: Pick<Log, 'info' | 'warn'>
}) {
  let server: FastifyInstance | undefined
  let applied: ReachSettings | undefined
  let problem: string | undefined
  let last: Promise<void> = Promise.resolve()

  async function close (): Promise<void> {
    const closing = server
    server = undefined
    await closing?.close()
  }

  async function open ({ host = HOST, port = PORT, address }: ReachSettings): Promise<void> {
    const next = await build({ host, address })
    try {
      await next.listen({ host, port })
      server = next
    } catch (error) {
      await next.close()
      throw new Error(whyNot(error as NodeJS.ErrnoException, { host, port }), { cause: error })
    }
  }

  async function apply (settings: ReachSettings | undefined): Promise<void> {
    if (isDeepStrictEqual(settings, applied) && problem === undefined) return
    await close()
    applied = settings
    problem = undefined
    if (settings === undefined) return
    try {
      await open(settings)
      log.info({ url: urlOf(server) }, 'the port for devices listens')
    } catch (error) {
      problem = (error as Error).message
      log.warn({ err: error }, 'the port for devices does not listen')
    }
  }

  return {
    /** Applies the settings: opens the port, closes it, or tries again after a failure. Never rejects. */
    follow (settings: ReachSettings | undefined): Promise<void> {
      last = last.then(() => apply(settings))
      return last
    },

    /**
     * Returns the URL of the port, the address of the server in front of it, and the problem if the port could not be opened. Waits until
     * the last settings are applied.
     */
    async describe (): Promise<{ url?: string, address?: string, problem?: string }> {
      await last
      return { url: urlOf(server), address: applied?.address?.replace(/\/$/, ''), problem }
    },

    /** Returns the number of the port; an empty list while it is closed. */
    ports: (): number[] => server === undefined ? [] : [(server.server.address() as AddressInfo).port]
  }
}

function urlOf (server: FastifyInstance | undefined): string | undefined {
  if (server === undefined) return undefined
  const { address, port, family } = server.server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

function whyNot ({ code, message }: NodeJS.ErrnoException, { host, port }: { host: string, port: number }): string {
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} is in use: choose another as "reach.port" in config.json.`
    case 'EACCES':
      return `Port ${port} may not be used by this user: choose one above 1023 as "reach.port" in config.json.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `"${host}" is no address of this computer: correct "reach.host" in config.json.`
    default:
      return `The port for devices could not be opened: ${message}.`
  }
}
