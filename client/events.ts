import { pause, pauseBefore } from './backoff.ts'
import type { Client } from './create-client.ts'
import { isRefusal } from './errors.ts'
import type { StreamEvent } from './generated/index.ts'
import { openStream, parse, readEvents } from './sse.ts'

export interface EventQuery {
  threadId?: string
  taskId?: string
  /** Types of events, such as `approval:open`; default: all. */
  types?: string[]
  /** The id of the last event that was read earlier. */
  after?: string
  /** Called with true after each connection and with false after each cut, so that an application can show it. */
  onConnection?: (isOpen: boolean) => void
  signal?: AbortSignal
}

/** An event of the service; `reset` says that events may be missing, so that lists must be read again. */
export type ServiceEvent = StreamEvent & { id?: string }

/**
 * Follows the events of the service, and comes back after every cut with the id of the last event, so that none is lost or
 * repeated; where the service no longer has them, it says `reset`. Reads on only when its reader does. Ends with the signal,
 * and throws AgentError when the service refuses the request. `onOpen` is called after each connection: from then on, every event
 * is yielded.
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
