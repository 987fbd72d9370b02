import type { ClientOptions, Config } from './generated/client/index.ts'

/**
 * Returns the initial configuration of every client. A stream that fails throws in its reader, and no request is retried,
 * because a second POST /run would start a second run.
 */
export function createClientConfig<T extends ClientOptions> (config?: Config<T>): Config<Required<ClientOptions> & T> {
  return { ...config, sseMaxRetryAttempts: 1, onSseError: rethrow } as Config<Required<ClientOptions> & T>
}

function rethrow (error: unknown): never {
  throw error
}
