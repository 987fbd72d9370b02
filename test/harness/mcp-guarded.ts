import { guardedBy, startAuthorizationServer, type AuthorizationServerOptions } from '../fakes/authorization-server.ts'
import { startToolServer } from './mcp-http.ts'

/**
 * Starts a tool server over HTTP that accepts only tokens of an authorization server; `resource` changes the metadata that names that
 * server.
 */
export async function startGuarded (
  t: { teardown(handler: () => unknown): unknown },
  options: AuthorizationServerOptions = {},
  resource?: (metadata: Record<string, unknown>) => object
) {
  const authorization = await startAuthorizationServer(t, options)
  const server = await startToolServer(t, guardedBy(authorization, resource))
  return { authorization, server }
}

/** Acts as the user's browser: opens the page and follows its redirects. */
export async function browse (url: string) {
  const response = await fetch(url)
  return { status: response.status, text: await response.text(), headers: response.headers }
}
