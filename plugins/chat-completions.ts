import fp from 'fastify-plugin'
import type { ChatCompletions } from '../services/runs/streams/openai/chat-completions.ts'
import { createFirstTries } from '../services/runs/streams/openai/first-tries.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** OpenAI's chat completions and responses; loaded on first use. */
    chatCompletions: () => Promise<ChatCompletions>
  }
}

/** The API for clients that speak OpenAI's chat completions or responses. */
export default fp(async (app) => {
  const { agent, agents, providers, ledger, engine, clock } = app
  const tries = createFirstTries(clock)
  let loading: Promise<ChatCompletions> | undefined

  async function load (): Promise<ChatCompletions> {
    const { createChatCompletions } = await import('../services/runs/streams/openai/chat-completions.ts')
    return createChatCompletions({
      run: (body, as, key) => agent.run({ ...body, ...as }, 'documented', key),
      stop: agent.stop,
      findItem: ledger.find,
      findRun: engine.runs.get,
      agents: agents.list,
      models: providers.models,
      activeModel: providers.active,
      isUsable: providers.usable,
      async loadPicture (url, signal) {
        const { bytes, mediaType } = await (await app.web()).picture(url, signal)
        return `data:${mediaType};base64,${bytes.toString('base64')}`
      },
      tries,
      clock
    })
  }

  app.decorate('chatCompletions', () => (loading ??= load()))
}, { name: 'chat-completions', dependencies: ['agent', 'agents', 'providers', 'ledger', 'engine', 'web', 'clock'] })
