import type { EventOf } from '../run-events.ts'

/** One event of a stream. */
export const eventLine = (data: object) => `data: ${JSON.stringify(data)}\n\n`

/** The same in every dialect: clients take data parts of any name, and keep none that is transient. */
export const compactionLine = ({ type, ...data }: EventOf<'compaction'>) => eventLine({ type: 'data-compaction', data, transient: true })
