import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  line: string
  headers: IncomingMessage['headers']
  body: any
}

/** Starts a server that answers a client's requests with `answer`, and records them. */
export async function fakeService (
  t: { teardown(handler: () => unknown): unknown },
  answer: (request: Received, response: ServerResponse, nth: number) => void
) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const entry = { line: `${request.method} ${request.url}`, headers: request.headers, body: text === '' ? undefined : JSON.parse(text) }
    received.push(entry)
    answer(entry, response, received.length - 1)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

export const json = (response: ServerResponse, body: object, status = 200) =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))

/** Begins an event stream with the given text. */
export function stream (response: ServerResponse, text: string): ServerResponse {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text)
  return response
}
