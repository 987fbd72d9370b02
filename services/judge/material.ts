import { tokensIn } from '../models/index.ts'
import { saidOnce } from '../tools/index.ts'
import type { CallFact } from './call-facts.ts'

/** The most calls in the index; older calls are only counted. */
const MOST_LINES = 1_000
const TARGET_SHOWN = 200
/** The most tokens of all calls that the judge reads in full, and the most characters of each call. */
const CALLS_TOKENS = 24_000
const CALL_SHOWN = 32_000

/**
 * Lists the calls, one a line: id, tool, target and status. Of more than MOST_LINES calls, only the newest are listed, after a line with
 * the number of the others.
 */
export function indexOf (calls: CallFact[]): string[] {
  const lines = calls.slice(-MOST_LINES).map((call) => `${call.id} ${call.tool} ${targetOf(call)}: ${statusOf(call)}`)
  return calls.length > MOST_LINES ? [`(${calls.length - MOST_LINES} older calls are left out)`, ...lines] : lines
}

/** Returns as many of the newest calls as fit into CALLS_TOKENS, with inputs and outcomes, oldest first. */
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

/** Returns the name of a call for a sentence: its tool and target. */
export const nameOf = (call: CallFact): string => `${call.tool} ${targetOf(call)}`

/** Returns the full text of a call. A call with a diff is shown by this diff instead of its input and output. */
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

/** Shortens a text to about `limit` characters by leaving out its middle. */
export function shorten (text: string, limit: number): string {
  if (text.length <= limit) return text
  const half = Math.floor(limit / 2)
  return `${text.slice(0, half)} [… ${text.length - 2 * half} characters left out …] ${text.slice(-half)}`.toWellFormed()
}

/** The most characters that are stored of a text from the judge. */
const TEXT_KEPT = 500

/** Cleans a text of a model for records: well-formed Unicode, at most TEXT_KEPT characters, no control characters. */
export function shown (text: string): string {
  // eslint-disable-next-line no-control-regex
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu, ' ').trim()
  return clean.length > TEXT_KEPT ? `${clean.slice(0, TEXT_KEPT).toWellFormed()}…` : clean
}
