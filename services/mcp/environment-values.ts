import type { McpAddress, McpEntry, McpProcess } from '../../schemas/config.ts'
import type { Clock } from '../lib/clock.ts'
import { childEnvironment, type GuardedChild, spawnGuarded } from '../process/index.ts'
import { emptyIfDamaged, type StoredRecord } from '../store/index.ts'
import { showQuery } from './secret-query.ts'
import { resolveValues, secretsIn, secretsInHeaders, valuesOfServer, valuesWithoutServer, type Values } from './server-environment.ts'

export interface EnvironmentParts {
  /** Values of environments that POST /mcp/connect was given. They are encrypted, and kept nowhere else. */
  stored: StoredRecord<Values>
  clock: Clock
  /** The service's own environment. */
  variables: NodeJS.ProcessEnv
  /** All secrets of the service. */
  secrets: () => string[]
  cwd: () => string
}

export type EnvironmentValues = ReturnType<typeof createEnvironmentValues>

/** Holds the environments and headers of the tool servers: stores their values, starts servers with them and knows which are secret. */
export function createEnvironmentValues ({ stored, clock, variables, secrets, cwd }: EnvironmentParts) {
  /** Every value that a server was started with, and the subset that counts as secret. */
  const seen = new Set<string>()
  const secretValues = new Set<string>()
  let values: Values = {}

  async function update (change: (before: Values) => Values): Promise<void> {
    values = await stored.update(change).catch((error) => stored.replace(change(emptyIfDamaged(error))))
  }

  function resolve (entry: McpEntry, given: Values): Values {
    const resolved = resolveValues(entry, { ...values, ...given }, variables)
    for (const value of Object.values(resolved)) seen.add(value)
    return resolved
  }

  return {
    /** Reads the stored values. A damaged record counts as empty; rejects when the store cannot be read. */
    async load (): Promise<void> {
      values = await stored.get().catch(emptyIfDamaged)
    },

    /** Starts the process of an entry. `given` holds values that are not stored yet. Throws an Error that names a missing value. */
    async spawn (entry: McpProcess, given: Values = {}): Promise<GuardedChild> {
      const env = resolve(entry, given)
      for (const value of secretsIn(env)) secretValues.add(value)
      const { command, args = [] } = entry
      return spawnGuarded(command, args, { cwd: cwd(), env: { ...childEnvironment(variables, secrets()), ...env }, stdin: 'pipe', clock })
    },

    /** The address and the headers of an entry's requests. Throws an Error that names a missing value. */
    address (entry: McpAddress, given: Values = {}): { url: URL, headers: Values } {
      const headers = resolve(entry, given)
      const { url, values: parameters } = showQuery(entry.url, { ...values, ...given })
      for (const value of [...secretsInHeaders(headers), ...Object.values(parameters)]) {
        seen.add(value)
        secretValues.add(value)
      }
      return { url, headers }
    },

    /** The stored values of a server. */
    of: (server: string): Values => valuesOfServer(values, server),

    /** Replaces the stored values of a server by `next`, durably. */
    replace: (server: string, next: Values): Promise<void> => update((before) => ({ ...valuesWithoutServer(before, server), ...next })),

    /** Values that no other child may see. */
    secrets: (): string[] => [...secretValues],

    /**
     * Values to redact in errors and in stderr: all of at least 8 characters but paths and plain words. Text for diagnosis
     * suffers little when too much is redacted.
     */
    longValues: (): string[] => [...seen].filter((value) => value.length >= 8 && !/^[./~]|^[a-z]+$/i.test(value))
  }
}
