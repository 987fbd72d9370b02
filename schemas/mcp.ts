import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref } from './common.ts'
import { entryNames } from './mcp-prompts.ts'
import { McpApproval, McpClientId, McpHeadersBody, McpRedirectUri, McpSandboxSchema, mcpSettings, McpToolFilter, McpUrl } from './config.ts'

export const ServerName = Type.String({
  pattern: '^[A-Za-z0-9._\\-]{1,64}$',
  description: 'Up to 64 letters, digits, dots, dashes and underscores'
})
const ENVIRONMENT_NAME = '^[A-Za-z_][A-Za-z0-9_.\\-]{0,127}$'
const AnyObject = (description: string) => Type.Object({}, { additionalProperties: true, description })

const STATUSES = ['connecting', 'connected', 'disconnected', 'failed', 'authorizing', 'disabled'] as const
const AuthorizationUrl = Type.String({
  description: 'The page at which the user authorizes the service, to be opened in a browser within 10 minutes'
})

const view = {
  name: Type.String({ description: 'Unique name of the connection' }),
  status: oneOf(STATUSES, {
    description:
      '`disconnected`: the connection was lost; `failed`: it could not be established. Both are retried after 1 s at first, then with ' +
      'growing delays of up to 60 s. `authorizing`: its user must authorize this service first. `disabled`: its entry says that it is ' +
      'not to be connected'
  }),
  tools: Type.Array(Type.String(), {
    description: 'Names of the tools that the server offers, or offered when it was connected last; models are told of them while it is not'
  }),
  connecting: Type.Optional(Type.Object({
    since: Type.Integer({ description: 'When the attempt began, epoch milliseconds' }),
    limitMs: Type.Integer({ description: 'How long it may take: `connectMs` of its entry' }),
    said: Type.Optional(Type.String({ description: 'The newest line of its stderr that says what it does, such as what is installed' }))
  }, { description: 'The attempt to connect that is under way' })),
  error: Type.Optional(Type.String({ description: 'Why the server is not connected' })),
  warnings: Type.Optional(Type.Array(Type.String(), {
    description: 'Tools that are left out, such as one whose definition the provider of a model refused, with the reason'
  })),
  authorizationUrl: Type.Optional(AuthorizationUrl),
  variables: Type.Optional(Type.Array(Type.String(), {
    description: 'It was imported, and is connected once it is accepted: the variables of the environment that it gets then'
  })),
  unsaved: Type.Optional(Type.Literal(true, { description: 'A request is connecting it, and saves it once it is connected' }))
}
export const ToolServerSchema = Type.Object(view, {
  $id: 'ToolServer',
  description: 'A tool server and the state of its connection'
})
export type ToolServerView = Static<typeof ToolServerSchema>

export const ToolServerListSchema = Type.Object({ servers: Type.Array(ref(ToolServerSchema)) }, {
  $id: 'ToolServerList',
  description: 'The tool servers, in the order of config.json, and those that requests are connecting'
})

export const ToolServerDetailSchema = Type.Object({
  ...view,
  command: Type.Optional(Type.String({ description: 'The program of the server, if it is one' })),
  url: Type.Optional(Type.String({ description: 'The address of the server, if it has one, without its query' })),
  clientId: Type.Optional(Type.String({ description: 'The client of its entry' })),
  sandbox: Type.Optional(McpSandboxSchema),
  filter: Type.Optional(McpToolFilter),
  approval: Type.Optional(McpApproval),
  digest: Type.String({ description: 'Changes when a tool or its description changes; send it to accept the tools' }),
  toolDetails: Type.Array(Type.Object({
    name: Type.String({ description: "The server's name of the tool" }),
    agentName: Type.Optional(Type.String({ description: "The agent's name of the tool; absent when the agent is not offered it" })),
    notOffered: Type.Optional(Type.String({ description: 'Why the agent is not offered the tool' })),
    ...entryNames,
    description: Type.String(),
    inputSchema: AnyObject('JSON Schema of the input, as the server sent it'),
    annotations: Type.Optional(AnyObject("The server's annotations of the tool")),
    acceptance: oneOf(['accepted', 'new', 'changed'], {
      description: 'Whether the user accepted the tool as it is now: only then its word counts that it only reads'
    })
  })),
  resources: Type.Array(
    Type.Object({
      uri: Type.String(),
      name: Type.String(),
      ...entryNames,
      mimeType: Type.Optional(Type.String()),
      size: Type.Optional(Type.Number({ description: 'Bytes' }))
    })
  ),
  prompts: Type.Array(Type.Object({ name: Type.String(), ...entryNames })),
  capabilities: AnyObject('The capabilities that the server declared'),
  instructions: Type.Optional(
    Type.String({ description: 'The instructions that the server gives for its use; models see them as text of the server' })
  ),
  version: Type.Optional(AnyObject('Name and version of the server program')),
  warnings: Type.Array(Type.String(), { description: 'Parts of the server that are not used, and why' }),
  stderr: Type.String({ description: 'The latest stderr output, or what went wrong over HTTP, with secrets redacted' })
}, { $id: 'ToolServerDetail', description: 'The details of a tool server' })
export type ToolServerDetail = Static<typeof ToolServerDetailSchema>

const connectBody = { name: ServerName, ...mcpSettings }
const ConnectProcess = Type.Object({
  ...connectBody,
  command: Type.String({
    minLength: 1,
    maxLength: 4096,
    description: 'Program to start, searched in the PATH; it is not interpreted by a shell'
  }),
  args: Type.Optional(Type.Array(Type.String({ maxLength: 32_768 }), { maxItems: 256 })),
  cwd: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'Its working folder; that of the service by default' })),
  env: Type.Optional(Type.Record(Type.String({ pattern: ENVIRONMENT_NAME }), Type.String({ maxLength: 32_768 }), {
    additionalProperties: false,
    propertyNames: { pattern: ENVIRONMENT_NAME, description: 'The name of an environment variable' },
    description: 'Environment variables of the program; stored encrypted'
  })),
  sandbox: Type.Optional(McpSandboxSchema)
}, { additionalProperties: false })
const ConnectAddress = Type.Object({
  ...connectBody,
  url: McpUrl,
  headers: Type.Optional(McpHeadersBody),
  clientId: Type.Optional(McpClientId),
  clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 4096, description: 'The secret of `clientId`; stored encrypted' })),
  redirectUri: Type.Optional(McpRedirectUri)
}, { additionalProperties: false })
export const ConnectBodySchema = Type.Union([ConnectProcess, ConnectAddress], {
  $id: 'ConnectBody',
  description: 'Either `command`, a program that speaks MCP over its standard input and output, or `url`, a server that speaks MCP over ' +
    'Streamable HTTP, with `headers` that are stored encrypted',
  // Safe to try: the program exists on no computer, and the address is this computer's own.
  examples: [
    {
      name: 'github',
      command: '/opt/example/github-server',
      args: ['--read-only'],
      env: { GITHUB_TOKEN: '<ACCESS_TOKEN>' }
    },
    {
      name: 'tickets',
      url: 'http://127.0.0.1:4117/mcp',
      headers: { Authorization: 'Bearer <ACCESS_TOKEN>' }
    }
  ]
})
export type ConnectBody = Static<typeof ConnectBodySchema>

export const AcceptBody = Type.Object({
  tools: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 256,
    description: "The server's names of the tools; absent: all of them"
  })),
  digest: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'The `digest` of the server as it was shown; with another one, nothing is accepted'
  }))
}, { additionalProperties: false, examples: [{ digest: '0f3a9c21d4b7e856' }, { tools: ['search_issues'] }] })

/** The settings of a server that can be changed without sending its environment again. */
export const ServerSettingsSchema = Type.Object(mcpSettings, {
  $id: 'ToolServerSettings',
  additionalProperties: false,
  minProperties: 1,
  examples: [{ enabled: true, tools: { allow: ['search_*', 'get_*'], deny: ['get_secret'] } }]
})
export type ServerSettings = Static<typeof ServerSettingsSchema>

export const ConnectedSchema = Type.Object({
  status: oneOf(['connected', 'disabled'], '`disabled`: it was saved and not connected, as `enabled` is false'),
  tools: Type.Array(Type.String(), { description: 'Names of the tools that the server offers' })
}, { $id: 'Connected', description: 'The server is connected and saved' })

export const AuthorizingSchema = Type.Object({ status: Type.Literal('authorizing'), authorizationUrl: AuthorizationUrl }, {
  $id: 'Authorizing',
  description: 'The server is saved, and connected once its user has authorized the service'
})

export const DisconnectedSchema = Type.Object({
  status: Type.Literal('disconnected'),
  name: Type.String(),
  warning: Type.Optional(Type.String({ description: 'The access that could not be revoked at its authorization server' }))
}, {
  $id: 'Disconnected',
  description: 'The server was stopped and deleted from the configuration'
})
