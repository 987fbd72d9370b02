import { Type, type Static } from '@sinclair/typebox'
import { ref } from './common.ts'

const Opaque = (description: string) => Type.Object({}, { additionalProperties: true, description })

/** The fields that a server's list gives for an entry in addition to the name. */
export const entryNames = {
  title: Type.Optional(Type.String({ description: 'Its name for people' })),
  description: Type.Optional(Type.String()),
  icons: Type.Optional(Type.Array(Opaque('An icon as MCP has it: `src`, `mimeType`, `sizes`'), {
    description: 'As the server gives them: an address is not loaded by the service, and need not be trusted'
  })),
  _meta: Type.Optional(Opaque('What the server adds for applications, unchanged'))
}

export const PromptSchema = Type.Object({
  server: Type.String(),
  name: Type.String(),
  ...entryNames,
  arguments: Type.Array(Type.Object({ name: Type.String(), ...entryNames, required: Type.Optional(Type.Literal(true)) }))
}, { $id: 'Prompt', description: 'A prompt of a tool server, for a person to choose' })
export type PromptView = Static<typeof PromptSchema>

export const PromptListSchema = Type.Object({
  prompts: Type.Array(ref(PromptSchema)),
  failed: Type.Array(Type.Object({ server: Type.String(), error: Type.String() }), {
    description: 'Servers that did not list their prompts'
  })
}, { $id: 'PromptList', description: 'The prompts of the connected tool servers' })

export const PromptChoiceSchema = Type.Object({
  server: Type.String({ minLength: 1, maxLength: 256 }),
  name: Type.String({ minLength: 1, maxLength: 256 }),
  arguments: Type.Optional(Type.Record(Type.String({ maxLength: 1_000 }), Type.String({ maxLength: 100_000 })))
}, {
  additionalProperties: false,
  description: 'A prompt of a tool server (`GET /mcp/prompts`), in front of `message` or of the last of `messages`, or in their place. ' +
    'In the thread its words are quoted in the message of the user, with the name of the server. Later requests leave them out'
})
export type PromptChoice = Static<typeof PromptChoiceSchema>
