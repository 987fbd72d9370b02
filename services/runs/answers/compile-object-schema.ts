import type { ErrorObject } from 'ajv'
import { isObject } from '../../lib/json.ts'
import { ajvFor } from '../../lib/json-schema.ts'
import { createTimeLimit } from '../../lib/time-limit.ts'
import { describeProblem } from '../../tools/index.ts'
import { badSchema, checkSchemaText, type Schema } from './schema-limits.ts'

/** Time limits of compiling a schema and of checking one answer, milliseconds. A slow regular expression would block the service. */
const COMPILE_MS = 1_000
const CHECK_MS = 250
/** Problems told of one answer: enough to correct it. */
const MAX_PROBLEMS = 10

/** What is wrong with an answer; `path` is a JSON pointer into it. */
export interface Problem {
  path: string
  message: string
}

/** Returns the problems of an answer; undefined when it is an object that fits the schema. */
export type CheckObject = (value: unknown) => Problem[] | undefined

const compileInTime = createTimeLimit(COMPILE_MS)
const checkInTime = createTimeLimit(CHECK_MS)

/**
 * Compiles the JSON schema of an answer: draft 2020-12, or draft-07 where the schema says so or has tuples in its form. Unknown keywords
 * and `format` are annotations. Throws BadObjectSchema (400), which names the place in the schema.
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
