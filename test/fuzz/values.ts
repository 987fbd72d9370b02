import fc from 'fast-check'

type Schema = Record<string, any>

/** What JSON can say and nobody expects. */
export const oddText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    ' ',
    '\0',
    'a\0b',
    '\ufeff',
    '\ud800',
    '\udfff\ud800',
    'half \ud800 a character',
    '..',
    '../../etc/passwd',
    '/etc/passwd',
    '%2f',
    '%00',
    '%',
    '%zz',
    '{{7*7}}',
    // eslint-disable-next-line no-template-curly-in-string
    '${7*7}',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'null',
    'undefined',
    'NaN',
    'true',
    '-0',
    '1e999',
    '٣',
    'ﬀ',
    'İ',
    '\u202e',
    '\r\nX-Injected: 1',
    '<script>',
    "' OR 1=1 --",
    'x'.repeat(10_240),
    '😀'.repeat(300)
  )
)
const oddNumber = fc.oneof(
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(0, -0, -1, 1.5, 2 ** 53, 1e308, 5e-324, Number.MIN_SAFE_INTEGER)
)
const leaf = fc.oneof(oddText, oddNumber, fc.boolean(), fc.constant(null))
const key = fc.oneof(
  fc.constantFrom('constructor', 'prototype', 'toString', 'length', 'then', 'toJSON', '', '0', '$ref'),
  fc.string({ maxLength: 8 })
)
export const oddValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 })
  )
})).value

/** Values that a JSON schema allows, and now and then one that only nearly fits. `resolve` finds what a `$ref` names. */
export function fitting (schema: Schema, resolve: (ref: string) => Schema, depth = 0): fc.Arbitrary<unknown> {
  const inner = (next: Schema) => fitting(next, resolve, depth + 1)
  if (schema.$ref) return fitting(resolve(schema.$ref), resolve, depth)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum) return fc.constantFrom(...schema.enum)
  const forms: Schema[] | undefined = schema.anyOf ?? schema.oneOf
  if (forms) return fc.oneof(...forms.map(inner))
  if (schema.allOf) return fc.tuple(...schema.allOf.map(inner)).map((parts) => Object.assign({}, ...parts))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type: string) => inner({ ...schema, type })))
  switch (schema.type) {
    case 'string':
      return text(schema)
    case 'integer':
      return fc.integer({ min: schema.minimum ?? -1_000, max: schema.maximum ?? 100_000 })
    case 'number':
      return fc.double({ min: schema.minimum ?? -1e6, max: schema.maximum ?? 1e6, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(inner(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 3, Math.max(3, schema.minItems ?? 0))
      })
    case 'object':
      return object(schema, inner)
    default:
      return depth > 4 ? fc.constant(null) : oddValue
  }
}

function text ({ pattern, minLength = 0, maxLength = 60, examples = [] }: Schema): fc.Arbitrary<string> {
  const any = pattern === undefined
    ? fc.string({ unit: 'grapheme', minLength, maxLength: Math.max(minLength, Math.min(maxLength, 60)) })
    : fc.oneof(fc.constantFrom('abc', 'offline/assistant', 'test/model'), fc.stringMatching(/^[a-z0-9]{1,12}$/))
  const known = examples.filter((each: unknown) => typeof each === 'string')
  return known.length > 0 ? fc.oneof(any, fc.constantFrom(...known)) : any
}

function object (
  { properties = {}, required = [], additionalProperties, patternProperties }: Schema,
  inner: (schema: Schema) => fc.Arbitrary<unknown>
) {
  const named = fc.record(
    Object.fromEntries(Object.entries(properties as Record<string, Schema>).map(([name, each]) => [name, inner(each)])),
    { requiredKeys: required }
  )
  const free = patternProperties ? Object.values(patternProperties)[0] : additionalProperties
  if (free === undefined || free === false) return named
  return fc.tuple(
    named,
    fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), free === true ? leaf : inner(free as Schema), { maxKeys: 2 })
  )
    .map(([known, others]) => ({ ...others, ...known }))
}

/** The same value with one thing wrong: a place filled with something else, left out, or with a neighbour that should not be there. */
export function spoiled (value: unknown): fc.Arbitrary<unknown> {
  const places = paths(value)
  return fc.record({ at: fc.constantFrom(...places), how: fc.constantFrom('replace', 'remove', 'add', 'wrap'), odd: oddValue, name: key })
    .map(({ at, how, odd, name }) =>
      change(value, at, (there) => {
        if (how === 'remove') return undefined
        if (how === 'wrap') return [there]
        if (how === 'add' && typeof there === 'object' && there !== null) {
          return Array.isArray(there)
            ? [...there, odd]
            : { ...there, [name]: odd }
        }
        return odd
      })
    )
}

function paths (value: unknown, here: string[] = []): string[][] {
  if (typeof value !== 'object' || value === null) return [here]
  return [here, ...Object.keys(value).slice(0, 20).flatMap((name) => paths((value as Schema)[name], [...here, name]))]
}

function change (value: unknown, [name, ...rest]: string[], by: (value: unknown) => unknown): unknown {
  if (name === undefined) return by(value)
  if (Array.isArray(value)) return value.map((each, at) => String(at) === name ? change(each, rest, by) : each)
  return { ...value as object, [name]: change((value as Schema)[name], rest, by) }
}
