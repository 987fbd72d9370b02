import type { Run, Usage } from '../../../client/generated/index.ts'
import { say } from '../../lib/say.ts'

const LIVE: Array<Run['status']> = ['queued', 'running', 'pending_approval']
const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumSignificantDigits: 3 })

/** Whether a run has ended; one that waits for a person has not. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean => !LIVE.includes(status)

/** Whether a run only tried what its task would do. */
export const isRehearsal = ({ trigger }: Pick<Run, 'trigger'>): boolean => trigger === 'rehearsal'

/** Returns what the model calls of a run used: "1,735 tokens in, 77 out, $0.012". */
export function sayUsage ({ inputTokens, outputTokens, costUsd }: Usage): string {
  const tokens = say('run.tokens', { input: inputTokens, output: outputTokens })
  return `${tokens}, ${costUsd === undefined ? say('run.noPrice') : dollars.format(costUsd)}`
}

const percent = new Intl.NumberFormat(undefined, { style: 'percent' })

/** A fraction as percent. */
export const sayScore = (score: number): string => percent.format(score)
