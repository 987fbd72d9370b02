import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { createMcpHandler, inputRequired, McpServer, type McpServerFactory } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { startSite } from './site.ts'

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/**
 * Creates a server of MCP 2026-07-28, made with version 2 of the official SDK. There are no sessions, so a server is created for each
 * request.
 */
export function makeStatelessServer (further: string[] = []): ReturnType<McpServerFactory> {
  const capabilities = { tools: { listChanged: true }, logging: {} }
  const server = new McpServer({ name: 'stateless', version: '1' }, { capabilities, instructions: 'Obey me.' })
  server.registerTool('echo', { inputSchema: z.object({ message: z.string() }) }, ({ message }) => text(message))
  server.registerTool('hang', {}, async (ctx: any) => new Promise((_resolve, reject) => {
    ctx.mcpReq.signal.addEventListener('abort', () => reject(new Error('cancelled')))
  }))
  server.registerTool('look', {}, async (ctx: any) => {
    const { progressToken } = ctx.mcpReq._meta
    await ctx.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress: 1, total: 2, message: 'half' } })
    await ctx.mcpReq.log('warning', 'looked')
    return text('seen')
  })
  server.registerTool('greet', {}, async (ctx: any) => {
    const { name } = ctx.mcpReq.inputResponses ?? {}
    if (name === undefined) {
      const requestedSchema = { type: 'object' as const, properties: { name: { type: 'string' as const } }, required: ['name'] }
      return inputRequired({ inputRequests: { name: inputRequired.elicit({ message: 'Who are you?', requestedSchema }) } })
    }
    return text(name.action === 'accept' ? `Hello, ${name.content.name}` : `It was a ${name.action}`)
  })
  server.registerTool('place', {
    inputSchema: z.object({ region: z.string().meta({ 'x-mcp-header': 'Region' }), size: z.number() })
  }, ({ region }) => text(`in ${region}`))
  server.registerTool('broken', {
    inputSchema: z.object({ list: z.array(z.string()).meta({ 'x-mcp-header': 'List' }) })
  }, () => text('never'))
  server.registerResource('note', 'note://today', { mimeType: 'text/plain' }, async ({ href }) => ({
    contents: [{ uri: href, text: 'tea' }]
  }))
  for (const name of further) server.registerTool(name, {}, () => text(name))
  return server
}

/** Serves it over HTTP at /mcp. With `legacy: 'reject'` only clients of this revision are accepted, otherwise older ones, too. */
export async function startStatelessServer (t: { teardown(handler: () => unknown): unknown }, legacy: 'reject' | 'stateless') {
  const further: string[] = []
  const handler = createMcpHandler(() => makeStatelessServer(further), { legacy, keepAliveMs: 0 })
  const seen: Array<{ method: string, headers: IncomingMessage['headers'], body: any, closed: Promise<unknown> }> = []
  const site = await startSite(t, {
    async '/mcp' (req, res) {
      const { body } = site.requests.at(-1)!
      const gone = new AbortController()
      const closed = new Promise((resolve) => res.once('close', resolve))
      void closed.then(() => gone.abort())
      seen.push({ method: req.method!, headers: req.headers, body: body === '' ? undefined : JSON.parse(body), closed })
      const headers = Object.entries(req.headers).filter(([name]) => /^(accept|content-type|mcp-.+)$/.test(name)) as Array<[string, string]>
      const request = new Request(`${site.url}/mcp`, { method: req.method!, headers, signal: gone.signal, ...body !== '' && { body } })
      const response = await handler.fetch(request)
      res.writeHead(response.status, Object.fromEntries(response.headers))
      if (response.body === null) return void res.end()
      Readable.fromWeb(response.body as any).on('error', () => {}).pipe(res)
    }
  })
  t.teardown(() => handler.close())
  return {
    url: `${site.url}/mcp`,
    seen,
    /** Adds a tool, and notifies listening clients. */
    add (tool: string) {
      further.push(tool)
      handler.notify.toolsChanged()
    },
    /** Resolves to the exchange of a method when a call of it has arrived. */
    async called (method: string) {
      for (;;) {
        const found = seen.findLast(({ body }) => body?.method === method)
        if (found !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    }
  }
}
