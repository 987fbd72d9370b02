import type { Meter } from '../../services/usage/meter.ts'

/** A meter that admits every call and counts none. */
export const unmetered: Meter = { admit: async () => {}, checkSpent: async () => {}, raise () {}, count: async () => {}, failed () {} }
