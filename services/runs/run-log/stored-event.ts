import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { EventOf, RunContext, RunEvent } from '../../contracts/run-events.ts'

type Tools = RunContext['tools']
/** A context as it is stored: the tools, which it describes in full and which are most of it, are compressed. */
type StoredContext = Omit<RunContext, 'tools'> & { packedTools: string }

/** An event as it is stored. A context may be stored as it is, too. */
export type StoredEvent = Exclude<RunEvent, { type: 'context' }> | { type: 'context', context: StoredContext } | EventOf<'context'>

/** The fastest level: the descriptions shrink to a third in a third of a millisecond. */
const LEVEL = 1
/** Lists of tools that are remembered as they are stored. Most runs have one that a run shortly before had. */
const REMEMBERED = 4
const remembered: Array<{ tools: Tools, packedTools: string }> = []

export function packed (event: RunEvent): StoredEvent {
  if (event.type !== 'context') return event
  const { tools, ...context } = event.context
  return { type: 'context', context: { ...context, packedTools: pack(tools) } }
}

/** The description of a tool is the same object in all runs, until the tool changes. */
const isSame = (one: Tools, other: Tools) => one.length === other.length && one.every((tool, n) => tool === other[n])

function pack (tools: Tools): string {
  const known = remembered.find((each) => isSame(each.tools, tools))
  if (known !== undefined) return known.packedTools
  const packedTools = deflateRawSync(JSON.stringify(tools), { level: LEVEL }).toString('base64')
  remembered.unshift({ tools, packedTools })
  remembered.splice(REMEMBERED)
  return packedTools
}

export function unpacked (event: StoredEvent): RunEvent {
  if (event.type !== 'context' || !('packedTools' in event.context)) return event as RunEvent
  const { packedTools, ...context } = event.context
  return { type: 'context', context: { ...context, tools: JSON.parse(inflateRawSync(Buffer.from(packedTools, 'base64')).toString()) } }
}

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
