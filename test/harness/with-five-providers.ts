import { chatWire } from '../fakes/openai-wire.ts'
import { startFakeGateway } from '../fakes/gateway.ts'
import { startModelServer, type ServerRequest } from '../fakes/model-server.ts'
import type { Plan } from '../fakes/gateway-plan.ts'
import type { Settings } from '../../settings.ts'
import { build } from './helper.ts'
import { NATIVE_WIRES } from './native-wires.ts'

/** A model of each kind of provider, by kind. */
export const MODELS = {
  openai: 'openai/gpt-6-sol',
  anthropic: 'anthropic/claude-sonnet-5-5',
  google: 'google/gemini-3.8-flash',
  compatible: 'ollama/llama3',
  gateway: 'test/model'
}
export type KindOfProvider = keyof typeof MODELS
export const KINDS = Object.keys(MODELS) as KindOfProvider[]

/** Starts fake servers of five kinds of providers, and makes the configuration that names them. `reply` returns their answers. */
export async function startFiveProviders (
  t: Parameters<typeof build>[0],
  reply: (kind: KindOfProvider, request: Pick<ServerRequest, 'body'>) => Plan | undefined = () => undefined
) {
  const sent = Object.fromEntries(KINDS.map((kind) => [kind, [] as object[]])) as Record<KindOfProvider, object[]>
  const take = (kind: KindOfProvider) => (request: Pick<ServerRequest, 'body' | 'streaming'>) => {
    if (request.streaming) sent[kind].push(request.body)
    return reply(kind, request)
  }
  const native = NATIVE_WIRES.map(({ kind, wire }) => ({ name: kind as KindOfProvider, wire }))
  const wires = [...native, { name: 'compatible' as const, wire: chatWire }]
  const servers = await Promise.all(wires.map(async ({ name, wire }) => {
    const server = await startModelServer(wire, { reply: take(name) })
    t.teardown(() => server.close())
    return [name, server.url] as const
  }))
  const gateway = await startFakeGateway({ reply: take('gateway') })
  t.teardown(() => gateway.close())
  const urls = Object.fromEntries(servers)
  return {
    /** Returns the body of the last streamed call to this kind of provider. */
    lastBody: (kind: KindOfProvider): any => sent[kind].at(-1),
    bodies: (kind: KindOfProvider) => sent[kind],
    gatewayBaseURL: gateway.url,
    config: {
      model: MODELS.openai,
      analysis: false,
      threads: { titles: false },
      providers: {
        ...Object.fromEntries(NATIVE_WIRES.map(({ kind }) => [kind, { kind, baseURL: urls[kind], apiKey: 'a-key' }])),
        ollama: { baseURL: urls.compatible }
      }
    }
  }
}

/** Starts the service with a model of each kind of provider. */
export async function withFiveProviders (
  t: Parameters<typeof build>[0],
  reply?: Parameters<typeof startFiveProviders>[1],
  settings: Partial<Settings> = {}
) {
  const { config, gatewayBaseURL, ...providers } = await startFiveProviders(t, reply)
  return { app: await build(t, { config, gatewayBaseURL, gatewayKey: 'the-key', ...settings }), ...providers }
}
