import { factsLine } from '../../services/judge/facts-line.ts'
import type { RunEvent } from '../../services/contracts/run-events.ts'

/** Returns the line of facts for events, without a tool host. */
export const facts = (events: readonly RunEvent[], cwd: string): string => factsLine(events, () => undefined, cwd)
