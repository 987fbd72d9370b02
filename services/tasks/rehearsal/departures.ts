import type { StoredSheet } from '../../contracts/sheet-record.ts'
import { inputDigest } from '../../approvals/index.ts'
import type { StoredRun } from '../task-records.ts'

/** Calls that are named, of each kind. */
const MOST_NAMED = 5
/** Characters of an input. */
const INPUT_SHOWN = 160

interface Asked {
  toolName: string
  input: unknown
}

const named = ({ toolName, input }: Asked) => {
  const json = JSON.stringify(input) ?? ''
  return `${toolName} with ${json.length > INPUT_SHOWN ? `${json.slice(0, INPUT_SHOWN).toWellFormed()}…` : json}`
}

/**
 * Returns in sentences what a run did otherwise than the sheet that was accepted before it: what it asked for, or was denied, and what it
 * did not do of what was accepted. [] for a run that did as it was rehearsed.
 */
export function departures (
  { toolCalls, startedAt }: Pick<StoredRun, 'toolCalls' | 'startedAt'>,
  { lines }: StoredSheet,
  { asked, denied }: { asked: readonly Asked[], denied: readonly Asked[] }
): string[] {
  const accepted = lines.flatMap((line) => line.accepted !== undefined && line.accepted.at <= startedAt ? [{ ...line.accepted, line }] : [])
  if (accepted.length === 0) return []
  const shown = new Set(lines.map(({ toolName, digest }) => `${toolName} ${digest}`))
  const of = (calls: readonly Asked[], how: string) =>
    firstOf(calls.map((call) => {
      const isShown = shown.has(`${call.toolName} ${inputDigest(call.input)}`)
      return `It ${how} ${named(call)}, which ${isShown ? 'was not accepted of the rehearsal' : 'the rehearsal did not show'}.`
    }))
  const used = new Set(toolCalls.map(({ grantId }) => grantId))
  const unused = accepted.filter(({ grantId }) => !used.has(grantId)).map(({ line }) => line)
  return [
    ...of(asked, 'asked for'),
    ...of(denied, 'was denied'),
    ...firstOf(unused.map((line) => `It did not use ${named(line)}, or its like, which the rehearsal showed.`))
  ]
}

/** The first sentences, each once, and how many more there are. */
function firstOf (texts: readonly string[]): string[] {
  const once = [...new Set(texts)]
  const more = once.length - MOST_NAMED
  return more > 0 ? [...once.slice(0, MOST_NAMED), `And ${more} more like it.`] : once
}
