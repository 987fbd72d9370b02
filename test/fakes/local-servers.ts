import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Response bodies by path. Other paths get 404. */
export type Answers = Record<string, unknown>

/** https://github.com/ollama/ollama/blob/main/docs/api.md */
export const ollama: Answers = {
  '/v1/models': {
    object: 'list',
    data: [
      { id: 'qwen3:8b', object: 'model', created: 1, owned_by: 'library' },
      { id: 'nomic-embed-text:latest', object: 'model', created: 1, owned_by: 'library' }
    ]
  },
  '/api/tags': {
    models: [
      { name: 'qwen3:8b', model: 'qwen3:8b', size: 1, digest: 'd', details: { family: 'qwen3', parameter_size: '8.2B' } },
      { name: 'nomic-embed-text:latest', model: 'nomic-embed-text:latest', size: 1, digest: 'd', details: { family: 'nomic-bert' } }
    ]
  }
}
/** https://lmstudio.ai/docs/developer/rest/endpoints */
export const lmStudio: Answers = {
  '/v1/models': { object: 'list', data: [{ id: 'gpt-oss-20b', object: 'model' }, { id: 'text-embedding-nomic', object: 'model' }] },
  '/api/v0/models': {
    object: 'list',
    data: [
      { id: 'gpt-oss-20b', object: 'model', type: 'llm', state: 'loaded', max_context_length: 131072 },
      { id: 'text-embedding-nomic', object: 'model', type: 'embeddings', state: 'not-loaded' }
    ]
  }
}
/** https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md */
export const llamaCpp: Answers = {
  '/v1/models': { object: 'list', data: [{ id: 'gemma-3.gguf', object: 'model', owned_by: 'llamacpp', meta: { n_ctx_train: 8192 } }] },
  '/props': { default_generation_settings: { n_ctx: 8192 }, total_slots: 1, model_path: 'gemma-3.gguf' }
}

/** Starts a server on a free port of 127.0.0.1 with these answers, or with its own request handler. */
export async function startLocalServer (answers: Answers | RequestListener) {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    if (typeof answers === 'function') return answers(request, response)
    const body = answers[request.url!]
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body ?? { error: 'not found' }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    requests,
    async close () {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    }
  }
}
