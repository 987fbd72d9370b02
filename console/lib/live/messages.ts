import type { ServiceEvent } from '../../../client/events.ts'

/**
 * Messages of a tab to the worker: it asks for the token of the other tabs (and may have one), its user has entered one, it begins or ends
 * to follow the service.
 */
export type FromTab = { type: 'ask', token?: string } | { type: 'enter', token: string } | { type: 'follow' } | { type: 'leave' }

/** What the worker tells its tabs. */
export type ToTab =
  | { type: 'token', token?: string }
  | { type: 'connection', isOpen: boolean }
  | { type: 'event', event: ServiceEvent }
  | { type: 'refused', token?: string, /** The service does not accept the token. */ isForToken: boolean }
