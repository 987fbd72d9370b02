import { Type, type Static } from '@sinclair/typebox'
import * as examples from './examples/mcp.ts'
import { McpApproval } from './config.ts'

export const ServerName = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  description: 'Up to 64 letters, digits, dots, dashes and underscores'
})
const Whatever = (description: string) => Type.Object({}, { additionalProperties: true, description })

const view = {
  name: Type.String({ description: 'Unique name of the connection' }),
  status: Type.Union([Type.Literal('connecting'), Type.Literal('connected'), Type.Literal('disconnected'), Type.Literal('failed')], {
    description:
      '`disconnected`: it was connected and is lost; `failed`: it could not be connected. Both are tried again, after 1 s at first and 60 s at most'
  }),
  tools: Type.Array(Type.String(), { description: 'Names of the tools the server offers' }),
  error: Type.Optional(Type.String({ description: 'Why it is not connected' }))
}
export const ToolServerSchema = Type.Object(view, {
  $id: 'ToolServer',
  description: 'A tool server and how it stands',
  examples: [examples.server]
})
export type ToolServerView = Static<typeof ToolServerSchema>

export const ToolServerListSchema = Type.Object({ servers: Type.Array(Type.Object(view)) }, {
  $id: 'ToolServerList',
  description: 'The tool servers, in the order of config.json',
  examples: [examples.servers]
})

export const ToolServerDetailSchema = Type.Object({
  ...view,
  command: Type.String(),
  toolDetails: Type.Array(Type.Object({
    name: Type.String({ description: 'As the server knows it' }),
    agentName: Type.Optional(Type.String({ description: 'As the agent knows it; absent where config.permissions denies it' })),
    description: Type.String(),
    inputSchema: Whatever('JSON Schema of its input, as the server gave it'),
    annotations: Type.Optional(Whatever('What the server says of the tool'))
  })),
  resources: Type.Array(
    Type.Object({
      uri: Type.String(),
      name: Type.String(),
      description: Type.Optional(Type.String()),
      mimeType: Type.Optional(Type.String())
    })
  ),
  prompts: Type.Array(Type.Object({ name: Type.String(), description: Type.Optional(Type.String()) })),
  capabilities: Whatever('What the server said it can do'),
  instructions: Type.Optional(Type.String({ description: 'What the server says of itself; models are shown it as its words' })),
  version: Type.Optional(Whatever('Name and version of the program')),
  warnings: Type.Array(Type.String(), { description: 'What of it is not used, and why' }),
  stderr: Type.String({ description: 'The last of what it wrote to stderr, secrets struck out' })
}, { $id: 'ToolServerDetail', description: 'All about a tool server', examples: [examples.detail] })
export type ToolServerDetail = Static<typeof ToolServerDetailSchema>

export const ConnectBodySchema = Type.Object({
  name: ServerName,
  command: Type.String({ minLength: 1, maxLength: 4096, description: 'Program to start, looked up in the PATH; no shell reads it' }),
  args: Type.Optional(Type.Array(Type.String({ maxLength: 32_768 }), { maxItems: 256 })),
  env: Type.Optional(Type.Record(Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$' }), Type.String({ maxLength: 32_768 }), {
    additionalProperties: false,
    propertyNames: { pattern: '^[A-Za-z_][A-Za-z0-9_.-]{0,127}$', description: 'A name of an environment variable' },
    description: 'Variables for the program; kept encrypted'
  })),
  approval: Type.Optional(McpApproval)
}, { $id: 'ConnectBody', additionalProperties: false, examples: [examples.connect] })
export type ConnectBody = Static<typeof ConnectBodySchema>

export const ConnectedSchema = Type.Object({
  status: Type.Literal('connected'),
  tools: Type.Array(Type.String(), { description: 'The tools that were found' })
}, { $id: 'Connected', description: 'The server is connected and saved', examples: [examples.connected] })

export const DisconnectedSchema = Type.Object({ status: Type.Literal('disconnected'), name: Type.String() }, {
  $id: 'Disconnected',
  description: 'The server has ended and is forgotten',
  examples: [examples.disconnected]
})
