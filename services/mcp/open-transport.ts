import type { McpEntry } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import type { EnvironmentValues } from './environment-values.ts'
import type { ServerAccess } from './oauth/server-access.ts'
import { createTransport } from './guarded-transport.ts'
import type { ServerTransport } from './server-transport.ts'
import type { StderrTail } from './stderr-tail.ts'

interface Parts {
  environments: EnvironmentValues
  /** What the user has authorized at the server. */
  access?: ServerAccess
  /** Values of the entry that are not stored yet. */
  given?: Record<string, string>
  clock: Clock
  tail: StderrTail
}

/** Creates the transport of an entry: to a child process, or over HTTP. Throws an Error that names a missing value. */
export async function openTransport (entry: McpEntry, { environments, access, given, clock, tail }: Parts): Promise<ServerTransport> {
  if (entry.url === undefined) return createTransport({ spawn: () => environments.spawn(entry, given), clock, tail })
  const { url, headers } = environments.address(entry, given)
  const { createHttpTransport } = await import('./http/http-transport.ts')
  return createHttpTransport({ url, headers, ...access && { access }, clock, tail })
}
