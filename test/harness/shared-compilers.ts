import { lazyCompilers } from '../../plugins/core/compilers.ts'

type Compilers = ReturnType<typeof lazyCompilers>
/** Makes the function for a route: Fastify gives its schema, and method, url and part or status. */
type ForRoute = (route: object) => unknown

const compilers: Compilers = lazyCompilers()
const validators = new Map<string, unknown>()
const serializers = new Map<string, unknown>()

/** The service's own compilers. All services of a test file share what was compiled, which else takes most of a short test's time. */
export const sharedCompilers = (): Compilers => ({
  ...compilers,
  buildValidator: shared(compilers.buildValidator, validators),
  buildSerializer: shared(compilers.buildSerializer, serializers)
})

function shared (build: (schemas: object, options: object) => ForRoute, made: Map<string, unknown>) {
  return (schemas: object, options: object): ForRoute => {
    const forRoute = build(schemas, options)
    return (route) => {
      const key = JSON.stringify({ ...route, schema: undefined })
      if (!made.has(key)) made.set(key, forRoute(route))
      return made.get(key)
    }
  }
}
