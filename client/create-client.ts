import { createClientConfig } from './config.ts'
import { createClient as create, createConfig, type Client, type Config } from './generated/client/index.ts'

export type { Client }

/** Creates a client of one service to pass to the generated functions: `health({ client })`. `auth` is the token, if there is one. */
export function createClient (config: Config = {}): Client {
  return create(createClientConfig(createConfig({ baseUrl: 'http://127.0.0.1:3001', ...config })))
}
