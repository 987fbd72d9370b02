import AjvCompiler from '@fastify/ajv-compiler'
import SerializerCompiler from '@fastify/fast-json-stringify-compiler'
import { FORMATS } from '../../schemas/formats.ts'

const UNOPTIMIZED = { optimize: false }

type Validate = ((data: unknown) => boolean) & { errors?: unknown }

/**
 * Compiles validators and serializers when a route is first used, so that start-up compiles nothing. Bodies are validated strictly (5 is
 * not "5", unknown fields are errors); params and query arrive as text and are coerced. The function returned for a route has a method
 * `compile()`, which compiles at once. `compilersOf` returns these methods for the request parts of a route.
 * Ajv's optimization of generated code is off: it takes longer than it saves, since V8 optimizes the code too. `validateSchema` also checks
 * that the schemas are valid JSON Schema, which takes most of the time of the first compilation.
 */
export function lazyCompilers ({ validateSchema = false } = {}): any {
  const ajv = once(() => AjvCompiler() as unknown as (schemas: any, options: any) => (route: any) => unknown)
  const json: () => (schemas: any, options: any) => (route: any) => (data: unknown) => string = SerializerCompiler as any
  const requests = new Map<string, Array<() => Validate>>()
  return {
    compilersOf: (url: string): Array<() => Validate> => requests.get(url) ?? [],
    buildValidator (schemas: any, options: any) {
      const compilerFor = (coerceTypes: boolean | 'array') =>
        once(() =>
          ajv()(schemas, {
            ...options,
            // Coercion can turn text such as "1e999" into Infinity, which Ajv does not check against limits when strictNumbers is set.
            customOptions: {
              ...options?.customOptions,
              coerceTypes,
              strictNumbers: coerceTypes === false,
              removeAdditional: false,
              useDefaults: true,
              validateSchema,
              formats: FORMATS,
              keywords: ['x-in-document'],
              code: UNOPTIMIZED,
              verbose: true,
              allErrors: false
            }
          })
        )
      const body = compilerFor(false)
      const rest = compilerFor('array')
      return (route: any) => {
        const compiled = once(() => (route.httpPart === 'body' ? body : rest)()(route) as Validate)
        requests.set(route.url, [...requests.get(route.url) ?? [], compiled])
        const validate: Validate = (data) => {
          const isValid = compiled()(data)
          validate.errors = compiled().errors
          return isValid
        }
        return Object.assign(validate, { compile: compiled })
      }
    },
    buildSerializer (schemas: any, options: any) {
      const compiler = once(() => json()(schemas, { ...options, ajv: { ...options?.ajv, formats: FORMATS, code: UNOPTIMIZED } }))
      return (route: any) => {
        const compiled = once(() => compiler()(route))
        return Object.assign((data: unknown) => compiled()(data), { compile: compiled })
      }
    }
  }
}

function once<T> (make: () => T): () => T {
  let cached: { value: T } | undefined
  return () => (cached ??= { value: make() }).value
}
