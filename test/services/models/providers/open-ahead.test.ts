import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { systemClock } from '../../../../services/lib/clock.ts'
import { createConnections } from '../../../../services/models/providers/answer-stream/connections.ts'
import { startFakeGateway } from '../../../fakes/gateway.ts'
import { build } from '../../../harness/helper.ts'
import { listen } from '../../../harness/raw.ts'

/** A server that counts its connections. */
async function serve (t: Test, respond = (_request: IncomingMessage, response: ServerResponse) => void response.end('{}')) {
  const sockets: Socket[] = []
  const server = createServer((request, response) => {
    request.resume().on('end', () => respond(request, response))
  }).on('connection', (socket) => sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { server, sockets, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function post (connections: ReturnType<typeof createConnections>, url: string) {
  const response = await connections.exchange({ method: 'POST', url, headers: {}, body: '{}' })
  response.resume()
  await once(response, 'end')
  // The agent takes the connection back after the end.
  await new Promise(setImmediate)
}

t.test('a request takes the connection that was opened ahead of it, and none is opened while one is idle', async (t) => {
  const { server, sockets, url } = await serve(t)
  const connections = createConnections(systemClock)
  t.teardown(connections.close)
  connections.open(url)
  connections.open(url)
  await once(server, 'connection')
  await post(connections, url)
  t.equal(sockets.length, 1)
  connections.open(url)
  await post(connections, url)
  await Promise.all([post(connections, url), post(connections, url)])
  t.equal(sockets.length, 2, 'only two requests at a time need a second one')
})

t.test('a connection that the server has closed, or refuses, fails no request', async (t) => {
  const { server, sockets, url } = await serve(t)
  const connections = createConnections(systemClock)
  t.teardown(connections.close)
  connections.open(url)
  await once(server, 'connection')
  sockets[0].resetAndDestroy()
  await post(connections, url)
  t.equal(sockets.length, 2)

  const port = (server.address() as AddressInfo).port
  connections.close()
  server.close()
  server.closeAllConnections()
  await once(server, 'close')
  connections.open(url)
  const again = createServer((_request, response) => void response.end('{}')).listen(port, '127.0.0.1')
  await once(again, 'listening')
  t.teardown(() => {
    again.close()
    again.closeAllConnections()
  })
  await post(connections, url)
})

t.test('a connection that no request takes is closed with the others', async (t) => {
  const { server, sockets, url } = await serve(t)
  const connections = createConnections(systemClock)
  await post(connections, url)
  const second = await serve(t)
  connections.open(second.url)
  await once(second.server, 'connection')
  const ended = [...sockets, ...second.sockets].map((socket) => once(socket.resume(), 'close'))
  connections.close()
  await Promise.all(ended)
  t.equal(await new Promise((resolve) => server.getConnections((_error, count) => resolve(count))), 0)
})

t.test('the connection to the model is made when a request for a run arrives, before its body is there', async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(gateway.close)
  const app = await build(t, { config: { model: 'test/model', analysis: false }, gatewayKey: 'a-key', gatewayBaseURL: gateway.url })
  const port = await listen(app)
  const connected = gateway.connected()
  const client = connect(port, '127.0.0.1')
  t.teardown(() => client.destroy())
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'hi' }] })
  client.write(`POST /run HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`)
  const [socket] = await connected as [Socket]
  t.equal(socket.bytesRead, 0)
  client.write(body)
  let text = ''
  for await (const bytes of client) {
    text += String(bytes)
    if (text.endsWith('\r\n0\r\n\r\n')) break
  }
  t.match(text, /Hello from the fake gateway|text-delta/)
  t.ok(socket.bytesRead > 0, 'the call is made on it')
})

const HELLO = { method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'hello' }] } } as const

t.test('an offline model gets no connection', async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(gateway.close)
  const app = await build(t, { config: { model: 'offline/assistant' }, gatewayKey: 'a-key', gatewayBaseURL: gateway.url })
  t.equal((await app.inject(HELLO)).statusCode, 200)
  t.equal(gateway.connectionsMade(), 0)
})

t.test('a gateway without a key gets no connection', async (t) => {
  const gateway = await startFakeGateway()
  t.teardown(gateway.close)
  const app = await build(t, { config: { model: 'test/model' }, gatewayBaseURL: gateway.url })
  t.not((await app.inject(HELLO)).statusCode, 200)
  t.equal(gateway.connectionsMade(), 0)
})
