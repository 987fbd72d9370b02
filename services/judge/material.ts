import { tokensIn } from '../models/index.ts'
import { saidOnce } from '../tools/index.ts'
import type { CallFact } from './call-facts.ts'

/** The most calls in the index; older ones are only counted. */
const MOST_LINES = 1_000
const TARGET_SHOWN = 200
/** The most tokens of the calls that the judge reads whole, and the most characters of each. */
const CALLS_TOKENS = 24_000
const CALL_SHOWN = 32_000

/** Lists all calls, one a line: id, tool, target and status. */
export function indexOf (calls: CallFact[]): string[] {
  const lines = calls.slice(-MOST_LINES).map((call) => `${call.id} ${call.tool} ${targetOf(call)}: ${statusOf(call)}`)
  return calls.length > MOST_LINES ? [`(${calls.length - MOST_LINES} older calls are left out)`, ...lines] : lines
}

/** Returns the newest calls with their inputs and outcomes, oldest first, as many as fit. */
export function newestCalls (calls: CallFact[]): string[] {
  const shown: string[] = []
  let left = CALLS_TOKENS
  for (const call of calls.toReversed()) {
    const text = shorten(whole(call), CALL_SHOWN)
    left -= tokensIn(text)
    if (left < 0) break
    shown.unshift(text)
  }
  return shown
}

/** Returns the name of a call for a sentence. */
export const nameOf = (call: CallFact): string => `${call.tool} ${targetOf(call)}`

/** Returns a whole call. A call that changed files is shown by its diff, not by the content that it wrote. */
function whole (call: CallFact): string {
  const { id, tool, input, output, error } = call
  const isDiff = typeof output?.diff === 'string'
  return [
    `${id} ${tool}: ${statusOf(call)}`,
    `input: ${isDiff ? targetOf(call) : JSON.stringify(input)}`,
    ...(isDiff ? [`diff:\n${String(output.diff)}`] : output === undefined ? [] : [`output: ${JSON.stringify(saidOnce(output))}`]),
    ...(error === undefined ? [] : [`error: ${error}`])
  ].join('\n')
}

function targetOf ({ target, input }: CallFact): string {
  return shorten(JSON.stringify(target ?? input) ?? '', TARGET_SHOWN)
}

function statusOf ({ status, output, changes }: CallFact): string {
  const exit = typeof output?.exitCode === 'number' ? `, exit code ${output.exitCode}` : ''
  const isSame = changes.length > 0 && changes.every(({ before, after }) => before === after)
  return `${status}${exit}${isSame ? ', the file stayed as it was' : ''}`
}

/** Shortens a text in the middle. */
export function shorten (text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)} [… ${text.length - 2 * half} characters left out …] ${text.slice(-half)}`.toWellFormed()
}

/** The most characters of a text of the judge that are stored. */
const TEXT_KEPT = 500

/** Makes a text of a model fit for records: well-formed, bounded, without control characters. */
export function shown (text: string): string {
  // eslint-disable-next-line no-control-regex
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ').trim()
  return clean.length > TEXT_KEPT ? `${clean.slice(0, TEXT_KEPT).toWellFormed()}…` : clean
}
