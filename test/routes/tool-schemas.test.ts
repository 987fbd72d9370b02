import t from 'tap'
import type { ToolSource } from '../../services/tools/sources.ts'
import type { GatewayRequest, Plan } from '../fakes/gateway.ts'
import { of, say } from '../harness/agent.ts'
import { build } from '../harness/helper.ts'
import { connect, detail, misbehaving } from '../harness/mcp.ts'
import { withGateway } from '../harness/with-gateway.ts'

const call = (toolName: string, input: unknown): Plan => ({ toolCalls: [{ toolName, input }] })
const namesIn = ({ body }: GatewayRequest): string[] => body.tools.map(({ name }: { name: string }) => name)

/** A server with one tool, which answers with its input. */
const serverOf = (inputSchema: object): ToolSource => ({
  name: 'graph',
  available: true,
  tools: [{
    model: { name: 'list_items', description: 'Lists items', schema: inputSchema as never },
    policy: { effect: 'read' },
    identity: JSON.stringify(inputSchema),
    execute: async (input) => ({ got: input })
  }]
})

t.test('a call with the names that the provider got reaches the tool with its own, and the original checks it', async (t) => {
  const plans = [
    call('list_items', { top: 'many', filter_name: 'x' }),
    call('list_items', { top: 3, filter_name: 'x', more: [{ odata_type: 'y' }] }),
    { text: 'Done.' }
  ]
  const { app, gateway } = await withGateway(t, (_request, nth) => plans[nth])
  await app.mcp.start()
  app.tools.merge([serverOf({
    type: 'object',
    properties: {
      $top: { type: 'integer' },
      'filter[name]': { type: 'string' },
      more: { type: 'array', items: { type: 'object', properties: { '@odata.type': { type: 'string' } } } }
    },
    required: ['$top'],
    additionalProperties: false
  })])
  const { events } = await say(app, 'list')
  const own = { $top: 3, 'filter[name]': 'x', more: [{ '@odata.type': 'y' }] }
  t.match(of(events, 'tool-input-error'), [{ errorText: /\$top must be integer/ }])
  t.match(of(events, 'tool-input-available'), [{ toolName: 'list_items', input: own }])
  t.match(of(events, 'tool-output-available'), [{ output: { got: own } }])
  const made = gateway.requests[2].body.prompt.flatMap(({ content }: any) => Array.isArray(content) ? content : [])
    .filter(({ type }: any) => type === 'tool-call')
  t.same(made.at(-1).input, { top: 3, filter_name: 'x', more: [{ odata_type: 'y' }] }, 'the model sees its call as it made it')
})

t.test('a tool that the provider refuses is named in the run and at its server, and the others work, also after a restart', async (t) => {
  const reply = (request: GatewayRequest): Plan | undefined =>
    request.body.tools === undefined
      ? undefined
      : namesIn(request).includes('draw_chart')
        ? { error: { status: 400, message: "Invalid schema for function 'draw_chart': schema is too strange" } }
        : { text: 'hello' }
  const { app, gateway } = await withGateway(t, reply, { config: {} })
  await connect(app, misbehaving('odd', ['--tools=draw_chart,read_page']))
  const listed = async (of = app) => (await of.inject('/mcp/servers')).json().servers.find(({ name }: any) => name === 'odd')
  t.notOk((await listed()).warnings)
  const { events } = await say(app, 'hi')
  t.match(of(events, 'text-delta'), [{ delta: 'hello' }])
  t.match(of(events, 'data-notice'), [{ data: { code: 'tool-refused', text: /draw_chart.*schema is too strange/ } }])
  t.match(await listed(), { warnings: [/The provider of test\/model refused .*"draw_chart".*schema is too strange/] })
  t.match((await detail(app, 'odd')).warnings, [/"draw_chart"/])
  t.notMatch(of((await say(app, 'again')).events, 'data-notice'), [{ data: {} }], 'it is told once')
  t.equal(gateway.requests.filter(({ body }) => body.tools !== undefined).length, 3)

  await app.close()
  const next = await build(t, { home: app.home, cwd: app.cwd, gatewayKey: 'the-key', gatewayBaseURL: gateway.url })
  await next.mcp.start()
  await say(next, 'hi')
  t.notOk(namesIn(gateway.requests.at(-1)!).includes('draw_chart'))
  t.ok(namesIn(gateway.requests.at(-1)!).includes('read_page'))
  t.match(await listed(next), { warnings: [/"draw_chart"/] })
})
