import { Type, type Static } from '@sinclair/typebox'
import { oneOf, ref } from './common.ts'

const Entries = (description: string) => Type.Optional(Type.Object({}, { additionalProperties: true, description }))

const STATUSES = ['saved', 'replaced', 'unchanged', 'exists', 'incomplete', 'refused'] as const

/** The body of an import. Unknown keys are allowed, because users send whole configuration files of other programs. */
export const ImportBodySchema = Type.Object({
  text: Type.Optional(Type.String({
    minLength: 1,
    maxLength: 262_144,
    description: 'The text that a README shows, unchanged: with comments, in a fenced block, or without the outer braces'
  })),
  mcpServers: Entries('Entries by name, as Claude Desktop and Cursor have them'),
  servers: Entries('Entries by name, as VS Code has them'),
  mcp: Entries('The settings of VS Code: `servers` and `inputs` below `mcp`'),
  inputs: Type.Optional(Type.Array(Type.Unknown(), { maxItems: 256, description: 'The inputs of VS Code, which say what is asked for' })),
  values: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 32_768 }), {
    description: 'Values for the inputs of VS Code, by id; stored encrypted'
  })),
  replace: Type.Optional(Type.Boolean({ description: 'Whether servers of the same names are replaced; they stay by default' }))
}, {
  $id: 'ImportServersBody',
  additionalProperties: true,
  minProperties: 1,
  description: 'The servers that a README or the configuration file of another program names: as `text`, or as the object itself',
  examples: [
    { mcpServers: { docs: { command: '/opt/example/docs-server', args: ['--quiet'], env: { DOCS_HOME: '/srv/docs' } } } },
    { text: '"tickets": { "type": "http", "url": "http://127.0.0.1:4117/mcp" }' }
  ]
})
export type ImportBody = Static<typeof ImportBodySchema>

export const ImportedServerSchema = Type.Object({
  from: Type.String({ description: 'The name in what was sent' }),
  name: Type.String({ description: 'The name of the connection' }),
  status: oneOf(STATUSES, {
    description: '`saved`, `replaced`: it is in config.json and being connected, or waits for its user with `variables`. ' +
      '`unchanged`: it was there with the same settings. ' +
      'Nothing was saved of the others: `exists`, another server has its name; `incomplete`, `inputs` lack values; `refused`, see `message`'
  }),
  message: Type.String({ description: 'What was done, and why, in a line' }),
  inputs: Type.Optional(Type.Array(
    Type.Object({ id: Type.String(), description: Type.Optional(Type.String({ description: 'What the file says of it' })) }),
    { description: 'The inputs of VS Code that lack values' }
  )),
  variables: Type.Optional(Type.Array(Type.String(), {
    description: 'The variables of the environment that it gets; it is not connected before it is accepted'
  }))
}, { $id: 'ImportedServer', description: 'The outcome of one entry' })
export type ImportedServer = Static<typeof ImportedServerSchema>

export const ImportedServersSchema = Type.Object({ servers: Type.Array(ref(ImportedServerSchema)) }, {
  $id: 'ImportedServers',
  description: 'The outcome of each entry, in the order of the request'
})
