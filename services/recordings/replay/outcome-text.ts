import type { Difference } from './differences.ts'

/** The outcome of the replay of one recording file. */
export interface Outcome {
  file: string
  ok: boolean
  steps: number
  calls: number
  approvals: number
  /** Milliseconds. */
  ms: number
  differences: Difference[]
  /** Why the recording cannot be replayed. */
  cannotReplay?: string
}

/** The most differences that are shown for each of several files. The first difference usually causes the others. */
const MOST_SHOWN = 3
const TEXT_SHOWN = 1_000
const LINES_SHOWN = 12

const count = (number: number, thing: string) => `${number} ${thing}${number === 1 ? '' : 's'}`

/**
 * Returns the text about one file for a person: a summary line with the differences below. Without `isAlone`, only the first MOST_SHOWN
 * differences are shown, and the number of the others.
 */
export function outcomeText ({ file, ok, steps, calls, approvals, ms, differences, cannotReplay }: Outcome, isAlone = false): string {
  const did = [count(steps, 'step'), count(calls, 'call'), ...approvals > 0 ? [count(approvals, 'approval')] : []].join(', ')
  const line = `${ok ? '✓' : '✗'} ${file}  ${did} (${Math.round(ms)} ms)`
  if (cannotReplay !== undefined) return `✗ ${file}  cannot be replayed: ${cannotReplay}`
  const shown = isAlone ? differences : differences.slice(0, MOST_SHOWN)
  const more = differences.length - shown.length
  return [line, ...shown.map(differenceText), ...more > 0 ? [`  … and ${count(more, 'further difference')}`] : []].join('\n')
}

function differenceText ({ step, what, recorded, now, diff }: Difference): string {
  const both = [...recorded === undefined ? [] : marked('-', recorded), ...now === undefined ? [] : marked('+', now)]
  const lines = diff === undefined ? both : clipped(diff)
  return [`  step ${step}: ${what}`, ...lines.map((line) => `    ${line}`)].join('\n')
}

const marked = (mark: string, text: string) => clipped(text).map((line) => `${mark} ${line}`)

function clipped (text: string): string[] {
  const lines = text.slice(0, TEXT_SHOWN).split('\n')
  const isCut = text.length > TEXT_SHOWN || lines.length > LINES_SHOWN
  return [...lines.slice(0, LINES_SHOWN), ...isCut ? ['…'] : []]
}

/** Returns the last line of the output, which says how many recordings failed. */
export function summaryText (outcomes: readonly Outcome[]): string {
  const failed = outcomes.filter(({ ok }) => !ok).length
  return failed === 0
    ? `${count(outcomes.length, 'recording')} replayed, no difference.`
    : `${failed} of ${count(outcomes.length, 'recording')} failed.`
}
