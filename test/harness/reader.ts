import { once } from 'node:events'
import { request, type ClientRequest, type IncomingMessage } from 'node:http'
import type { App } from '../../app.ts'
import { listen } from './raw.ts'
import { parseEvents, type Sent } from './sse.ts'

/** Opens a client on a real socket that can read the stream as it arrives, stop reading, or disconnect. */
export const openRun = (app: App, body: object, path = '/run', headers: object = {}) => open(app, 'POST', path, body, headers)

/** The same for a stream that is only followed. */
export const readRun = (app: App, path: string) => open(app, 'GET', path)

async function open (app: App, method: string, path: string, body?: object, headers: object = {}) {
  const port = await listen(app)
  const sending = { ...body && { 'content-type': 'application/json' }, ...headers }
  const sent = request({ port, host: '127.0.0.1', path, method, headers: sending })
  sent.end(body && JSON.stringify(body))
  const { said, ...stream } = await follow(sent)

  return {
    ...stream,
    get text () {
      return said()
    },
    get events (): Sent[] {
      return parseEvents(said().slice(0, said().lastIndexOf('\n\n') + 2))
    },
    hangUp () {
      sent.destroy()
    }
  }
}

/** Reads the response to a request as it arrives. */
export async function follow (sent: ClientRequest) {
  const [response] = await once(sent, 'response') as [IncomingMessage]
  let text = ''
  response.setEncoding('utf8').on('data', (chunk) => {
    text += chunk
    response.emit('grown')
  })
  response.on('error', () => {})
  const ended = new Promise<'whole' | 'cut'>((resolve) => response.once('close', () => resolve(response.complete ? 'whole' : 'cut')))
  return {
    response,
    ended,
    /** Returns the text so far. */
    said: () => text,
    /** Resolves when the text contains `wanted`. */
    async says (wanted: string) {
      while (!text.includes(wanted)) await once(response, 'grown')
    }
  }
}

export const userSays = (content: string) => ({ messages: [{ role: 'user', content }] })
