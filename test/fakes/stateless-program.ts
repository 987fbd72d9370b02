// The server of MCP 2026-07-28 over stdio, for clients of this revision only.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { makeStatelessServer } from './stateless-server.ts'

serveStdio(() => makeStatelessServer(), { legacy: 'reject' })
