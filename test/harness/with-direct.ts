import { writeFileSync } from 'node:fs'
import type { Settings } from '../../settings.ts'
import { startFakeOpenAI, type FakeOpenAIOptions, type OpenAIRequest, type Plan } from '../fakes/openai.ts'
import { build } from './helper.ts'

type Reply = (request: OpenAIRequest, nth: number) => Plan | undefined | Promise<Plan | undefined>

/**
 * Starts the service with `ollama/llama3` of a fake OpenAI-compatible server as its model. `reply` returns the answer to the n-th streamed
 * call, counted from 0. The analysis is off unless `config` turns it on.
 */
export async function withDirect (
  t: Parameters<typeof build>[0],
  reply: Reply = () => undefined,
  { config, provider, providers, server: options, ...settings }: Partial<Settings> & {
    config?: object,
    /** Settings of the provider, in addition to the address. */
    provider?: { apiKey?: string, models?: string[], local?: boolean },
    /** Further providers. */
    providers?: object,
    server?: FakeOpenAIOptions
  } = {}
) {
  let calls = 0
  const server = await startFakeOpenAI({
    reply: (request) => request.structured === undefined ? reply(request, calls++) : undefined,
    ...options
  })
  t.teardown(() => server.close())
  const whole = {
    ...{ model: 'ollama/llama3', analysis: false },
    providers: { ollama: { baseURL: server.url, ...provider }, ...providers },
    ...config
  }
  const app = await build(t, { config: whole, ...settings })
  return {
    app,
    server,
    /** Writes another config.json and makes the service load it. */
    async reload (config: object) {
      writeFileSync(`${app.home}/config.json`, JSON.stringify(config))
      return app.inject({ method: 'POST', url: '/config/reload' })
    },
    config: whole
  }
}
