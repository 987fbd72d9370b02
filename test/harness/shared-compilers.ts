import { lazyCompilers } from '../../plugins/core/compilers.ts'
import { isRecording, record } from './record-examples.ts'

type Compilers = ReturnType<typeof lazyCompilers>
interface Route {
  method: string
  url: string
  httpPart?: string
  httpStatus?: string
}
/** Makes the function for a route: Fastify gives its schema, and method, url and part or status. */
type ForRoute = (route: Route) => any

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
      if (!made.has(key)) made.set(key, isRecording ? recorded(route, forRoute(route)) : forRoute(route))
      return made.get(key)
    }
  }
}

/** Records what a validator takes as the body of a request, and what a serializer answers. */
function recorded ({ method, url, httpPart, httpStatus: status }: Route, real: (data: unknown) => any) {
  if (httpPart !== undefined && httpPart !== 'body') return real
  function recording (data: unknown): unknown {
    const result = real(data)
    // Fastify reads what is wrong from the validator itself.
    recording.errors = (real as unknown as { errors: unknown }).errors
    if (status === undefined || (typeof result === 'string' && result.startsWith('{'))) {
      record({ method, url, status, body: status === undefined ? data : JSON.parse(result as string) })
    }
    return result
  }
  recording.errors = undefined as unknown
  return recording
}
