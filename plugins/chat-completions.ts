import fp from 'fastify-plugin'
import type { ChatCompletions } from '../services/runs/streams/openai/chat-completions.ts'

declare module 'fastify' {
  interface FastifyInstance {
    /** OpenAI's chat completions; loaded on first use. */
    chatCompletions: () => Promise<ChatCompletions>
    chatErrors: () => Promise<typeof import('../services/runs/streams/openai/chat-errors.ts')>
  }
}

/** The door for clients of OpenAI's chat completions. */
export default fp(async (app) => {
  const { agent, agents, providers, ledger, engine, clock } = app
  let loading: Promise<ChatCompletions> | undefined

  async function load (): Promise<ChatCompletions> {
    const { createChatCompletions } = await import('../services/runs/streams/openai/chat-completions.ts')
    return createChatCompletions({
      run: (body) => agent.run({ ...body, isOneOff: true }, 'documented'),
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
      clock
    })
  }

  app.decorate('chatCompletions', () => (loading ??= load()))
  app.decorate('chatErrors', () => import('../services/runs/streams/openai/chat-errors.ts'))
}, { name: 'chat-completions', dependencies: ['agent', 'agents', 'providers', 'ledger', 'engine', 'web', 'clock'] })
