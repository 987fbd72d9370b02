import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { ajvFor } from '../lib/json-schema.ts'
import { createTimeLimit } from '../lib/time-limit.ts'
import { isSourceTool, type Tool } from '../contracts/tool.ts'
import { exceededLimit, isObject } from '../lib/json.ts'
import { readNearlyJson } from '../lib/nearly-json.ts'

/** The input that a call gets, or a text for the model about what is wrong with its input. */
export type Validation = { ok: true, input: unknown, isMended?: true } | { ok: false, error: string }

/** The most problems that are reported for one call: enough to correct it. */
const MAX_PROBLEMS = 10
const LONGEST_TEXT = 4000

/** Replaces every regular expression in the schema of a source's tool: a slow one would block the whole service. */
const matchesEverything = Object.assign(() => ({ test: () => true }), { code: 'anyText' })
/** Keywords not checked for tools of sources, because they take more than linear time; the tool server can check them itself. */
const SUPERLINEAR_KEYWORDS = ['patternProperties', 'uniqueItems']
/**
 * Keywords that are not checked for tools that check their inputs themselves: many of them drop properties that their schema, which is made
 * from code, seems to forbid.
 */
const CLOSING_KEYWORDS = ['additionalProperties', 'unevaluatedProperties']

/** Time limit for a schema of a source's tool. A schema that refers to itself in many branches would never end or exhaust the stack. */
const SOURCE_TOOL_MS = 1_000

/** The parts of a tool that its validator is compiled from. */
interface CheckedSchema {
  schema: object
  isOfSource?: boolean
  /** See `SourceTool`. */
  checksInput?: boolean
}

/** Compiles a tool's schema. Tool servers use every dialect of JSON Schema: unknown keywords are ignored. Throws what ajv throws. */
function compile ({ schema: whole, isOfSource, checksInput }: CheckedSchema): ValidateFunction {
  const { $schema, $id, $async, ...schema } = whole as Record<string, unknown>
  const ajv = new (isOfSource ? ajvFor(whole) : Ajv)({
    allErrors: true,
    verbose: true,
    strict: false,
    logger: false,
    meta: false,
    validateSchema: false,
    // Without a precision, 0.07 would not be a multiple of 0.01.
    ...isOfSource && { code: { regExp: matchesEverything }, multipleOfPrecision: 6 }
  })
  if (isOfSource) { for (const keyword of SUPERLINEAR_KEYWORDS) ajv.removeKeyword(keyword) }
  if (checksInput) { for (const keyword of CLOSING_KEYWORDS) ajv.removeKeyword(keyword) }
  return ajv.compile(schema)
}

const compileInTime = createTimeLimit(SOURCE_TOOL_MS)

const schemaProblems = new WeakMap<object, { problem?: string }>()

/** Returns why the schema of a source's tool cannot be used to check inputs; undefined if it can. */
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
 * Creates a function that checks an input against a tool's schema, which is compiled on first use. Returns undefined for a valid input,
 * else a text for the model.
 */
export function createValidator () {
  /**
   * Validators by tool. Undefined for a schema that cannot be used: then the tool server alone validates the input. A tool may change its
   * schema.
   */
  const compiled = new WeakMap<Tool, { schema: Tool['model']['schema'], validate?: ValidateFunction }>()
  const withTimeLimit = createTimeLimit(SOURCE_TOOL_MS)
  /** Returns the problems of an input; undefined if it is valid. If the schema cannot be used, [] for an input that is not an object. */
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
 * True if a tool that checks its inputs itself may accept the input despite the error: it knows the default of an absent property, or reads
 * a number or boolean from a text. Schemas made from code describe the value after such conversions.
 */
function mayBeTaken ({ keyword, params, parentSchema, data }: ErrorObject): boolean {
  if (keyword === 'required') return parentSchema?.properties?.[params.missingProperty]?.default !== undefined
  if (keyword !== 'type' || typeof data !== 'string') return false
  const types: unknown[] = [params.type].flat()
  return (types.includes('boolean') && /^(true|false)$/.test(data)) ||
    (types.some((type) => type === 'number' || type === 'integer') && data.trim() !== '' && Number.isFinite(Number(data)))
}

/** Describes an error of Ajv: the place, the fault, and what is allowed. */
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

/** The most values that are filled in for one call, and the most characters of their JSON. A list may ask for very many. */
const MOST_VALUES = 1_000
const MOST_CHARACTERS = 64 * 1024
const MOST_LEVELS = 32

/**
 * Returns an input with the default values of its schema in place of absent properties: models leave out properties with a default, and
 * some tool servers require them. Follows `properties`, `items`, `allOf` and local references. Returns the input itself if nothing is
 * added, or if too much would be.
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
 * Follows a reference within the schema, such as `#/$defs/name`. Keywords beside it count, too. Undefined if the result is not a schema.
 */
function resolve (schema: unknown, root: Schema): Schema | undefined {
  if (!isObject(schema)) return undefined
  const { $ref, ...rest } = schema
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return schema
  let target: unknown = root
  // RFC 6901, in the fragment of a URI.
  for (const key of $ref.slice(2).split('/').map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))) {
    target = isObject(target) && Object.hasOwn(target, key) ? target[key] : undefined
  }
  return isObject(target) ? { ...target, ...rest } : rest
}

/** The same limit as for request bodies: a deeper value cannot be serialized as JSON again. */
const INPUT_DEPTH = 64

/**
 * Parses and validates the input of a call. The model wrote it as JSON, or nearly so; a call that `isCut` must be valid JSON. For an
 * invalid input, `error` is a text for the model. `isJson` says whether it could be parsed at all, `isMended` whether it was read
 * leniently.
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
  // Some models write their input as a text that holds JSON.
  if (typeof input === 'string') {
    input = readNearlyJson(input)?.value ?? input
    isMended = true
  }
  const checked = validate(toolName, input)
  if (!checked.ok) return { isJson: true, ok: false, input, error: checked.error }
  return { isJson: true, ...checked, ...(isMended && { isMended }) }
}
