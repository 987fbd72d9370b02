import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Tool } from './contract.ts'

/** Problems told of one call: enough to mend it. */
const MOST_PROBLEMS = 10
const LONGEST_TEXT = 4000

/** Stands for every pattern of a foreign schema: one that is slow on purpose, or by accident, would stop the whole service. */
const anyText = Object.assign(() => ({ test: () => true }), { code: 'anyText' })
/** What of a foreign schema costs more than its input is long; its server judges that itself. */
const COSTLY = ['patternProperties', 'uniqueItems']

/** Checks inputs against tools' schemas; compiles each on first use. Answers undefined, or a text for the model. */
export function createValidator () {
  const compiled = new WeakMap<Tool, ValidateFunction | undefined>()
  // Schemas of tool servers come in every dialect: what this one does not know is not held against them.
  const compile = (tool: Tool): ValidateFunction | undefined => {
    const { $schema, $id, $async, ...schema } = tool.inputSchema as Record<string, unknown>
    const isForeign = 'identity' in tool
    const ajv = new Ajv({ allErrors: true, verbose: true, strict: false, logger: false, meta: false, validateSchema: false, ...isForeign && { code: { regExp: anyText } } })
    if (isForeign) for (const keyword of COSTLY) ajv.removeKeyword(keyword)
    try {
      return ajv.compile(schema)
    } catch {
      // The server that wrote it can still judge the call itself.
      return undefined
    }
  }

  return (tool: Tool, input: unknown): string | undefined => {
    if (!compiled.has(tool)) compiled.set(tool, compile(tool))
    const validate = compiled.get(tool)
    if (validate === undefined ? isObject(input) : validate(input)) return undefined
    const problems = [...new Set((validate?.errors ?? []).map(problem))]
    const shown = problems.slice(0, MOST_PROBLEMS)
    if (problems.length > shown.length) shown.push(`${problems.length - shown.length} more`)
    return `The input of ${tool.name} is not valid: ${shown.join('; ') || 'it must be an object'}.`.slice(0, LONGEST_TEXT)
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
    case 'required': return `${at} lacks the property ${JSON.stringify(params.missingProperty)}`
    case 'enum': return `${at} must be one of ${JSON.stringify(params.allowedValues)}`
    case 'const': return `${at} must be ${JSON.stringify(params.allowedValue)}`
    default: return `${at} ${message ?? 'is not valid'}`
  }
}
