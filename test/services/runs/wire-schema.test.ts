import { Ajv } from 'ajv'
import t from 'tap'
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
