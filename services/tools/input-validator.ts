import { createContext, Script } from 'node:vm'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Tool } from './tool.ts'

/** Problems told of one call: enough to mend it. */
const MOST_PROBLEMS = 10
const LONGEST_TEXT = 4000

/** Stands for every pattern of a foreign schema: one that is slow on purpose, or by accident, would stop the whole service. */
const anyText = Object.assign(() => ({ test: () => true }), { code: 'anyText' })
/** What of a foreign schema costs more than its input is long; its server judges that itself. */
const COSTLY = ['patternProperties', 'uniqueItems']

/** What a foreign schema may take, once: one that refers to itself in many branches would take for ever, or all of the stack. */
const FOREIGN_MS = 1_000

/** Checks inputs against tools' schemas; compiles each on first use. Answers undefined, or a text for the model. */
export function createValidator () {
  /** Undefined for a schema that cannot be used: the server that wrote it can still judge the call itself. */
  const compiled = new WeakMap<Tool, ValidateFunction | undefined>()
  const inTime = createLimit(FOREIGN_MS)
  // Schemas of tool servers come in every dialect: what this one does not know is not held against them.
  const compile = (tool: Tool): ValidateFunction => {
    const { $schema, $id, $async, ...schema } = tool.inputSchema as Record<string, unknown>
    const ajv = new Ajv({
      allErrors: true,
      verbose: true,
      strict: false,
      logger: false,
      meta: false,
      validateSchema: false,
      ...isForeign(tool) && { code: { regExp: anyText } }
    })
    if (isForeign(tool)) { for (const keyword of COSTLY) ajv.removeKeyword(keyword) }
    return ajv.compile(schema)
  }

  /** The problems of an input, none of them named where only its being no object is known; undefined when there is none. */
  function problemsOf (tool: Tool, input: unknown): string[] | undefined {
    const known = compiled.has(tool)
    const validate = known ? compiled.get(tool) : compile(tool)
    if (!known) compiled.set(tool, validate)
    if (validate === undefined ? isObject(input) : validate(input)) return undefined
    return [...new Set((validate?.errors ?? []).map(problem))]
  }

  return (tool: Tool, input: unknown): string | undefined => {
    const check = () => problemsOf(tool, input)
    const problems = !isForeign(tool)
      ? check()
      : inTime(check, () => {
        compiled.set(tool, undefined)
        return check()
      })
    if (problems === undefined) return undefined
    const shown = problems.slice(0, MOST_PROBLEMS)
    if (problems.length > shown.length) shown.push(`${problems.length - shown.length} more`)
    return `The input of ${tool.name} is not valid: ${shown.join('; ') || 'it must be an object'}.`.slice(0, LONGEST_TEXT)
  }
}

const isForeign = (tool: Tool): boolean => 'identity' in tool

/** Runs work that waits for nothing; what fails, or is not done in `ms` milliseconds, is ended and `otherwise` done. */
function createLimit (ms: number) {
  // Only a script can be ended from outside, whatever it calls.
  let context: { work?: () => unknown } | undefined
  const script = new Script('work()')
  return <T>(work: () => T, otherwise: () => T): T => {
    context ??= createContext({})
    context.work = work
    try {
      return script.runInContext(context, { timeout: ms })
    } catch {
      return otherwise()
    } finally {
      context.work = undefined
    }
  }
}

function isObject (input: unknown): boolean {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
}

/** Where it is wrong, what is wrong and what is allowed. */
function problem ({ instancePath, keyword, params, message, parentSchema }: ErrorObject): string {
  const at = instancePath === '' ? 'the input' : instancePath.slice(1).replaceAll('/', '.')
  switch (keyword) {
    case 'additionalProperties': {
      const allowed = Object.keys(parentSchema?.properties ?? {})
      return `${at} has no property ${JSON.stringify(params.additionalProperty)} (allowed: ${allowed.join(', ') || 'none'})`
    }
    case 'required':
      return `${at} lacks the property ${JSON.stringify(params.missingProperty)}`
    case 'enum':
      return `${at} must be one of ${JSON.stringify(params.allowedValues)}`
    case 'const':
      return `${at} must be ${JSON.stringify(params.allowedValue)}`
    default:
      return `${at} ${message ?? 'is not valid'}`
  }
}
