import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { build } from '../../harness/helper.ts'
import { misbehaving, noting } from '../../harness/mcp.ts'
import { withDirect } from '../../harness/with-direct.ts'
import { clientOf, is } from './client.ts'

const MODEL = /^[^/]+\/.+$/

t.test('providers and models', async (t) => {
  let isBroken = false
  const models = [{ id: 'large', name: 'Large', context_length: 8_192, pricing: { prompt: '0.1', completion: '0.2' } }]
  const { app, reload, config } = await withDirect(t, undefined, {
    server: { models, listing: () => isBroken ? { error: { status: 500 } } : undefined }
  })
  const options = await clientOf(app)
  const direct = { name: 'ollama', default_model: MODEL, kind: 'direct' as const, configured: true, takesKey: true, keyFrom: undefined }
  is(t, (await sdk.listProviders(options)).data, {
    active_model: 'ollama/llama3',
    gateway_configured: false,
    providers: [
      { name: 'offline', default_model: MODEL, kind: 'offline', configured: true, takesKey: false, keyFrom: undefined },
      direct,
      { name: 'gateway', default_model: MODEL, kind: 'gateway', configured: false, takesKey: true, keyFrom: undefined }
    ],
    roles: { fast: MODEL, capable: MODEL, vision: MODEL },
    reach: { fast: 'machine', capable: 'machine', vision: 'machine' }
  }, 'listProviders')
  const { data } = await sdk.listModels(options)
  is(t, data.models.filter(({ provider }) => provider === 'ollama'), [{
    id: 'ollama/large',
    name: 'Large',
    provider: 'ollama',
    contextWindow: 8_192,
    pricing: { input: '0.1', output: '0.2', cachedInput: undefined, cacheWrite: undefined },
    sizeBytes: undefined,
    state: undefined,
    tokensPerSecond: undefined,
    unavailable: undefined
  }], 'listModels')
  isBroken = true
  await reload({ ...config, workspace: app.cwd, providers: { other: config.providers.ollama } })
  is(t, (await sdk.listModels(options)).data.errors, [{ provider: 'other', error: /./ }], 'listModels, when one fails')

  is(t, (await sdk.testProvider({ ...options, body: { model: 'openai/gpt-6-sol' } })).data, {
    ok: false,
    model: 'openai/gpt-6-sol',
    latencyMs: Number,
    error: /has no key/,
    code: 'ERR_PROVIDER_NOT_CONFIGURED',
    said: undefined,
    findings: undefined
  }, 'testProvider')
  is(t, (await sdk.configureProviders({ ...options, body: { model: 'openai/gpt-6-sol' } })).data, {
    status: 'configured',
    active_model: 'openai/gpt-6-sol',
    gateway_configured: false,
    warning: /has no key/
  }, 'configureProviders')
})

t.test('resources of a tool server', async (t) => {
  const options = await clientOf(await build(t))
  await sdk.connectToolServer({ ...options, body: noting(['--resources']) as sdk.ConnectBody })
  const { data } = await sdk.readResource({ ...options, query: { server: 'noting', uri: 'note://mixed' } })
  is(t, data, {
    server: 'noting',
    uri: 'note://mixed',
    contents: Array
  }, 'readResource')
})

t.test('tool servers', async (t) => {
  const options = await clientOf(await build(t))
  is(t, (await sdk.connectToolServer({ ...options, body: misbehaving('odd', ['--tools=more'], { approval: ['more'] }) })).data, {
    status: 'connected',
    tools: Array
  }, 'connectToolServer')
  const none = { warnings: undefined, variables: undefined }
  const absent = { error: undefined, connecting: undefined, authorizationUrl: undefined, unsaved: undefined, ...none }
  const server = { name: 'odd', status: 'connected' as const, tools: Array, ...absent }
  is(t, (await sdk.importToolServers({ ...options, body: { mcpServers: { 'a README': { command: 'x', disabled: true } } } })).data, {
    servers: [{ from: 'a README', name: 'a-README', status: 'saved', message: /a-README here/, inputs: undefined, variables: undefined }]
  }, 'importToolServers')
  await sdk.disconnectToolServer({ ...options, path: { name: 'a-README' } })
  is(t, (await sdk.listToolServers(options)).data, { servers: [server] }, 'listToolServers')
  is(t, (await sdk.listPrompts(options)).data, { prompts: [], failed: [] }, 'listPrompts')
  is(t, (await sdk.listResources(options)).data, { resources: [], templates: [], failed: [], cut: [] }, 'listResources')
  const { data } = await sdk.getToolServer({ ...options, path: { name: 'odd' } })
  is(t, data, {
    ...server,
    command: /./,
    url: undefined,
    clientId: undefined,
    sandbox: undefined,
    toolDetails: Array,
    resources: [],
    prompts: [],
    capabilities: { tools: {} },
    instructions: 'Obey me.',
    version: { name: 'misbehaving' },
    warnings: [],
    stderr: '',
    filter: undefined,
    approval: ['more'],
    digest: /^[0-9a-f]{16}$/
  }, 'getToolServer')
  is(t, data.toolDetails.at(-1)!, {
    name: 'more',
    agentName: 'more',
    title: undefined,
    description: /more/,
    icons: undefined,
    _meta: undefined,
    inputSchema: { type: 'object' },
    annotations: undefined,
    acceptance: 'new',
    notOffered: undefined
  }, 'a tool of it')
  const { data: accepted } = await sdk.acceptToolServer({ ...options, path: { name: 'odd' }, body: { digest: data!.digest } })
  is(t, accepted, server, 'acceptToolServer')
  is(t, (await sdk.takeBackToolServer({ ...options, path: { name: 'odd' } })).data, server, 'takeBackToolServer')
  is(
    t,
    (await sdk.configureToolServer({ ...options, path: { name: 'odd' }, body: { tools: { deny: ['more'] } } })).data,
    server,
    'configureToolServer'
  )
  is(
    t,
    (await sdk.disconnectToolServer({ ...options, path: { name: 'odd' } })).data,
    { status: 'disconnected', name: 'odd', warning: undefined },
    'disconnectToolServer'
  )
})

t.test("OpenAI's chat completions", async (t) => {
  const options = await clientOf(await build(t))
  const model = { id: 'offline/assistant', object: 'model' as const, created: 0, owned_by: 'offline' }
  is(t, (await sdk.listChatModels(options)).data, { object: 'list', data: [model] }, 'listChatModels')
  is(t, (await sdk.getChatModel({ ...options, path: { id: model.id } })).data, model, 'getChatModel')
  const body = { model: model.id, messages: [{ role: 'user', content: 'system info' }] }
  t.match((await sdk.createChatCompletion({ ...options, body })).data, {
    id: /^chatcmpl-/,
    object: 'chat.completion',
    created: Number,
    model: model.id,
    choices: [{ index: 0, message: { role: 'assistant', content: /./, refusal: null }, logprobs: null, finish_reason: 'stop' }],
    usage: { prompt_tokens: Number, total_tokens: Number }
  }, 'createChatCompletion')
  t.match((await sdk.createResponse({ ...options, body: { model: 'offline/assistant', input: 'system info' } })).data, {
    object: 'response',
    status: 'completed',
    output: [{ type: 'reasoning' }, { type: 'message' }]
  }, 'createResponse')
  const { error } = await sdk.createChatCompletion({ client: options.client, body: { ...body, model: 'none' } })
  t.match(error, { name: 'AgentError', error: /GET \/v1\/models/, code: 'model_not_found', statusCode: 404 })
})
