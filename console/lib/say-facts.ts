import { say } from './say.ts'

/** Returns the line of facts of a run as a sentence; a run without calls has no numbers to show. */
export const sayFacts = (facts: string): string => facts.startsWith('0 calls') ? say('run.noCalls') : `${say('run.happened')} ${facts}`
