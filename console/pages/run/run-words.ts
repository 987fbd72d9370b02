import type { Run, Usage } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'

const LIVE: Array<Run['status']> = ['queued', 'running', 'pending_approval']
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 })

/** Returns true if a run has ended. A run that waits for a person has not. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean => !LIVE.includes(status)

/** Returns true if a run is a rehearsal. */
export const isRehearsal = ({ trigger }: Pick<Run, 'trigger'>): boolean => trigger === 'rehearsal'

/** Returns the usage of a run's model calls: "1,735 tokens in, 77 out, $0.012". */
export function sayUsage ({ inputTokens, outputTokens, costUsd }: Usage): string {
  const tokens = say('run.tokens', { input: inputTokens, output: outputTokens })
  return `${tokens}, ${costUsd === undefined ? say('run.noPrice') : dollars.format(costUsd)}`
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent' })

/** Returns a fraction as a percentage. */
export const sayScore = (score: number): string => percent.format(score)
