import { factsLine } from '../../services/judge/facts-line.ts'
import type { RunEvent } from '../../services/contracts/run-events.ts'

/** The line of what happened, for parts without a host of tools. */
export const facts = (events: readonly RunEvent[], cwd: string): string => factsLine(events, () => undefined, cwd)
