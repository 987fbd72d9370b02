import fp from 'fastify-plugin'
import { namedIn } from '../../schemas/common.ts'

declare module 'fastify' {
  interface FastifyInstance {
    routeTable: {
      /** Every route as `<METHOD> <path>`, in the order of registration, without HEAD and OPTIONS. */
      endpoints: string[],
      /** Returns the methods that exist for a concrete path; HEAD is listed with GET. */
      methodsAt: (path: string) => string[]
      /**
       * True if a route is registered under exactly this path. The path can match the pattern of another route, too: /tasks/digest matches
       * /tasks/:id.
       */
      isFixed: (path: string) => boolean
    }
  }
  interface FastifyContextConfig {
    /** The route reads the body as a stream of bytes. */
    stream?: boolean
    /** True if the route needs no token. A function decides this for each request. */
    open?: boolean | ((request: FastifyRequest) => boolean)
    /** The route also works while the service shuts down. */
    whileDraining?: boolean
    /** A request without a body is treated as one with the body `{}`. */
    optionalBody?: boolean
  }
}

/** Records all routes, for `GET /` and for the header Allow of 405. Adds the shared schemas that the routes refer to. */
export default fp(async (app) => {
  const routes: Array<{ method: string, url: string }> = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const each of [method].flat()) if (each !== 'HEAD' && each !== 'OPTIONS') routes.push({ method: each, url })
  })
  app.addHook('onRoute', function ({ schema }) {
    for (const each of namedIn(schema)) if (this.getSchema(each.$id!) === undefined) this.addSchema(each)
  })
  app.decorate('routeTable', {
    get endpoints () {
      return routes.map(({ method, url }) => `${method} ${url}`)
    },
    isFixed: (path) => !path.includes('/:') && routes.some(({ url }) => url === path),
    methodsAt (path) {
      const fixed = routes.filter(({ url }) => url === path)
      const found = fixed.length > 0 ? fixed : routes.filter(({ url }) => matches(url, path))
      const methods = found.flatMap(({ method }) => method === 'GET' ? ['GET', 'HEAD'] : [method])
      return [...new Set(methods)]
    }
  })
}, { name: 'route-table' })

function matches (pattern: string, path: string) {
  const expected = pattern.split('/')
  const actual = path.split('/')
  return expected.length === actual.length &&
    expected.every((part, at) => part === actual[at] || (part.startsWith(':') && actual[at] !== ''))
}
