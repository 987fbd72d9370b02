import type { EventOf } from '../../contracts/run-events.ts'

/** Returns one event of a Server-Sent Events stream. */
export const eventLine = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** Renders a compaction, the same in every protocol: clients accept data parts of any name and keep no transient ones. */
export const compactionLine = ({ type, ...data }: EventOf<'compaction'>) => eventLine({ type: 'data-compaction', data, transient: true })
