// A tool server over stdio, made with version 2 of the official SDK. It has a resource, and a tool with an input and an output schema.
import { McpServer } from '@modelcontextprotocol/server'
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

const server = new McpServer({ name: 'sdk2', version: '1' })

server.registerTool('convert', {
  description: 'Converts a length to metres.',
  inputSchema: z.object({ value: z.number(), unit: z.enum(['ft', 'mi']).default('ft') }),
  outputSchema: z.object({ metres: z.number() })
}, ({ value, unit }) => {
  const structuredContent = { metres: value * (unit === 'ft' ? 0.3048 : 1609.344) }
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
})

server.registerResource('note', 'note://today', { mimeType: 'text/plain' }, async ({ href }) => ({
  contents: [{ uri: href, text: 'Buy tea' }]
}))

await server.connect(new StdioServerTransport())
