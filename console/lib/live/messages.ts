import type { ServiceEvent } from '../../../client/events.ts'

/**
 * Messages from a tab to the worker. `ask`: the tab asks for the token, and can pass its own. `enter`: the user has entered a token.
 * `follow` and `leave`: the tab starts or stops following events.
 */
export type FromTab = { type: 'ask', token?: string } | { type: 'enter', token: string } | { type: 'follow' } | { type: 'leave' }

/** Messages from the worker to its tabs. */
export type ToTab =
  | { type: 'token', token?: string }
  | { type: 'connection', isOpen: boolean }
  | { type: 'event', event: ServiceEvent }
  | { type: 'refused', token?: string, /** The service does not accept the token. */ isForToken: boolean }
