import { startModelServer, type ModelServerOptions, type ServerRequest } from './model-server.ts'
import { chatWire } from './openai-wire.ts'

export type { Plan } from './gateway-plan.ts'
export type OpenAIRequest = ServerRequest
export type FakeOpenAIOptions = ModelServerOptions

/** Starts a server on a free local port that speaks OpenAI's chat completions, as local model servers do. Its `url` is a `baseURL`. */
export const startFakeOpenAI = (options: FakeOpenAIOptions = {}) => startModelServer(chatWire, options)
