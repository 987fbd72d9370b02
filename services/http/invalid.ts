import { NOT_BLANK } from '../../schemas/ids.ts'

/** An error of Ajv (with `verbose`) about one violated rule. */
export interface FailedRule {
  instancePath: string
  keyword: string
  params: Record<string, unknown>
  /** The invalid name, if the rule is one of `propertyNames`. */
  propertyName?: string
  message?: string
  schema?: unknown
  parentSchema?: object
  data?: unknown
}

interface InvalidValue {
  /** JSON Pointer to the invalid value; "/" for the whole input. */
  path: string
  /** The predicate of a sentence whose subject is the value: "has the unknown field …", "must be integer". */
  message: string
}

/** Describes why a value is invalid. `errors` come from a validator that stops at the first error (no `allErrors`). */
export function describeInvalid (errors: FailedRule[]): InvalidValue {
  const failed = decisive(errors)
  return { path: failed.instancePath || '/', message: explain(failed) }
}

/**
 * Picks the error to report. Ajv reports one error for each alternative of an `anyOf`, then one for the `anyOf`
 * itself. The error deepest in the value belongs to the alternative that the client meant.
 */
function decisive (errors: FailedRule[]): FailedRule {
  const outer = errors.at(-1)!
  if (outer.keyword !== 'anyOf' || constants(outer)) return outer
  const [deepest] = errors.toSorted((a, b) => b.instancePath.length - a.instancePath.length)
  if (deepest.instancePath.length > outer.instancePath.length) return deepest
  // Of two alternative forms of an object, the client meant the one whose required fields are present.
  const meant = errors.filter((error) => error !== outer && error.keyword !== 'required' && error.keyword !== 'not')
  if (meant.length === 1 && errors.length === 3) return meant[0]
  // Otherwise the client meant the only form that allows all given fields, although a required field is missing.
  const lacking = errors.filter((error) => error.keyword === 'required' && hasFields(error))
  return lacking.length === 1 ? lacking[0] : outer
}

function hasFields ({ data, parentSchema }: FailedRule): boolean {
  const { properties } = (parentSchema ?? {}) as { properties?: object }
  if (typeof data !== 'object' || data === null || properties === undefined) return false
  const fields = Object.keys(data)
  return fields.length > 0 && fields.every((field) => field in properties)
}

function explain (failed: FailedRule): string {
  const { keyword, params, propertyName, message = 'is invalid' } = failed
  const { properties, description } = (failed.parentSchema ?? {}) as { properties?: object, description?: string }
  switch (keyword) {
    case 'additionalProperties':
      return `has the unknown field "${params.additionalProperty}"${
        properties ? `; allowed are ${Object.keys(properties).join(', ')}` : ''
      }`
    case 'propertyNames':
      return `has the name "${params.propertyName}", which must be ${lower(expectedName(failed))}`
    case 'required':
      return `needs the field "${params.missingProperty}"`
    case 'type':
      return `must be ${String(params.type).replaceAll(',', ' or ')}${asTime(failed.data, description)}`
    case 'minLength':
      return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} characters`
    case 'maxLength':
      return `must have at most ${params.limit} characters`
    case 'minItems':
      return `needs at least ${params.limit} ${params.limit === 1 ? 'entry' : 'entries'}`
    case 'maxItems':
      return `must have at most ${params.limit} entries`
    case 'minProperties':
      return `needs at least ${params.limit} ${params.limit === 1 ? 'field' : 'fields'}${
        properties ? ` of ${Object.keys(properties).join(', ')}` : ''
      }`
    case 'maxProperties':
      return `must have at most ${params.limit} ${params.limit === 1 ? 'field' : 'fields'}`
    case 'enum':
      return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`
    case 'anyOf':
      if (constants(failed)) return `must be one of ${constants(failed)!.join(', ')}`
      return `has none of the allowed forms${description ? `: ${description}` : ''}`
    case 'const':
      return `must be ${JSON.stringify(params.allowedValue)}`
    case 'pattern':
    case 'format':
      if (params.pattern === NOT_BLANK.pattern || params.format === NOT_BLANK.format) return 'must not be blank'
      if (propertyName !== undefined && description) return `has the name "${propertyName}", which must be ${lower(description)}`
      return description ? `must be ${lower(description)}` : message
    default:
      return message
  }
}

/**
 * Returns a hint for a field that expects a time: the unit and, if the client sent a date as text, its value in
 * that unit. Returns '' for any other field.
 */
function asTime (data: unknown, description = ''): string {
  if (!/\bmilliseconds since the Unix epoch\b/i.test(description)) return ''
  const ms = typeof data === 'string' && /^\d{4}-\d\d-\d\d/.test(data) ? Date.parse(data) : NaN
  return `, in milliseconds since the Unix epoch${Number.isNaN(ms) ? '' : `: ${ms} for "${data}"`}`
}

function constants ({ schema }: FailedRule): unknown[] | undefined {
  if (!Array.isArray(schema) || !schema.every((form) => 'const' in form)) return undefined
  return schema.map((form) => String(form.const))
}

const lower = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

const expectedName = ({ schema }: FailedRule) => (schema as { description?: string } | undefined)?.description ?? 'another'
