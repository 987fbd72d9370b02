import type { LookupAddress } from 'node:dns'
import { systemClock, type Clock } from '../../../../services/lib/clock.ts'
import { createTransform } from '../../../../services/tools/transform/transform.ts'
import { nonPublicKind, createAddressPolicy } from '../../../../services/tools/web/fetch/address-policy.ts'
import { createWeb } from '../../../../services/tools/web/fetch/fetch.ts'

interface Options {
  /** Ports of this machine that stand for the public internet: there is none in a test. */
  publicPorts?: number[]
  allowPrivate?: boolean
  ownPorts?: number[]
  /** The addresses of names, a list for each time it is looked up (the last one stays). */
  names?: Record<string, string[][]>
  clock?: Clock
}

/** The web as the service has it, with its own policy but for the ports that stand for the internet. */
export function openWeb (
  t: { teardown(handler: () => unknown): unknown },
  { publicPorts = [], allowPrivate = false, ownPorts = [], names = {}, clock = systemClock }: Options = {}
) {
  const transform = createTransform({ clock })
  t.teardown(transform.close)
  const lookups: string[] = []
  const policy = createAddressPolicy({
    allowPrivate: () => allowPrivate,
    ownPorts: () => ownPorts,
    refusedKind: (address, port) => publicPorts.includes(port) && address === '127.0.0.1' ? undefined : nonPublicKind(address),
    ...Object.keys(names).length > 0 && { resolve: async (host: string) => resolve(host) }
  })
  function resolve (host: string): LookupAddress[] {
    const times = names[host]
    if (!times) throw Object.assign(new Error(`no ${host}`), { code: 'ENOTFOUND' })
    lookups.push(host)
    const nth = lookups.filter((each) => each === host).length - 1
    return times[Math.min(nth, times.length - 1)].map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  }
  const web = createWeb({ policy, transform, clock })
  const never = new AbortController().signal
  return {
    web,
    transform,
    lookups,
    fetch: (url: string, signal: AbortSignal = never) => web.fetch(url, signal),
    /** The message of a fetch that must fail. */
    async failure (url: string, signal: AbortSignal = never): Promise<string> {
      const answer = await web.fetch(url, signal).catch((error: Error) => error)
      if (!(answer instanceof Error)) throw new Error(`${url} was fetched: ${JSON.stringify(answer).slice(0, 500)}`)
      return answer.message
    }
  }
}
