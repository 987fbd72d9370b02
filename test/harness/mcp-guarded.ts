import { guardedBy, startAuthorizationServer, type AuthorizationServerOptions } from '../fakes/authorization-server.ts'
import { startToolServer } from './mcp-http.ts'

/** A tool server over HTTP that takes the tokens of an authorization server only; `resource` changes the metadata that lead there. */
export async function startGuarded (
  t: { teardown(handler: () => unknown): unknown },
  options: AuthorizationServerOptions = {},
  resource?: (metadata: Record<string, unknown>) => object
) {
  const authorization = await startAuthorizationServer(t, options)
  const server = await startToolServer(t, guardedBy(authorization, resource))
  return { authorization, server }
}

/** What the user's browser does: opens the page and follows where it is sent. */
export async function browse (url: string) {
  const response = await fetch(url)
  return { status: response.status, text: await response.text(), headers: response.headers }
}
