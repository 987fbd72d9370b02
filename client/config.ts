import type { ClientOptions, Config } from './generated/client/index.ts'

/**
 * How every client starts out. A stream that fails is an error of whoever reads it, and no request is sent twice: a
 * second POST /run would be a second run.
 */
export function createClientConfig<T extends ClientOptions> (config?: Config<T>): Config<Required<ClientOptions> & T> {
  return { ...config, sseMaxRetryAttempts: 1, onSseError: rethrow } as Config<Required<ClientOptions> & T>
}

function rethrow (error: unknown): never {
  throw error
}
