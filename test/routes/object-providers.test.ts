import t from 'tap'
import type { App } from '../../app.ts'
import type { Plan } from '../fakes/gateway.ts'
import { NATIVE_WIRES } from '../harness/native-wires.ts'
import { withDirect } from '../harness/with-direct.ts'
import { withNative } from '../harness/with-native.ts'

const circle = { type: 'object', properties: { kind: { const: 'circle' }, r: { type: ['number', 'null'] } }, required: ['kind'] }
const group = { type: 'object', properties: { kind: { const: 'group' }, of: { type: 'array', items: { $ref: '#/$defs/shape' } } } }
/** What libraries make of a union of types of which one holds itself. */
const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  $ref: '#/$defs/shape',
  $defs: { shape: { oneOf: [circle, { ...group, required: ['kind', 'of'] }] } }
}
const good = { kind: 'group', of: [{ kind: 'circle', r: null }] }
const flat = { type: 'object', properties: { kind: { type: 'string' }, note: { type: 'string' } }, required: ['kind'] }

/** Every schema of a tool in a body of any of the APIs. */
function parametersOf (body: any): any[] {
  const functions = (body.tools ?? []).flatMap((tool: any) => tool.functionDeclarations ?? [tool.function ?? tool])
  return functions.map((each: any) => each.parameters ?? each.input_schema ?? each.parametersJsonSchema).filter(Boolean)
}
/** What an API of this kind answers to a schema that it refuses: the first reason, or undefined. */
function refusalOf (body: any): string | undefined {
  for (const parameters of parametersOf(body)) {
    if (parameters.type?.toLowerCase() !== 'object') return 'schema must be type object at the root'
    const root = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].find((keyword) => keyword in parameters)
    if (root !== undefined) return `schema does not support ${root} at the top level`
    const text = JSON.stringify(parameters)
    const word = /"(\$ref|\$defs|oneOf|allOf|const|if)":/.exec(text)?.[1] ?? (/"type":\[/.test(text) ? 'type lists' : undefined)
    if (word !== undefined) return `Invalid JSON payload: unknown name "${word}" at tools[0].parameters`
  }
  const format = body.response_format?.json_schema ?? body.text?.format
  if (format?.strict && JSON.stringify(format.schema).includes('"note"')) return "'required' is required to include every key in properties"
  return undefined
}
const refusing = (plan: Plan) => ({ body }: { body: any }): Plan => {
  const message = refusalOf(body)
  return message === undefined ? plan : { error: { status: 400, type: 'invalid_request_error', message } }
}
const sync = async (app: App, options: object) => {
  const response = await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'go' }], options } })
  return { status: response.statusCode, ...response.json() }
}
/** Built-in tools alone may hold what these fakes refuse. */
const allowTools = ['systemInfo']
const wrapped: Plan = { toolCalls: [{ toolName: 'answer', input: { value: good } }] }

for (const native of NATIVE_WIRES) {
  t.test(`the API of ${native.kind} is sent a schema that it takes, and the answer is checked by the real one`, async (t) => {
    const wrong: Plan = { toolCalls: [{ toolName: 'answer', input: { value: { kind: 'group', of: [{ kind: 'square' }] } } }] }
    const { app, bodies } = await withNative(t, native, (request, nth) => refusing(nth === 0 ? wrong : wrapped)(request))
    t.match(await sync(app, { allowTools, object: { schema } }), { status: 200, object: good })
    t.equal(bodies().length, 2, 'the circle that is a square did not fit')
  })

  t.test(`without tools, the API of ${native.kind} is asked for JSON, and takes it with optional properties, too`, async (t) => {
    const { app } = await withNative(t, native, refusing({ object: { kind: 'circle' } }))
    t.match(await sync(app, { allowTools: [], object: { schema: flat } }), { status: 200, object: { kind: 'circle' } })
  })
}

t.test('a server that speaks chat completions is sent a schema that it takes', async (t) => {
  const { app } = await withDirect(t, refusing(wrapped))
  t.match(await sync(app, { allowTools, object: { schema } }), { status: 200, object: good })
})

t.test('a server that knows no response formats answers in JSON all the same', async (t) => {
  const { app, server } = await withDirect(t, () => ({}), {
    server: {
      reply: ({ body }) =>
        body.response_format
          ? { error: { status: 400, message: 'response_format is not supported' } }
          : { text: '```json\n{"kind": "circle"}\n```' }
    }
  })
  t.match(await sync(app, { allowTools: [], object: { schema: flat } }), { status: 200, object: { kind: 'circle' } })
  t.match(JSON.stringify(server.requests.findLast(({ body }) => body)!.body.messages), /answer with one JSON object.*note/)
})

t.test('an object that a model does not wrap is taken, too', async (t) => {
  const { app } = await withDirect(t, () => ({ toolCalls: [{ toolName: 'answer', input: good }] }))
  t.match(await sync(app, { object: { schema } }), { status: 200, object: good })
})
