import type { RunEvent } from '../../contracts/run-events.ts'

/** Joins adjacent deltas of the same part, which makes the stored events smaller. */
export function joinDeltas (events: readonly RunEvent[]): RunEvent[] {
  const joined: RunEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (last !== undefined && 'delta' in event && 'delta' in last && last.type === event.type && partOf(last) === partOf(event)) {
      // Each event carries all metadata of its part so far, so the newest metadata replaces the older.
      const metadata = 'providerMetadata' in event && event.providerMetadata !== undefined && { providerMetadata: event.providerMetadata }
      joined[joined.length - 1] = { ...last, delta: last.delta + event.delta, ...metadata }
    } else joined.push(event)
  }
  return joined
}

function partOf (event: RunEvent): string | undefined {
  return 'id' in event ? event.id : 'toolCallId' in event ? event.toolCallId : undefined
}
