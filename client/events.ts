import { pause, pauseBefore } from './backoff.ts'
import type { Client } from './create-client.ts'
import { isRefusal } from './errors.ts'
import type { StreamEvent } from './generated/index.ts'
import { openStream, parse, readEvents } from './sse.ts'

export interface EventQuery {
  threadId?: string
  taskId?: string
  /** The types of the wanted events, such as `approval:open`; by default, all types. */
  types?: string[]
  /** The id of the last event that was read before. */
  after?: string
  /** Called with true after each connection and with false after each disconnection, so that an application can show the state. */
  onConnection?: (isOpen: boolean) => void
  signal?: AbortSignal
}

/** An event of the service. `reset` means that events might be missing, so that lists must be read again. */
export type ServiceEvent = StreamEvent & { id?: string }

/**
 * Yields the events of the service. After a lost connection it reconnects with the id of the last event, so that no event is lost or
 * repeated. If the service no longer has the following events, it sends `reset`. A slow reader slows down the stream. Ends when the signal
 * aborts, and throws AgentError if the service refuses the request. `onOpen` is called after each connection: every event from then on is
 * yielded.
 */
export async function * followEvents (
  client: Client,
  { types, signal, after, onConnection, ...query }: EventQuery,
  onOpen?: () => void
): AsyncGenerator<ServiceEvent> {
  let last = after
  for (let attempt = 0; !signal?.aborted; attempt++) {
    try {
      const stream = await openStream(client, {
        method: 'GET',
        url: '/events',
        query: { ...query, ...types && { types: types.join(',') } },
        headers: last === undefined ? {} : { 'last-event-id': last },
        signal
      })
      onOpen?.()
      onConnection?.(true)
      for await (const { id, data } of readEvents(stream!, signal)) {
        attempt = 0
        last = id ?? last
        if (data !== undefined) yield { ...parse<StreamEvent>(data), ...id !== undefined && { id } }
      }
    } catch (error) {
      if (signal?.aborted) return
      if (isRefusal(error)) throw error
    }
    onConnection?.(false)
    await pause(pauseBefore(attempt), signal).catch(() => {})
  }
}
