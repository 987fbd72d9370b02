import { createServer } from 'node:http'
import { createGateway } from '@ai-sdk/gateway'
import { pipeUIMessageStreamToResponse, streamText, toUIMessageStream } from 'ai'

// The floor: a minimal server of model answers without validation, tools, store or log. All figures are relative to it, so that a slow
// machine affects both.

const gateway = createGateway({ baseURL: process.env.AI_GATEWAY_BASE_URL, apiKey: process.env.AI_GATEWAY_API_KEY })

const server = createServer(async (request, response) => {
  if (request.url === '/health') {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}')
    return
  }
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  const { stream } = streamText({ model: gateway('test/model'), messages: JSON.parse(body).messages })
  void pipeUIMessageStreamToResponse({ response, stream: toUIMessageStream({ stream }) })
})

server.listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('{"event":"ready"}\n'))
