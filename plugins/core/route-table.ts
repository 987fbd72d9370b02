import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: {
      /** Every route as `<METHOD> <path>`, in the order of registration, without HEAD and OPTIONS. */
      endpoints: string[],
      /** The methods that some route takes at a concrete path, HEAD beside GET. */
      methodsAt: (path: string) => string[]
    }
  }
  interface FastifyContextConfig {
    /** The body is bytes that the route reads as they come. */
    stream?: boolean
    /** Answered without a token. */
    open?: boolean
    /** Answered while the service shuts down. */
    whileDraining?: boolean
    /** For the documentation: the body may be left out. */
    optionalBody?: boolean
  }
}

/** Remembers what is routed, for `GET /` and for 405 with Allow. */
export default fp(async (app) => {
  const routes: Array<{ method: string, url: string }> = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD' && each !== 'OPTIONS') routes.push({ method: each, url })
  })
  app.decorate('routeTable', {
    get endpoints () {
      return routes.map(({ method, url }) => `${method} ${url}`)
    },
    methodsAt (path) {
      const methods = routes.filter(({ url }) => matches(url, path)).flatMap(({ method }) => method === 'GET' ? ['GET', 'HEAD'] : [method])
      return [...new Set(methods)]
    }
  })
}, { name: 'route-table' })

function matches (pattern: string, path: string) {
  const wanted = pattern.split('/')
  const given = path.split('/')
  return wanted.length === given.length && wanted.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''))
}
