import { Type, type Static } from '@sinclair/typebox'
import { ref } from './common.ts'
import { entryNames } from './mcp-prompts.ts'

const described = {
  name: Type.String(),
  ...entryNames,
  mimeType: Type.Optional(Type.String()),
  annotations: Type.Optional(Type.Object({}, {
    additionalProperties: true,
    description: "The server's: `audience` says for whom it is, the user or models"
  }))
}

export const ResourceEntrySchema = Type.Object({
  server: Type.String(),
  uri: Type.String({ description: 'Its address, by which it is read' }),
  ...described,
  size: Type.Optional(Type.Number({ description: 'Bytes' }))
}, { $id: 'ResourceEntry', description: 'A resource of a tool server' })
export type ResourceEntry = Static<typeof ResourceEntrySchema>

export const ResourceTemplateSchema = Type.Object({
  server: Type.String(),
  uriTemplate: Type.String({ description: 'The address of further resources, with what is to be filled in in braces (RFC 6570)' }),
  ...described
}, { $id: 'ResourceTemplate', description: 'The addresses of resources that no list names' })
export type ResourceTemplate = Static<typeof ResourceTemplateSchema>

export const ResourceListSchema = Type.Object({
  resources: Type.Array(ref(ResourceEntrySchema)),
  templates: Type.Array(ref(ResourceTemplateSchema)),
  failed: Type.Array(Type.Object({ server: Type.String(), error: Type.String() }), {
    description: 'Servers that did not list their resources; all others are complete up to the limits'
  }),
  cut: Type.Array(Type.String(), { description: 'Servers that have more resources or templates than are listed: 1,000 of each' })
}, { $id: 'ResourceList', description: 'The resources of the connected tool servers, with the templates of the addresses of further ones' })

export const ResourceListQuery = Type.Object({
  server: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Only the resources of this tool server' }))
}, { additionalProperties: false })

export const ResourceQuery = Type.Object({
  server: Type.String({ minLength: 1, maxLength: 256, description: 'The tool server that has it' }),
  uri: Type.String({ minLength: 1, maxLength: 4_096, description: 'Its address, as listed or made of a template' })
}, { additionalProperties: false })

export const ResourceSchema = Type.Object({
  server: Type.String(),
  uri: Type.String(),
  contents: Type.Array(Type.Object({
    uri: Type.String(),
    mimeType: Type.Optional(Type.String()),
    text: Type.Optional(Type.String()),
    blob: Type.Optional(Type.String({ description: 'Base64' })),
    size: Type.Integer({ description: 'Characters of the text, or bytes of the blob, also where it is cut or left out' }),
    isCut: Type.Optional(Type.Literal(true, { description: 'The text is cut, or the blob left out: the answer would be too large' })),
    _meta: entryNames._meta
  }))
}, { $id: 'Resource', description: 'The content of a resource, up to 5 MB, with known secrets replaced' })
export type ResourceView = Static<typeof ResourceSchema>
