import type { Departure } from '../../../schemas/digest.ts'
import type { StoredLine, StoredSheet } from '../../contracts/sheet-record.ts'
import { inputDigest } from '../../lib/canonical-json.ts'
import type { ToolHost } from '../../tools/index.ts'
import type { StoredRun } from '../task-records.ts'

/** The most departures of each kind (asked, denied, unused) that are listed. */
const MOST_NAMED = 5

interface Asked {
  toolName: string
  input: unknown
}

/** The sheet (list of calls) of a rehearsal with accepted lines. */
export interface AcceptedRehearsal {
  sheet: StoredSheet
  /** Why the sheet is no longer valid; undefined while it is. */
  isVoid?: string
}

/** What `departures` needs besides the record of the run. */
interface Departing {
  asked: readonly Asked[]
  denied: readonly Asked[]
  tools: Pick<ToolHost, 'say' | 'identity'>
}

/**
 * Returns how a run departed from the accepted sheet: calls that asked for approval or were denied, and accepted lines
 * that the run did not carry out. Returns {} for a run that went as rehearsed. If the sheet is no longer valid, returns
 * at most `rehearsalVoid`: a sentence for a run that asked or was denied because its accepted lines no longer count.
 */
export function departures (
  { toolCalls, startedAt }: Pick<StoredRun, 'toolCalls' | 'startedAt'>,
  { sheet: { lines }, isVoid }: AcceptedRehearsal,
  { asked, denied, tools }: Departing
): { differs?: Departure[], rehearsalVoid?: string } {
  const accepted = lines.flatMap((line) => line.accepted !== undefined && line.accepted.at <= startedAt ? [{ ...line.accepted, line }] : [])
  const used = new Set(toolCalls.map(({ grantId }) => grantId))
  if (accepted.length === 0) return {}
  if (isVoid !== undefined) {
    const isLate = asked.length + denied.length > 0 && !accepted.some(({ grantId }) => used.has(grantId))
    return isLate ? { rehearsalVoid: `${isVoid} What was accepted of it does not count any more: rehearse the task again.` } : {}
  }
  const keyOf = (toolName: string, digest: string) => `${toolName} ${digest}`
  const shown = new Set(lines.map(({ toolName, digest }) => keyOf(toolName, digest)))
  const allowed = new Set(accepted.map(({ line: { toolName, digest } }) => keyOf(toolName, digest)))
  const isChanged = ({ toolName, identity }: StoredLine) => ![undefined, identity].includes(tools.identity(toolName))
  const changed = new Set(accepted.flatMap(({ line }) => isChanged(line) ? [line.toolName] : []))

  const departure = (how: 'asked' | 'denied', call: Asked): Departure => {
    const { toolName } = call
    const { about, text } = tools.say(call)
    const key = keyOf(toolName, inputDigest(call.input))
    const isShown = shown.has(key)
    const why = changed.has(toolName) ? 'tool_changed' : allowed.has(key) ? 'grant_ended' : undefined
    return {
      ...{ how, toolName, about, isShown, ...(why !== undefined && { why }) },
      text: `It ${how === 'asked' ? 'asked whether it may' : 'was not allowed to'} ${text}, ${
        why === undefined ? isShown ? 'which was not accepted of the rehearsal' : 'which the rehearsal did not show' : WHY[why]
      }.`
    }
  }
  const unused = accepted.filter(({ grantId, line }) => !used.has(grantId) && !changed.has(line.toolName)).map(({ line }): Departure => {
    const { about, text } = tools.say(line)
    return {
      ...{ how: 'unused', toolName: line.toolName, about, isShown: true },
      text: `It did not do what the rehearsal showed: ${text}, or something like it.`
    }
  })
  const differs = [
    ...firstOf(asked.map((call) => departure('asked', call))),
    ...firstOf(denied.map((call) => departure('denied', call))),
    ...firstOf(unused)
  ]
  return differs.length === 0 ? {} : { differs }
}

const WHY = {
  tool_changed: 'as the tool was changed since the rehearsal: rehearse the task again, or allow it',
  grant_ended: 'which was accepted of the rehearsal, but its grant has ended'
}

/** Returns the first MOST_NAMED distinct departures. If more were found, the last one says how many are left out. */
function firstOf (all: readonly Departure[]): Departure[] {
  const once = [...new Map(all.map((each) => [each.text, each])).values()]
  const more = once.length - MOST_NAMED
  if (more <= 0) return once
  const named = once.slice(0, MOST_NAMED)
  const last = named.at(-1)!
  return [...named.slice(0, -1), { ...last, more, text: `${last.text} And ${more} more like it.` }]
}
