import fp from 'fastify-plugin'
import { expandVariables } from '../services/config/variables.ts'
import type { Search } from '../services/tools/web/search/search.ts'
import type { Web } from '../services/tools/web/fetch/fetch.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** Fetching of web pages; loaded on first use. */
    web: () => Promise<Web>
    webSearch: () => Promise<Search>
  }
}

/** Fetching web pages, and web search. */
export default fp(async (app) => {
  const { config, clock, transform } = app
  // All keys since the start are redacted, also replaced ones, because a command might still find an old key.
  const keys = new Set<string>()
  app.secrets.add(() => {
    const { value, missing } = expandVariables(config.current.search?.apiKey, process.env)
    if (value !== undefined && missing.length === 0) keys.add(value)
    return keys
  })

  app.decorate(
    'web',
    once(async () => {
      const [{ createWeb }, { createAddressPolicy }] = await Promise.all([
        import('../services/tools/web/fetch/fetch.ts'),
        import('../services/tools/web/fetch/address-policy.ts')
      ])
      const policy = createAddressPolicy({
        allowPrivate: () => config.current.fetch?.allowPrivate ?? false,
        ownPorts: app.ownPorts
      })
      return createWeb({ policy, transform, clock })
    })
  )
  app.decorate(
    'webSearch',
    once(async () => {
      const { createSearch } = await import('../services/tools/web/search/search.ts')
      return createSearch({ settings: () => config.current.search, variables: process.env, transform, clock })
    })
  )
}, { name: 'web', dependencies: ['clock', 'config', 'transform'] })

function once<T> (make: () => Promise<T>): () => Promise<T> {
  let loading: Promise<T> | undefined
  return () => (loading ??= make())
}
