import { Ajv } from 'ajv'
import t from 'tap'
import { compileObjectSchema } from '../../../services/runs/answers/compile-object-schema.ts'
import { wireSchema } from '../../../services/runs/answers/wire-schema.ts'

const circle = { type: 'object', properties: { kind: { const: 'circle' }, r: { type: 'number' } }, required: ['kind', 'r'] }
const square = { type: 'object', properties: { kind: { const: 'square' }, a: { type: 'number' } }, required: ['kind', 'a'] }
const tree = {
  type: 'object',
  properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } },
  required: ['name']
}
const [text, whole] = [{ type: 'string' }, { type: 'integer' }]

t.test('a plain object is sent as it is', async (t) => {
  const schema = { type: 'object', properties: { a: { type: 'string', enum: ['x'] } }, required: ['a'], additionalProperties: false }
  t.same(wireSchema(schema), { schema, isWrapped: false, isExact: true })
})

/** Schemas of which providers refuse a part, with objects that fit them. */
const HARD: Array<[schema: Record<string, unknown>, fitting: object[]]> = [
  [{ oneOf: [circle, square] }, [{ kind: 'circle', r: 1 }, { kind: 'square', a: 2 }]],
  [{ type: 'object', properties: { id: { type: 'string' } }, anyOf: [circle, square] }, [{ id: 'x', kind: 'circle', r: 1 }]],
  [{ type: ['object', 'null'], properties: { a: { type: ['string', 'null'] } } }, [{ a: null }, { a: 'x' }]],
  [{ $ref: '#/$defs/tree', $defs: { tree } }, [{ name: 'a', children: [{ name: 'b', children: [] }] }]],
  [{ type: 'object', properties: { self: { $ref: '#' } } }, [{ self: { self: {} } }]],
  [{ allOf: [{ properties: { a: text }, required: ['a'] }, { properties: { b: whole } }], type: 'object' }, [{ a: 'x', b: 1 }]],
  [{ type: 'object', properties: { a: { enum: [1, 'x', null] }, b: { const: true }, c: { not: text } } }, [{ a: null, b: true, c: 1 }]],
  [{ type: 'object', patternProperties: { '^x': { type: 'string' } }, additionalProperties: false }, [{ x1: 'a' }]],
  [{ type: 'object', properties: { pair: { type: 'array', prefixItems: [text], items: whole } } }, [{ pair: ['a', 1] }]],
  [{ type: 'object', properties: { pair: { type: 'array', items: [text, whole] } } }, [{ pair: ['a', 1] }]],
  [{ type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'number' } } } }, [{ m: { a: 1 } }]],
  [{ type: 'object', if: { required: ['a'] }, then: { required: ['b'] }, properties: { a: true, b: {} } }, [{ a: 1, b: 2 }]],
  [{ type: 'object', properties: { when: { type: 'string', format: 'date-time', pattern: '^2' } } }, [{ when: '2026' }]]
]

for (const [schema, fitting] of HARD) {
  t.test(`what providers refuse is not sent, and what fits stays admitted: ${JSON.stringify(schema).slice(0, 90)}`, async (t) => {
    const { schema: sent, isWrapped } = wireSchema(schema)
    t.equal(sent.type, 'object')
    t.same(Object.keys(sent).filter((keyword) => ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref'].includes(keyword)), [])
    const refused =
      /"(?:\$ref|oneOf|allOf|not|if|prefixItems|patternProperties|const|pattern|format)":|"type":\[|"items":\[/
    t.notMatch(JSON.stringify(sent), refused)
    const admits = new Ajv({ strict: false }).compile(sent)
    for (const value of fitting) t.ok(admits(isWrapped ? { value } : value), JSON.stringify(value))
  })
}

t.test('a schema that grows without end when its references are followed is cut', async (t) => {
  const names = Array.from({ length: 30 }, (_, n) => `d${n}`)
  const properties = Object.fromEntries(names.map((other) => [other, { $ref: `#/$defs/${other}` }]))
  const $defs = Object.fromEntries(names.map((name) => [name, { type: 'object', properties }]))
  const { schema, isExact } = wireSchema({ type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs })
  t.ok(JSON.stringify(schema).length < 100_000)
  t.equal(isExact, false)
})

const nested = (levels: number): object => levels === 0 ? {} : { properties: { a: nested(levels - 1) } }
const refused = (schema: object) => {
  try {
    compileObjectSchema(schema as never)
  } catch (error) {
    const { code, message, details } = error as { code: string, message: string, details: object[] }
    return { code, message, details }
  }
  return undefined
}

t.test('schemas that cannot be used are refused with the place in them', async (t) => {
  const rows: Array<[schema: object, path: string, why: RegExp]> = [
    [{ type: 'array' }, '/type', /must be "object"/],
    [{ type: ['string', 'null'] }, '/type', /must be "object"/],
    [{}, '/type', /must be "object"/],
    [{ enum: [1] }, '/type', /must be "object"/],
    [{ type: 'object', properties: { a: { type: 'nmber' } } }, '/properties/a/type', /must be/],
    [{ type: 'object', properties: [] }, '/properties', /must be object/],
    [{ type: 'object', required: 'a' }, '/required', /must be array/],
    [{ type: 'object', properties: { a: { $ref: 'https://example.com/a.json' } } }, '/properties/a/$ref', /nothing is loaded/],
    [{ type: 'object', properties: { a: { $ref: 'other.json#/a' } } }, '/properties/a/$ref', /nothing is loaded/],
    [{ type: 'object', properties: { a: { $dynamicRef: 'x#a' } } }, '/properties/a/$dynamicRef', /nothing is loaded/],
    [{ type: 'object', properties: { a: { $ref: '#/$defs/none' } } }, '', /cannot be used: can't resolve reference #\/\$defs\/none/],
    [{ type: 'object', properties: { a: { pattern: '(' } } }, '/properties/a/pattern', /not a valid regular expression/],
    [{ type: 'object', patternProperties: { '[': {} } }, '/patternProperties', /not a valid regular expression/],
    [{ type: 'object', $async: true }, '/$async', /not allowed/],
    [{ type: 'object', description: 'x'.repeat(70_000) }, '', /at most 65536/],
    [{ type: 'object', ...nested(20) }, '/properties/a', /deeper than 32 levels/],
    [{ type: 'object', allOf: Array.from({ length: 300 }, () => ({ $ref: '#/$defs/a' })), $defs: { a: {} } }, '/allOf/', /at most 256/]
  ]
  for (const [schema, path, why] of rows) {
    const shown = JSON.stringify(schema).slice(0, 100)
    t.match(refused(schema), { code: 'ERR_INVALID_REQUEST', message: why, details: [{ message: String }] }, shown)
    const [at] = refused(schema)?.details as Array<{ path: string }>
    t.ok(at?.path.startsWith(`/options/object/schema${path}`), `${shown}: ${at?.path}`)
  }
})

t.test('a property may have the name of a keyword', async (t) => {
  const check = compileObjectSchema({
    type: 'object',
    properties: { $ref: { type: 'string' }, pattern: { const: '(' } },
    required: ['$ref']
  })
  t.equal(check({ $ref: 'https://example.com', pattern: '(' }), undefined)
  t.match(check({ pattern: '(' }), [{ message: /"\$ref"/ }])
})

t.test('only objects fit, and each problem has its place', async (t) => {
  const check = compileObjectSchema({ properties: { a: { items: { type: 'integer' } } } })
  for (const value of [undefined, null, [], 'x', 1]) t.match(check(value), [{ path: '/', message: /must be an object/ }])
  t.equal(check({ a: [1] }), undefined)
  t.same(check({ a: [1, 'x'] }), [{ path: '/a/1', message: 'a.1 must be integer' }])
})

t.test('the drafts that libraries make are understood: tuples of both, definitions of both, and references', async (t) => {
  const newer = compileObjectSchema({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { pair: { prefixItems: [{ type: 'string' }, { type: 'integer' }], items: false }, tree: { $ref: '#/$defs/tree' } },
    $defs: { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } }, unevaluatedProperties: false } }
  })
  t.equal(newer({ pair: ['a', 1], tree: { left: {} } }), undefined)
  t.ok(newer({ pair: [1, 'a'] }))
  t.ok(newer({ tree: { left: { right: {} } } }))
  const older = compileObjectSchema({
    type: 'object',
    properties: { pair: { type: 'array', items: [{ type: 'string' }], additionalItems: false }, b: { $ref: '#/definitions/b' } },
    definitions: { b: { type: 'boolean' } }
  })
  t.equal(older({ pair: ['a'], b: true }), undefined)
  t.ok(older({ pair: [1] }))
  t.ok(older({ pair: ['a', 'b'] }))
  t.ok(compileObjectSchema({ $schema: 'http://json-schema.org/draft-07/schema#', $id: 'x', type: 'object' })({}) === undefined)
})

t.test('regular expressions are kept, and one that does not end is interrupted: its answer does not fit', async (t) => {
  const check = compileObjectSchema({ type: 'object', properties: { a: { pattern: '^(a+)+$' }, b: { pattern: '^\\p{Lu}$' } } })
  t.equal(check({ a: 'aaa', b: 'Ä' }), undefined)
  t.match(check({ b: 'ä' }), [{ path: '/b' }])
  t.match(check({ a: `${'a'.repeat(60)}!` }), [{ message: /could not be checked within 250 ms/ }])
  t.equal(check({ a: 'a' }), undefined, 'and the next one is checked again')
})
