import { lazyCompilers } from '../../plugins/core/compilers.ts'
import { isRecording, record } from './record-examples.ts'

type Compilers = ReturnType<typeof lazyCompilers>
interface Route {
  method: string
  url: string
  httpPart?: string
  httpStatus?: string
}
/**
 * Creates the function for a route. Fastify passes the schema of the route, with its method and URL, and the part of the request or the
 * status.
 */
type ForRoute = (route: Route) => any

const compilers: Compilers = lazyCompilers()
const validators = new Map<string, unknown>()
const serializers = new Map<string, unknown>()

/**
 * The service's own compilers. All services of a test file share the compiled functions, which otherwise take most of the time of a short
 * test.
 */
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
      if (!made.has(key)) made.set(key, isRecording ? recorded(route, forRoute(route)) : forRoute(route))
      return made.get(key)
    }
  }
}

/** Wraps a validator or a serializer, and records the request bodies that it accepts or the responses that it writes. */
function recorded ({ method, url, httpPart, httpStatus: status }: Route, real: (data: unknown) => any) {
  if (httpPart !== undefined && httpPart !== 'body') return real
  function recording (data: unknown): unknown {
    const result = real(data)
    // Fastify reads the errors from a property of the validator.
    recording.errors = (real as unknown as { errors: unknown }).errors
    if (status === undefined || (typeof result === 'string' && result.startsWith('{'))) {
      record({ method, url, status, body: status === undefined ? data : JSON.parse(result as string) })
    }
    return result
  }
  recording.errors = undefined as unknown
  return recording
}
