import type { Departure } from '../../../schemas/digest.ts'
import type { StoredSheet } from '../../contracts/sheet-record.ts'
import { inputDigest } from '../../approvals/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { StoredRun } from '../task-records.ts'

/** Calls that are named, of each kind. */
const MOST_NAMED = 5

interface Asked {
  toolName: string
  input: unknown
}

/** What `departures` is told of a run beside its record. */
interface Departing {
  asked: readonly Asked[]
  denied: readonly Asked[]
  say: ToolHost['say']
}

/**
 * Returns what a run did otherwise than the sheet that was accepted before it: what it asked for, or was denied, and what it did not do of
 * what was accepted. [] for a run that did as it was rehearsed.
 */
export function departures (
  { toolCalls, startedAt }: Pick<StoredRun, 'toolCalls' | 'startedAt'>,
  { lines }: StoredSheet,
  { asked, denied, say }: Departing
): Departure[] {
  const accepted = lines.flatMap((line) => line.accepted !== undefined && line.accepted.at <= startedAt ? [{ ...line.accepted, line }] : [])
  if (accepted.length === 0) return []
  const shown = new Set(lines.map(({ toolName, digest }) => `${toolName} ${digest}`))
  const isShown = ({ toolName, input }: Asked) => shown.has(`${toolName} ${inputDigest(input)}`)
  const departure = (how: Departure['how'], call: Asked): Departure => {
    const { about, text } = say(call)
    const isKnown = how === 'unused' || isShown(call)
    return {
      ...{ how, toolName: call.toolName, about, isShown: isKnown },
      text: how === 'unused'
        ? `It did not do what the rehearsal showed: ${text}, or its like.`
        : `It ${how === 'asked' ? 'asked whether it may' : 'was not allowed to'} ${text}, which ${
          isKnown ? 'was not accepted of the rehearsal' : 'the rehearsal did not show'
        }.`
    }
  }
  const used = new Set(toolCalls.map(({ grantId }) => grantId))
  const unused = accepted.filter(({ grantId }) => !used.has(grantId)).map(({ line }) => line)
  return [
    ...firstOf(asked.map((call) => departure('asked', call))),
    ...firstOf(denied.map((call) => departure('denied', call))),
    ...firstOf(unused.map((line) => departure('unused', line)))
  ]
}

/** The first departures, each once, the last of them with the number of those that are not named. */
function firstOf (all: readonly Departure[]): Departure[] {
  const once = [...new Map(all.map((each) => [each.text, each])).values()]
  const more = once.length - MOST_NAMED
  if (more <= 0) return once
  const named = once.slice(0, MOST_NAMED)
  const last = named.at(-1)!
  return [...named.slice(0, -1), { ...last, more, text: `${last.text} And ${more} more like it.` }]
}
