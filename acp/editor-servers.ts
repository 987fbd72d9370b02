import type { McpServer } from '@agentclientprotocol/sdk'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Tool as ServerTool } from '@modelcontextprotocol/sdk/types.js'
import type { Tool } from '../client/index.ts'
import { acceptAll } from '../services/mcp/accept-all.ts'
import { VERSION } from '../services/lib/version.ts'

/** How long a server may take to connect and list its tools, in milliseconds. */
const CONNECT_MS = 15_000
/** How long a call may take, in milliseconds. */
const CALL_MS = 10 * 60_000
/** The service's limits for application tools: the number of tools, and the characters of one schema and of all schemas together. */
const MOST_TOOLS = 256
const LARGEST_SCHEMA = 32 * 1024
const LARGEST_SCHEMAS = 256 * 1024
const LONGEST_DESCRIPTION = 8_000
const LONGEST_NAME = 64

/** The tools of an editor's servers for one session, and a sentence for each server that could not be connected. */
interface EditorServers {
  tools: Record<string, Tool>
  problems: string[]
  close: () => Promise<void>
}

/**
 * Connects the tool servers that an editor gives to one session. This process executes their tools as application tools, so the service
 * asks about each call and no other conversation has the tools. A failed connection adds a sentence to `problems` and never throws.
 */
export async function connectServers (servers: readonly McpServer[], cwd: string): Promise<EditorServers> {
  const clients: Client[] = []
  const problems: string[] = []
  const tools: Record<string, Tool> = {}
  let characters = 0

  async function connect (server: McpServer): Promise<void> {
    const { name } = server
    try {
      const client = await openClient(server, cwd)
      clients.push(client)
      const { tools: listed } = await client.listTools({}, { timeout: CONNECT_MS })
      for (const tool of listed) add(name, client, tool)
    } catch (error) {
      problems.push(`The tool server "${name}" of the editor is not connected: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  function add (server: string, client: Client, tool: ServerTool): void {
    const name = `${server}_${tool.name}`.replace(/[^A-Za-z0-9_-]+/g, '_').replace(/^[^A-Za-z]+/, '').slice(0, LONGEST_NAME)
    const { length } = JSON.stringify(tool.inputSchema)
    const isTooMuch = length > LARGEST_SCHEMA || characters + length > LARGEST_SCHEMAS || Object.keys(tools).length >= MOST_TOOLS
    if (name === '' || name in tools || isTooMuch) {
      problems.push(`The tool "${tool.name}" of "${server}" is left out: ${isTooMuch ? 'it is too large' : 'another one has its name'}.`)
      return
    }
    characters += length
    tools[name] = {
      description: (tool.description || tool.title || tool.name).slice(0, LONGEST_DESCRIPTION),
      inputSchema: tool.inputSchema,
      // A server's own claim that its tools are harmless does not skip the approval.
      effect: 'external',
      async execute (input, { signal }) {
        const result = await client.callTool({ name: tool.name, arguments: input }, undefined, { signal, timeout: CALL_MS })
        if (result.isError === true) throw new Error(textIn(result.content) || 'The tool failed.')
        return result.structuredContent ?? { content: result.content }
      }
    }
  }

  await Promise.all(servers.map(connect))
  return { tools, problems, close: async () => void await Promise.allSettled(clients.map((client) => client.close())) }
}

const textIn = (content: unknown): string =>
  (Array.isArray(content) ? content : []).map((part) => typeof part?.text === 'string' ? part.text : '').join('\n').trim()

async function openClient (server: McpServer, cwd: string): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const client = new Client({ name: 'local-agent', version: VERSION }, { jsonSchemaValidator: acceptAll })
  const options = { timeout: CONNECT_MS }
  if ('command' in server) {
    const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
    const { command, args, env } = server
    const values = Object.fromEntries(env.map(({ name, value }) => [name, value]))
    const transport = new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...values }, cwd, stderr: 'ignore' })
    await client.connect(transport, options).catch(async (error) => {
      await transport.close().catch(() => {})
      throw error
    })
    return client
  }
  if (server.type !== 'http') throw new Error('servers over SSE are not supported: give its address as a server of type http.')
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]))
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }), options)
  return client
}
