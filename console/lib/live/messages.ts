import type { ServiceEvent } from '../../../client/events.ts'

/**
 * What a tab tells the worker: it wants the token of the other tabs, and has perhaps one itself; its user has entered one; it follows the
 * service, or does so no more.
 */
export type FromTab = { type: 'ask', token?: string } | { type: 'enter', token: string } | { type: 'follow' } | { type: 'leave' }

/** What the worker tells its tabs. */
export type ToTab =
  | { type: 'token', token?: string }
  | { type: 'connection', isOpen: boolean }
  | { type: 'event', event: ServiceEvent }
  | { type: 'refused', token?: string, /** The service does not accept the token. */ isForToken: boolean }
