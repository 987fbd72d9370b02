import { get, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { record } from './record-examples.ts'

export interface Heard {
  type: string
  /** The id of the event in the stream. */
  id?: string
  [field: string]: any
}

/** Reads `GET /events` on a connection of its own. */
export async function readEvents (
  t: { teardown(handler: () => unknown): unknown },
  url: string,
  { query = '', path = '/events', headers = {} }: { query?: string, path?: string, headers?: Record<string, string> } = {}
) {
  const sent = get(`${url}${path}${query}`, { agent: false, headers })
  sent.on('error', () => {})
  t.teardown(() => sent.destroy())
  const [response] = await once(sent, 'response') as [IncomingMessage]
  const events: Heard[] = []
  const now: { isOver: boolean, lastId?: string } = { isOver: false }
  let text = ''
  let all = ''
  let taken = 0
  let moved = Promise.withResolvers<void>()
  const move = () => {
    moved.resolve()
    moved = Promise.withResolvers()
  }
  response.setEncoding('utf8').on('error', () => {}).on('close', () => {
    now.isOver = true
    move()
  }).on('data', (chunk: string) => {
    all += chunk
    text += chunk
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const block = text.slice(0, end)
      text = text.slice(end + 2)
      const [, id] = /^id: (.*)$/m.exec(block) ?? []
      const [, data] = /^data: (.*)$/m.exec(block) ?? []
      if (id !== undefined) now.lastId = id
      if (data !== undefined) record({ event: JSON.parse(data) })
      if (data !== undefined) events.push({ ...JSON.parse(data), ...(id !== undefined && { id }) })
    }
    move()
  })

  return {
    response,
    events,
    /** Returns the whole stream so far, with comments. */
    all: () => all,
    lastId: () => now.lastId,
    types: () => events.map(({ type }) => type),
    /** Resolves to the next event with this type and these fields, after the last event that was waited for. */
    async until (type: string, fields: Record<string, unknown> = {}): Promise<Heard> {
      for (;;) {
        const at = events.findIndex((event, index) =>
          index >= taken && event.type === type && Object.entries(fields).every(([key, value]) => event[key] === value)
        )
        if (at !== -1) {
          taken = at + 1
          return events[at]
        }
        if (now.isOver) {
          throw new Error(`the stream ended without ${type} ${JSON.stringify(fields)}: ${JSON.stringify(events.slice(taken))}`)
        }
        await moved.promise
      }
    },
    /** Resolves when this number of events has arrived, or the stream has ended. */
    async has (count: number) {
      while (events.length < count && !now.isOver) await moved.promise
    },
    /** Resolves when an id has arrived. */
    async connected () {
      while (now.lastId === undefined && !now.isOver) await moved.promise
    },
    /** Resolves when the stream has ended. */
    async ended () {
      while (!now.isOver) await moved.promise
    },
    hangUp: () => sent.destroy()
  }
}
