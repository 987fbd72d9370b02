import fp from 'fastify-plugin'
import type { StoredAuthorizations } from '../services/mcp/oauth/authorizations.ts'
import type { StoredAcceptance } from '../services/mcp/acceptance.ts'
import type { StoredTools } from '../services/mcp/known-tools.ts'
import type { GivenNames } from '../services/mcp/merged-sources.ts'
import { createToolServers, type ToolServers } from '../services/mcp/tool-servers.ts'
import { RECORDS } from '../services/store/keys.ts'

declare module 'fastify' {
  interface FastifyInstance {
    mcp: ToolServers
  }
}

/** MCP tool servers. They are connected after the service listens, or earlier if a run needs their tools. */
export default fp(async (app) => {
  const { config, clock, store, tools: host, secrets, usualFolder, sandbox, log } = app
  const mcp: ToolServers = createToolServers({
    config,
    stored: store.record<Record<string, string>>(RECORDS.toolServers, () => ({})),
    storedAccess: store.record<StoredAuthorizations>(RECORDS.toolServerAccess, () => ({})),
    rules: {
      allowPrivate: () => config.current.fetch?.allowPrivate ?? false,
      ownPorts: app.ownPorts
    },
    names: store.record<GivenNames>(RECORDS.toolNames, () => ({})),
    known: store.record<StoredTools>(RECORDS.toolDefinitions, () => ({})),
    accepted: store.record<StoredAcceptance>(RECORDS.toolAcceptance, () => ({})),
    host,
    refusedTools: app.providers.refusedTools,
    clock,
    variables: process.env,
    secrets: secrets.all,
    ownSecrets: () => secrets.allBut(mcp.secrets),
    cwd: usualFolder,
    box: sandbox,
    log
  })
  app.decorate('mcp', mcp)
  secrets.add(mcp.secrets)
  app.addHook('onListen', async () => {
    mcp.start().catch((error) => log.error({ err: error }, 'the tool servers could not be started'))
  })
  app.addHook('onClose', app.shutdown.addPart('tool servers', mcp.close))
}, { name: 'mcp', dependencies: ['clock', 'config', 'providers', 'sandbox', 'shutdown', 'store', 'tools'] })
