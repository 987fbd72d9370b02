import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { startFakeGateway, type FakeGatewayOptions } from '../fakes/gateway.ts'

export const test = (app: App, payload?: object) => app.inject({ method: 'POST', url: '/providers/test', ...payload && { payload } })

export async function gatewayFor (t: Test, options: FakeGatewayOptions = {}) {
  const gateway = await startFakeGateway(options)
  t.teardown(() => gateway.close())
  return { gateway, keys: { gatewayKey: 'the-key', gatewayBaseURL: gateway.url } }
}
