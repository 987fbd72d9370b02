import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import type { LanguageModelV4FunctionTool, LanguageModelV4StreamPart } from '@ai-sdk/provider'
import { projectSchema } from '../../../services/models/tool-schemas/project-schema.ts'
import { withGivenNames, withOriginalNames } from '../../../services/models/tool-schemas/rename-input.ts'
import type { ModelRequest, Plan } from '../../fakes/gateway-plan.ts'
import { anthropicRules, compatibleRules, googleRules, openaiRules, type SchemaRules, type SentTool } from '../../fakes/schema-rules.ts'
import { openRemote, REMOTE_KINDS } from '../../harness/remote-providers.ts'
import { realServers } from '../../harness/tool-lists.ts'

interface Listed {
  name: string
  inputSchema: any
}
const folder = new URL('../../fakes/tool-schemas/', import.meta.url)
const listOf = (file: string): Listed[] => JSON.parse(readFileSync(new URL(`${file}.json`, folder), 'utf8'))
const odd = listOf('odd')
const ofServers = realServers().flatMap(({ tools }) => tools.map(({ model: { name, schema } }): Listed => ({ name, inputSchema: schema })))
const listed = [...ofServers, ...listOf('python-servers'), ...odd]

const describe = ({ name, inputSchema }: Listed): LanguageModelV4FunctionTool =>
  ({ type: 'function', name, description: name, inputSchema })
const sentTools: Record<string, (body: any) => SentTool[]> = {
  gateway: ({ tools }) => tools.map(({ name, inputSchema: schema }: any) => ({ name, schema })),
  'openai-compatible': ({ tools }) => tools.map(({ function: { name, parameters: schema } }: any) => ({ name, schema })),
  openai: ({ tools }) => tools.map(({ name, parameters: schema }: any) => ({ name, schema })),
  anthropic: ({ tools }) => tools.map(({ name, input_schema: schema }: any) => ({ name, schema })),
  google: ({ tools }) =>
    tools.flatMap(({ functionDeclarations }: any) => functionDeclarations)
      .map(({ name, parametersJsonSchema: schema }: any) => ({ name, schema }))
}
const RULES: Record<string, SchemaRules> = {
  gateway: anthropicRules,
  'openai-compatible': compatibleRules,
  openai: openaiRules,
  anthropic: anthropicRules,
  google: googleRules
}
const remote = (kind: string) => REMOTE_KINDS.find((each) => each.kind === kind)!

/** A model that takes a list of tools as `rules` say. */
async function openStrict (t: Test, kind: string, rules: SchemaRules, plan: Plan = { text: 'ok' }) {
  const tools = ({ body }: ModelRequest) => body.tools === undefined ? [] : sentTools[kind](body)
  const { registry, id, calls } = await openRemote(t, remote(kind), {
    reply (request) {
      const message = rules(tools(request))
      return message === undefined ? plan : { error: { status: 400, type: 'invalid_request_error', message } }
    }
  })
  const ask = async (given: LanguageModelV4FunctionTool[], text = 'hi') => {
    const { model } = await registry.model(id)
    const parts: LanguageModelV4StreamPart[] = []
    const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text }] }]
    for await (const part of (await model.doStream({ prompt, tools: given })).stream) parts.push(part)
    const warnings = parts.flatMap((part) => part.type === 'stream-start' ? part.warnings : []).filter(({ type }) => type === 'unsupported')
    return { parts, left: warnings.map((warning) => 'details' in warning ? warning.details : '') }
  }
  return { ask, calls, sent: () => calls().map((request) => tools(request).map(({ name }) => name)) }
}

for (const { kind } of REMOTE_KINDS) {
  const rules = RULES[kind]

  t.test(`${kind}: every listed tool is described so that a strict provider takes it, in one request`, async (t) => {
    const all = listed.map(({ name, inputSchema }, n) => describe({ name: `${name.slice(0, 50)}_${n}`, inputSchema }))
    const { ask, calls } = await openStrict(t, kind, rules)
    t.same((await ask(all)).left, [])
    t.equal(calls().length, 1)
    t.equal(sentTools[kind](calls()[0].body).length, all.length)
    const raw = listed.filter(({ name, inputSchema }) => rules([{ name, schema: inputSchema }]) !== undefined)
    t.ok(raw.length > odd.length / 3, `${raw.length} of ${all.length} are refused as they are listed`)
  })
}

t.test('an input that the original takes fits the description of every provider, and comes back with its own names', async (t) => {
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, validateSchema: false })
  let checked = 0
  for (const { name, inputSchema } of listed) {
    const input = example(inputSchema, inputSchema)
    const { $id: _id, $schema: _schema, ...schema } = inputSchema
    const original = attempt(() => ajv.compile(schema))
    if (Array.isArray(input) || !attempt(() => original?.(input))) continue
    checked++
    for (const wire of ['anthropic', 'google', 'compatible'] as const) {
      const projected = projectSchema(inputSchema, wire)
      if (projected.schema === inputSchema) continue
      const given = withGivenNames(projected, input)
      if (!ajv.validate(projected.schema, given)) t.fail(`${wire}, ${name}: ${JSON.stringify(given)}: ${JSON.stringify(ajv.errors)}`)
      const back = withOriginalNames(inputSchema, given)
      if (!isDeepStrictEqual(back, input)) t.fail(`${wire}, ${name}: ${JSON.stringify(back)} is not ${JSON.stringify(input)}`)
    }
  }
  t.ok(checked > listed.length * 0.8, `${checked} of ${listed.length}`)
})

function attempt<T> (work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

/** Returns a value for a schema: its first choice everywhere, with all properties. */
function example (schema: any, root: any, depth = 0): any {
  if (typeof schema !== 'object' || schema === null || depth > 6) return {}
  if (schema.$ref?.startsWith('#/')) {
    const target = schema.$ref.slice(2).split('/').reduce((at: any, key: string) => at?.[key], root)
    return example(target, root, depth + 1)
  }
  if (schema.enum?.length > 0) return schema.enum[0]
  if ('const' in schema) return schema.const
  if (schema.default !== undefined && schema.default !== null) return schema.default
  const [choice] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? []
  if (choice !== undefined && schema.properties === undefined) return example(choice, root, depth + 1)
  switch ([schema.type].flat()[0]) {
    case 'string': return 'x'.repeat(Math.max(schema.minLength ?? 1, 1))
    case 'integer':
    case 'number': return (schema.minimum ?? 1) + (schema.exclusiveMinimum === undefined ? 0 : 1)
    case 'boolean': return true
    case 'null': return null
    case 'array': return depth > 4 ? [] : [example(schema.items ?? {}, root, depth + 1)]
  }
  const properties = Object.entries(schema.properties ?? {}).filter(([, each]) => each !== false)
  const values = properties.map(([name, each]): [string, unknown] => [name, example(each, root, depth + 1)])
  return Object.fromEntries(values.filter(([, value]) => value !== null))
}

t.test('a schema is always projected to the same object, and stays itself where nothing is to be changed', async (t) => {
  const properties = { path: { type: 'string', description: 'A path' } }
  const plain = { type: 'object', properties, required: ['path'], additionalProperties: false }
  for (const wire of ['openai', 'anthropic', 'compatible'] as const) t.equal(projectSchema(plain, wire).schema, plain)
  for (const { inputSchema } of odd) t.equal(projectSchema(inputSchema, 'google').schema, projectSchema(inputSchema, 'google').schema)
})

t.test('references into a loop and definitions that multiply end, and stay small', async (t) => {
  const wide = (n: number) =>
    ({ type: 'object', properties: Object.fromEntries(['a', 'b', 'c'].map((key) => [key, { $ref: `#/$defs/L${n}` }])) })
  const $defs = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`L${n}`, wide(n + 1)]))
  const bomb = { ...wide(0), $defs }
  let deep: object = { type: 'string' }
  for (let n = 0; n < 5_000; n++) deep = { type: 'object', properties: { a: deep } }
  for (const wire of ['openai', 'google', 'compatible'] as const) {
    const { schema } = projectSchema(bomb, wire)
    t.match(schema, { type: 'object', properties: { a: {}, b: {}, c: {} } })
    t.ok(JSON.stringify(schema).length <= Math.max(JSON.stringify(bomb).length * 1.5, 4_000))
    t.match(projectSchema(deep, wire).schema, { type: 'object' })
  }
})

t.test('what a schema loses is said in words', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      level: { type: 'integer', enum: [1, 2, 3] },
      city: { type: 'string' },
      zip: { type: 'string' },
      limit: { type: 'integer', default: 20, description: 'How many' },
      名前: { type: 'string', description: 'Of a person' }
    },
    oneOf: [{ required: ['city'] }, { required: ['zip', 'level'] }]
  }
  t.match(projectSchema(schema, 'google').schema, {
    description: 'Give one of these: city; or zip, level.',
    properties: {
      level: { type: 'integer', enum: undefined, description: 'One of 1,2,3' },
      limit: { description: 'How many Default: 20.' },
      field: { description: '名前: Of a person' }
    },
    required: undefined
  })
})

t.test('keys in other alphabets are written in Latin letters, and come back as they were', async (t) => {
  const properties = { имя: { type: 'string' }, Größe: { type: 'number' }, $top: { type: 'number' }, 都市: { type: 'string' } }
  const input = { имя: 'Ада', Größe: 2, $top: 1, 都市: 'Bern' }
  const schema = { type: 'object', properties, required: ['имя'] }
  for (const wire of ['anthropic', 'google', 'compatible'] as const) {
    const projected = projectSchema(schema, wire)
    t.same(Object.keys(projected.schema.properties as object), ['imya', 'Grosse', 'top', 'field'])
    t.same(projected.schema.required, ['imya'])
    t.same(withOriginalNames(schema, withGivenNames(projected, input)), input)
  }
})

const good = describe({ name: 'read_page', inputSchema: { type: 'object', properties: { url: { type: 'string' } } } })
const bad = describe({ name: 'draw_chart', inputSchema: { type: 'object', properties: { kind: { type: 'string' } } } })
const last = describe({ name: 'list_pages', inputSchema: { type: 'object', properties: {} } })
/** Refuses the tool `draw_chart` in the words of a provider. */
const refusing = (words: (at: number) => string): SchemaRules => (tools) => {
  const at = tools.findIndex(({ name }) => name === bad.name)
  return at === -1 ? undefined : words(at)
}

const REFUSALS: Array<[kind: string, words: (at: number) => string]> = [
  ['anthropic', (at) => `tools.${at}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12`],
  ['openai', () => "Invalid schema for function 'draw_chart': In context=('properties', 'kind'), 'strange' is not permitted."],
  ['openai', (at) => `Invalid 'tools[${at}].function.description': string too long. Expected a string with maximum length 1024`],
  ['google', (at) => `* GenerateContentRequest.tools[0].function_declarations[${at}].parameters.properties: should be non-empty`],
  ['gateway', () => "Invalid schema for function 'draw_chart': schema is too strange"],
  ['openai-compatible', (at) => `[{'type': 'string_type', 'loc': ('body', 'tools', ${at}, 'function'), 'msg': 'Input should be valid'}]`],
  ['openai-compatible', () => 'JSON schema conversion failed: Unrecognized schema'],
  ['google', () => 'Request contains an invalid argument.']
]
for (const [kind, words] of REFUSALS) {
  t.test(`${kind}: "${words(1)}" leaves that tool out, for good`, async (t) => {
    const { ask, calls, sent } = await openStrict(t, kind, refusing(words))
    const { left, parts } = await ask([good, bad, last])
    t.match(left, [/^draw_chart: /])
    t.ok(parts.some(({ type }) => type === 'text-delta'), 'it is answered at once')
    t.ok(calls().length <= 6, `${calls().length} requests`)
    t.same(sent().at(-1), ['read_page', 'list_pages'])
    const before = calls().length
    t.same((await ask([good, bad, last])).left, [])
    t.same(sent().slice(before), [['read_page', 'list_pages']], 'it is not tried again')
    const changed = { ...bad, description: 'Another one' }
    await ask([good, changed])
    t.ok(sent().slice(before + 1)[0].includes('draw_chart'), 'another definition is')
  })
}

t.test('of 200 tools, one that a refusal does not name is found with few requests that hold no conversation', async (t) => {
  const many = Array.from({ length: 200 }, (_, n) => describe({ name: `tool_${n}`, inputSchema: { type: 'object', properties: {} } }))
  const { ask, calls, sent } = await openStrict(t, 'openai-compatible', refusing(() => 'failed to parse grammar'))
  const tools = [...many.slice(0, 133), bad, ...many.slice(133)]
  t.match((await ask(tools, 'a long story')).left, [/^draw_chart/])
  t.equal(sent().at(-1)!.length, 200)
  t.ok(calls().length <= 12, `${calls().length}`)
  t.equal(calls().filter(({ body }) => JSON.stringify(body.messages).includes('a long story')).length, 2)
})

t.test('a refusal that no tool is to blame for costs no tool', async (t) => {
  for (const words of ['The function calls of this conversation are not valid.', "messages.3: tool 'draw_chart' was called twice"]) {
    let isRefused = true
    const { ask, sent } = await openStrict(t, 'openai-compatible', () => isRefused ? words : undefined)
    await t.rejects(ask([good, bad, last]), { message: new RegExp(words.slice(0, 20)) })
    isRefused = false
    t.same((await ask([good, bad, last])).left, [])
    t.same(sent().at(-1), ['read_page', 'draw_chart', 'list_pages'])
  }
})

t.test('a name that a provider does not take is another one there, and its own in calls', async (t) => {
  const tool = describe({ name: '2fa_list', inputSchema: { type: 'object', properties: { $top: { type: 'integer' } } } })
  const { ask, sent } = await openStrict(t, 'google', googleRules, { toolCalls: [{ toolName: '_2fa_list', input: { top: 3 } }] })
  const { parts } = await ask([tool])
  t.same(sent(), [['_2fa_list']])
  t.match(parts.filter(({ type }) => type === 'tool-call'), [{ toolName: '2fa_list' }])
})
