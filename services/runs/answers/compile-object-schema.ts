import type { ErrorObject } from 'ajv'
import { isObject } from '../../lib/json.ts'
import { ajvFor } from '../../lib/json-schema.ts'
import { createTimeLimit } from '../../lib/time-limit.ts'
import { describeProblem } from '../../tools/index.ts'
import { defineError, type ServiceError } from '../../lib/service-error.ts'

export type Schema = Record<string, unknown>

const MAX_CHARACTERS = 64 * 1024
const MAX_DEPTH = 32
const MAX_REFS = 256

/** JSON Schema keywords whose values are data, not schemas. */
const DATA = new Set(['enum', 'const', 'default', 'examples'])
/** JSON Schema keywords that show that a schema without `type` might describe objects. */
const OBJECT_KEYWORDS = ['properties', 'additionalProperties', 'patternProperties', 'required', '$ref', 'anyOf', 'oneOf', 'allOf']

const BadObjectSchema = defineError('ERR_INVALID_REQUEST', 'options.object.schema%s %s.')

/** Returns the error (400) for a schema that cannot be used; `at` is the JSON pointer of the place in the schema. */
function badSchema (at: string, message: string): ServiceError {
  const error = new BadObjectSchema(at.replaceAll('/', '.'), message)
  error.details = [{ path: `/options/object/schema${at}`, message }]
  return error
}

/**
 * Checks what the schema compiler does not check: that the schema describes an object and is small, that each `$ref` points into the
 * schema, and that the regular expressions are valid. Throws BadObjectSchema (400).
 */
function checkSchemaText (schema: Schema): void {
  const length = JSON.stringify(schema).length
  if (length > MAX_CHARACTERS) throw badSchema('', `has ${length} characters; at most ${MAX_CHARACTERS} are allowed`)
  if (!describesObjects(schema)) throw badSchema('/type', 'must be "object": the answer is an object')
  let refs = 0
  const visit = (value: unknown, path: string, depth: number): void => {
    if (typeof value !== 'object' || value === null) return
    if (depth > MAX_DEPTH) throw badSchema(path, `is nested deeper than ${MAX_DEPTH} levels`)
    for (const [key, inner] of Object.entries(value)) {
      const at = `${path}/${key}`
      if (/^\$(?:dynamic|recursive)?ref$/i.test(key) && typeof inner === 'string') {
        if (!inner.startsWith('#')) throw badSchema(at, 'must point into this schema, with "#" at its beginning; nothing is loaded')
        if (++refs > MAX_REFS) throw badSchema(at, `is one reference too many; at most ${MAX_REFS} are allowed`)
      }
      if (key === '$async' && inner === true) throw badSchema(at, 'is not allowed')
      if (key === 'pattern' && typeof inner === 'string') checkExpression(inner, at)
      if (key === 'patternProperties' && isObject(inner)) Object.keys(inner).forEach((each) => checkExpression(each, at))
      if (!DATA.has(key)) visit(inner, at, depth + 1)
    }
  }
  visit(schema, '', 0)
}

function checkExpression (source: string, at: string): void {
  try {
    // JSON Schema requires the flag `u`, and the schema compiler uses it, too.
    RegExp(source, 'u')
  } catch (error) {
    throw badSchema(at, `is not a valid regular expression: ${(error as Error).message}`)
  }
}

function describesObjects ({ type, ...keywords }: Schema): boolean {
  if (type !== undefined) return type === 'object' || (Array.isArray(type) && type.includes('object'))
  return OBJECT_KEYWORDS.some((keyword) => keyword in keywords)
}

/** The time limits for compiling a schema and for checking one answer, milliseconds. A slow regular expression would block the service. */
const COMPILE_MS = 1_000
const CHECK_MS = 250
/** The most problems of one answer that are reported. This many are enough to correct the answer. */
const MAX_PROBLEMS = 10

/** A problem of an answer. `path` is a JSON pointer into the answer. */
export interface Problem {
  path: string
  message: string
}

/** Returns the problems of an answer; undefined if it is an object that fits the schema. */
export type CheckObject = (value: unknown) => Problem[] | undefined

const compileInTime = createTimeLimit(COMPILE_MS)
const checkInTime = createTimeLimit(CHECK_MS)

/**
 * Compiles the JSON Schema of an answer. The draft is 2020-12, or draft-07 if the schema names that draft or uses its form of tuples
 * (`items` as an array). Unknown keywords and `format` are ignored. Throws BadObjectSchema (400), which names the place in the schema.
 */
export function compileObjectSchema (schema: Schema): CheckObject {
  checkSchemaText(schema)
  const { $schema, $id, ...rules } = schema
  const ajv = new (ajvFor(schema))({ allErrors: true, verbose: true, strict: false, logger: false, validateFormats: false })
  if (ajv.validateSchema(rules) !== true) {
    const { instancePath, message = 'is not valid' } = ajv.errors![0]
    throw badSchema(instancePath, message)
  }
  const validate = compiled(() => ajv.compile(rules))

  return (value) => {
    if (!isObject(value)) return [{ path: '/', message: 'the answer must be an object' }]
    try {
      if (checkInTime(() => validate(value))) return undefined
    } catch {
      return [{ path: '/', message: `the answer could not be checked within ${CHECK_MS} ms` }]
    }
    const problems = new Map((validate.errors ?? []).map((error) => [describeProblem(error), error]))
    return [...problems].slice(0, MAX_PROBLEMS).map(([message, error]) => ({ path: pathOf(error), message }))
  }
}

function compiled<T> (compile: () => T): T {
  try {
    return compileInTime(compile)
  } catch (error) {
    throw badSchema('', `cannot be used: ${(error as Error).message}`)
  }
}

const pathOf = ({ instancePath }: ErrorObject) => instancePath || '/'
