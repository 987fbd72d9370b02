import { Type } from '@sinclair/typebox'
import t from 'tap'
import type { Tool } from '../../../services/contracts/tool.ts'
import { readInput } from '../../../services/tools/input-validator.ts'
import { over, server, tool } from './helper.ts'

t.test('names that every object has are unknown tools', async (t) => {
  const { host, failure } = over(t)
  for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty', '']) {
    t.equal(host.find(name), undefined)
    t.match(await failure(name, {}), /no tool named.*The tools are: readFile, searchFiles/)
  }
})

t.test('an invalid input is told with path, problem and what is allowed', async (t) => {
  const { host, failure } = over(t)
  const problem = (name: string, input: unknown) => {
    const result = host.validate(name, input)
    return result.ok ? 'valid' : result.error
  }
  t.strictSame(host.validate('readFile', { path: 'x' }), { ok: true, input: { path: 'x' } })
  t.equal(
    problem('readFile', { pth: 'x', limit: 0 }),
    'The input of readFile is not valid: the input lacks the property "path"; ' +
      'the input has no property "pth" (allowed: path, offset, limit, column); limit must be >= 1.'
  )
  t.match(problem('readFile', { path: 'x', limit: 'five' }), /limit must be integer/, 'nothing is guessed')
  t.strictSame(host.validate('readFile', 'x'), { ok: true, input: { path: 'x' }, isMended: true }, 'a bare text has one reading')
  t.match(problem('readFile', 5), /must be object/)
  t.match(problem('readFile', null), /must be object/)
  t.match(problem('systemInfo', { a: 1 }), /allowed: none/)
  t.match(problem('readFile', JSON.parse('{"path":"x","__proto__":{"a":1}}')), /no property "__proto__"/)
  t.ok(problem('systemInfo', Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`key${index}`, 1]))).length <= 4000)
  t.match(await failure('readFile', {}), /lacks the property "path"/, 'and the tool is not run')
})

t.test('two inputs in one call are no input: nothing of it runs, and the model is told', async (t) => {
  const { host } = over(t)
  t.match(readInput('readFile', '{"path":"a.txt"}{"path":"b.txt"}', host.validate), { ok: false, isJson: false, error: /is not JSON/ })
  t.match(readInput('readFile', '{"path":"a.txt",}', host.validate), { ok: true, input: { path: 'a.txt' }, isMended: true })
})

t.test('schemas of tool servers are checked in any dialect; one that makes no sense leaves it to the server', async (t) => {
  const { host } = over(t)
  const schemas: Record<string, object> = {}
  const add = (name: string, inputSchema: object) => {
    schemas[name] = inputSchema
  }
  add('modern', {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'same',
    type: 'object',
    properties: { mode: { enum: ['a', 'b'] }, at: { type: 'string', format: 'unheard-of' } }
  })
  add('another', { $id: 'same', type: 'object', required: ['x'] })
  add('broken', { type: 'object', properties: { x: { $ref: '#/nowhere' } } })
  host.merge([{
    ...server('s', []),
    tools: Object.entries(schemas).map(([name, inputSchema]) => ({
      ...tool(name),
      model: { name, description: name, schema: inputSchema as Tool['model']['schema'] },
      identity: name
    }))
  }])
  t.ok(host.validate('modern', { mode: 'a', at: 'x' }).ok)
  t.match(host.validate('modern', { mode: 'c' }), { ok: false, error: /mode must be one of \["a","b"\]/ })
  t.notOk(host.validate('another', {}).ok)
  t.ok(host.validate('broken', { x: 1 }).ok)
  t.notOk(host.validate('broken', []).ok)
})

t.test('what in a foreign schema takes more time than there is, is left to its server', async (t) => {
  const { host, failure } = over(t, [tool('mine', undefined, { model: { schema: Type.Object({ a: Type.String({ pattern: '^b+$' }) }) } })])
  const slow = `${'a'.repeat(60)}!`
  const inputSchema = {
    type: 'object',
    required: ['email'],
    properties: { email: { type: 'string', pattern: '^(a+)+$' }, list: { type: 'array', uniqueItems: true } },
    patternProperties: { '^(a|a)*$': { type: 'number' } },
    propertyNames: { pattern: '^(\\w+\\s?)*$' },
    additionalProperties: false
  } as never
  host.merge([server('s', ['mail'], { model: { schema: inputSchema } })])
  t.match(host.validate('mail', { email: slow, [slow]: 1, list: Array.from({ length: 20_000 }, (_, n) => ({ n })) }), { ok: true })
  t.match(await failure('mail', { email: 5 }), /email must be string/)
  t.match(await failure('mine', { a: 'a' }), /must match pattern/, 'our own are held to theirs')
})

t.test('a foreign schema that refers to itself, in many branches or for ever, is left to its server', async (t) => {
  const { host } = over(t)
  const twice = (n: number) => [`d${n}`, { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] }]
  const doubling = {
    $ref: '#/$defs/d0',
    $defs: { ...Object.fromEntries(Array.from({ length: 40 }, (_, n) => twice(n))), d40: { type: 'object', required: ['a'] } }
  }
  const endless = { anyOf: [{ $ref: '#' }, { $ref: '#' }] }
  for (const [name, inputSchema] of Object.entries({ doubling, endless })) {
    host.merge([server('s', [name], { model: { schema: inputSchema as never } })])
    t.match(host.validate(name, {}), { ok: true }, name)
    t.match(host.validate(name, 'text'), { ok: false, error: /must be an object/ })
  }
  host.merge([server('s', ['after'], { model: { schema: { type: 'object', required: ['a'] } as never } })])
  t.match(host.validate('after', {}), { ok: false, error: /lacks the property "a"/ }, 'others are checked as before')
})

/** Parameters whose name and schema say all: each description is paid for with every request. */
const SAYS_ALL = [
  'path', 'from', 'cwd', 'url', 'query', 'content', 'edits', 'steps', 'literal', 'column', 'depth', 'limit', 'maxChars', 'maxResults'
]

t.test('every built-in has a schema that compiles, is closed and is described', async (t) => {
  for (const { model: { name, description, schema: inputSchema } } of over(t).host.offered()) {
    t.equal(inputSchema.additionalProperties, false, name)
    t.ok(description.length > 20)
    for (const [parameter, { description: words }] of Object.entries<any>(inputSchema.properties)) {
      t.ok(words?.length > 0 || SAYS_ALL.includes(parameter), `${parameter} of ${name}`)
    }
  }
})
