import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { ajvFor } from '../lib/json-schema.ts'
import { createTimeLimit } from '../lib/time-limit.ts'
import { isSourceTool, type Tool } from '../contracts/tool.ts'
import { exceededLimit, isObject } from '../lib/json.ts'
import { readNearlyJson } from '../lib/nearly-json.ts'

/** The input that a call gets, or a text for the model that says what is wrong with the model's input. */
export type Validation = { ok: true, input: unknown, isMended?: true } | { ok: false, error: string }

/** The most problems reported for one call; they are enough to correct it. */
const MAX_PROBLEMS = 10
const LONGEST_TEXT = 4000

/** Replaces every regular expression in the schema of a source's tool, because a slow one would block the whole service. */
const matchesEverything = Object.assign(() => ({ test: () => true }), { code: 'anyText' })
/** Keywords that are not checked for tools of sources, because they take more than linear time. The tool server can check them itself. */
const SUPERLINEAR_KEYWORDS = ['patternProperties', 'uniqueItems']
/**
 * Keywords that are not checked for tools that check their own inputs: such tools often have a schema generated from code that forbids
 * further properties, but drop these properties when they are called.
 */
const CLOSING_KEYWORDS = ['additionalProperties', 'unevaluatedProperties']

/**
 * The time limit for compiling the schema of a source's tool, or checking an input against it, in milliseconds. A schema that refers to
 * itself in many branches would never end, or exhaust the stack.
 */
const SOURCE_TOOL_MS = 1_000

/** The fields of a tool from which its validator is compiled. */
interface CheckedSchema {
  schema: object
  isOfSource?: boolean
  /** True if the tool checks its own inputs, see `SourceTool`. */
  checksInput?: boolean
}

/**
 * Compiles a tool's schema. Unknown keywords are ignored, because tool servers use every dialect of JSON Schema. Throws the errors of Ajv.
 */
function compile ({ schema: whole, isOfSource, checksInput }: CheckedSchema): ValidateFunction {
  const { $schema, $id, $async, ...schema } = whole as Record<string, unknown>
  const ajv = new (isOfSource ? ajvFor(whole) : Ajv)({
    allErrors: true,
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // Without a precision, rounding would make 0.07 no multiple of 0.01.
    ...isOfSource && { code: { regExp: matchesEverything }, multipleOfPrecision: 6 }
  })
  if (isOfSource) { for (const keyword of SUPERLINEAR_KEYWORDS) ajv.removeKeyword(keyword) }
  if (checksInput) { for (const keyword of CLOSING_KEYWORDS) ajv.removeKeyword(keyword) }
  return ajv.compile(schema)
}

const compileInTime = createTimeLimit(SOURCE_TOOL_MS)

const schemaProblems = new WeakMap<object, { problem?: string }>()

/** Returns a message that says why a source's tool schema cannot be used to check inputs; undefined if it can. */
export function schemaProblem (tool: CheckedSchema): string | undefined {
  const known = schemaProblems.get(tool.schema)
  if (known !== undefined) return known.problem
  let problem: string | undefined
  try {
    compileInTime(() => compile(tool))
  } catch (error) {
    problem = (error as Error).message
  }
  schemaProblems.set(tool.schema, { problem })
  return problem
}

/**
 * Creates a function that checks an input against a tool's schema, which is compiled at its first use. The function returns undefined for a
 * valid input, and a text for the model otherwise.
 */
export function createValidator () {
  /**
   * The compiled validators by tool, each with the schema that it belongs to, because a tool can change its schema. `validate` is undefined
   * if the schema cannot be used; then only the tool server validates inputs.
   */
  const compiled = new WeakMap<Tool, { schema: Tool['model']['schema'], validate?: ValidateFunction }>()
  const withTimeLimit = createTimeLimit(SOURCE_TOOL_MS)
  /**
   * Returns the problems of an input; undefined if it is valid. If the schema cannot be used, returns [] for an input that is not an
   * object.
   */
  function findProblems (tool: Tool, input: unknown): string[] | undefined {
    const { schema } = tool.model
    const isOfSource = isSourceTool(tool)
    const checksInput = isOfSource && tool.checksInput === true
    const known = compiled.get(tool)
    const { validate } = known?.schema === schema ? known : { validate: compile({ schema, isOfSource, checksInput }) }
    compiled.set(tool, { schema, validate })
    if (validate === undefined ? isObject(input) : validate(input)) {
      const mistake = tool.model.findMistake?.(input)
      return mistake === undefined ? undefined : [mistake]
    }
    const errors = validate?.errors ?? []
    const refused = checksInput ? errors.filter((error) => !mayBeTaken(error)) : errors
    if (errors.length > 0 && refused.length === 0) return undefined
    return [...new Set(refused.map(describeProblem))]
  }

  function checkInTime (tool: Tool, check: () => string[] | undefined): string[] | undefined {
    try {
      return withTimeLimit(check)
    } catch {
      compiled.set(tool, { schema: tool.model.schema })
      return check()
    }
  }

  return (tool: Tool, input: unknown): string | undefined => {
    const check = () => findProblems(tool, input)
    const problems = !isSourceTool(tool)
      ? check()
      : checkInTime(tool, check)
    if (problems === undefined) return undefined
    const shown = problems.slice(0, MAX_PROBLEMS)
    if (problems.length > shown.length) shown.push(`${problems.length - shown.length} more`)
    return `The input of ${tool.model.name} is not valid: ${shown.join('; ') || 'it must be an object'}.`.slice(0, LONGEST_TEXT)
  }
}

/**
 * True if a tool that checks its own inputs might accept an input despite this error: it can fill in the default of an absent property, or
 * convert a string to a number or boolean. A schema generated from code describes the values after such conversions.
 */
function mayBeTaken ({ keyword, params, parentSchema, data }: ErrorObject): boolean {
  if (keyword === 'required') return parentSchema?.properties?.[params.missingProperty]?.default !== undefined
  if (keyword !== 'type' || typeof data !== 'string') return false
  const types: unknown[] = [params.type].flat()
  return (types.includes('boolean') && /^(true|false)$/.test(data)) ||
    (types.some((type) => type === 'number' || type === 'integer') && data.trim() !== '' && Number.isFinite(Number(data)))
}

/** Describes an error of Ajv: where it is, what is wrong, and what is allowed. */
export function describeProblem ({ instancePath, keyword, params, message, parentSchema }: ErrorObject): string {
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

type Schema = Record<string, any>

/** The most default values that are filled in for one call, and the most characters of their JSON. A long list could need very many. */
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 64 * 1024
const MOST_LEVELS = 32

/**
 * Returns an input with the schema's default values in place of absent properties, because models leave out properties with a default, and
 * some tool servers require them. Follows `properties`, `items`, `allOf` and local `$ref`s. Returns the input itself if nothing is added,
 * or if the limits are exceeded.
 */
export function withDefaults (schema: Schema, input: unknown): unknown {
  let values = 0
  let characters = 0

  function fill (given: unknown, value: unknown, level: number): unknown {
    const rules = resolve(given, schema)
    if (rules === undefined || level > MOST_LEVELS) return value
    let filled = value
    for (const each of Array.isArray(rules.allOf) ? rules.allOf : []) filled = fill(each, filled, level + 1)
    if (Array.isArray(filled)) return isObject(rules.items) ? filled.map((each) => fill(rules.items, each, level + 1)) : filled
    if (!isObject(filled) || !isObject(rules.properties)) return filled
    const object: Schema = { ...filled }
    for (const [name, property] of Object.entries(rules.properties)) {
      if (Object.hasOwn(object, name)) object[name] = fill(property, object[name], level + 1)
      else {
        const value = resolve(property, schema)?.default
        if (value === undefined) continue
        values++
        characters += JSON.stringify(value).length
        if (values > MOST_VALUES || characters > MOST_CHARACTERS) return filled
        object[name] = value
      }
    }
    return object
  }

  const filled = fill(schema, input, 0)
  return values === 0 || values > MOST_VALUES || characters > MOST_CHARACTERS ? input : filled
}

/**
 * Resolves a local `$ref` such as `#/$defs/name`, and merges the keywords beside it into the result. Returns undefined if `schema` is not
 * an object.
 */
function resolve (schema: unknown, root: Schema): Schema | undefined {
  if (!isObject(schema)) return undefined
  const { $ref, ...rest } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema
  let target: unknown = root
  // Unescapes each part of the JSON Pointer (RFC 6901).
  for (const key of $ref.slice(2).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return isObject(target) ? { ...target, ...rest } : rest
}

/** The most levels of an input, as for request bodies: a deeper value could not be serialized as JSON again. */
const INPUT_DEPTH = 64

/**
 * Parses and validates the input of a call. The text can be nearly JSON, unless `isCut` says that it was cut off; then it must be valid
 * JSON. For an invalid input, `error` is a text for the model. `isJson` is true if the text could be parsed, and `isMended` if it was
 * corrected.
 */
export function readInput (
  toolName: string,
  text: string,
  validate: (name: string, input: unknown) => Validation,
  isCut = false
): Validation & { input: unknown, isJson: boolean } {
  let input: unknown
  let isMended = false
  if (exceededLimit(Buffer.from(text), { levels: INPUT_DEPTH }) !== undefined) {
    return { ok: false, isJson: true, input: text, error: `The input of ${toolName} is nested deeper than ${INPUT_DEPTH} levels.` }
  }
  try {
    input = JSON.parse(text.trim() === '' ? '{}' : text)
  } catch (error) {
    const read = isCut ? undefined : readNearlyJson(text)
    if (read === undefined) {
      return { ok: false, isJson: false, input: text, error: `The input of ${toolName} is not JSON: ${(error as Error).message}` }
    }
    input = read.value
    isMended = true
  }
  // Some models encode their input as JSON twice.
  if (typeof input === 'string') {
    input = readNearlyJson(input)?.value ?? input
    isMended = true
  }
  const checked = validate(toolName, input)
  if (!checked.ok) return { isJson: true, ok: false, input, error: checked.error }
  return { isJson: true, ...checked, ...(isMended && { isMended }) }
}
