import type { Settings } from '../../settings.ts'
import { startFakeGateway, type GatewayRequest, type Plan } from '../fakes/gateway.ts'
import { build } from './helper.ts'

type Reply = (request: GatewayRequest, nth: number) => Plan | undefined | Promise<Plan | undefined>

/**
 * Starts the service with a model behind the fake gateway. `reply` returns the answer to the model's n-th streamed call, counted from 0.
 * The analysis is off unless `config` turns it on. `structured` returns the answers to structured calls.
 */
export async function withGateway (
  t: Parameters<typeof build>[0],
  reply: Reply,
  { config, structured, ...settings }: Partial<Settings> & {
    config?: object,
    structured?: (name: string, request: GatewayRequest) => Plan | Promise<Plan>
  } = {}
) {
  let calls = 0
  const gateway = await startFakeGateway({
    reply: (request) => request.structured === undefined ? reply(request, calls++) : structured?.(request.structured, request)
  })
  t.teardown(() => gateway.close())
  const app = await build(t, {
    gatewayKey: 'the-key',
    gatewayBaseURL: gateway.url,
    config: { model: 'test/model', analysis: false, threads: { titles: false }, ...config },
    ...settings
  })
  return { app, gateway, systemOf: (n: number): string => gateway.requests[n].body.prompt[0].content }
}
