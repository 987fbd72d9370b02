import type { ServiceEvent } from '../../../client/events.ts'

/** What a tab tells the worker. */
export type FromTab = { type: 'follow', token?: string } | { type: 'leave' }

/** What the worker tells its tabs. */
export type ToTab =
  | { type: 'connection', isOpen: boolean }
  | { type: 'event', event: ServiceEvent }
  | { type: 'refused', /** The service does not accept the token. */ isForToken: boolean }
