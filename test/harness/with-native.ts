import type { Settings } from '../../settings.ts'
import type { Plan } from '../fakes/gateway.ts'
import { startModelServer, type ModelServerOptions, type ServerRequest } from '../fakes/model-server.ts'
import { build } from './helper.ts'
import type { NativeWire } from './native-wires.ts'

/**
 * Starts the service with a fake native API as its model. `reply` returns the answer to the n-th streamed call, counted from 0. The
 * analysis is off unless `config` turns it on.
 */
export async function withNative (
  t: Parameters<typeof build>[0],
  { kind, wire, model }: NativeWire,
  reply: (request: ServerRequest, nth: number) => Plan | undefined,
  { config, server: options, ...settings }: Partial<Settings> & { config?: object, server?: ModelServerOptions } = {}
) {
  let calls = 0
  const server = await startModelServer(wire, { reply: (request) => request.streaming ? reply(request, calls++) : undefined, ...options })
  t.teardown(() => server.close())
  const app = await build(t, {
    config: {
      model: `${kind}/${model}`,
      analysis: false,
      threads: { titles: false },
      providers: { [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } },
      ...config
    },
    ...settings
  })
  return { app, server, bodies: () => server.calls.filter(({ streaming }) => streaming).map(({ body }) => body) }
}
