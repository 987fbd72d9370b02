import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { needsAny } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ToolHost } from '../../tools/index.ts'

/** How often a call, or a cycle of calls, is made before the model is told, and before the run stops. */
const TOLD_AT = 3
const STOPPED_AT = 5
/** The longest cycle that is noticed, calls. */
const LONGEST_CYCLE = 3
/** Calls that come at least this much later than the one before look again at what may have changed; milliseconds. */
const APART_MS = 10_000
/** How often the same tool may be called in a row with nothing new in what it answers. */
const NOTHING_NEW = 30
/** What the model hears of its repetitions: nothing, that it repeats itself, or that the run stops. */
type Repetition = 'none' | 'told' | 'stopped'

/**
 * Notices a run that repeats itself: the same call with the same result, or the same cycle of up to three such calls, again and again, or
 * one tool whose answers say nothing new, whatever it is asked. It counts from the beginning of the attempt at the run.
 */
export function createRepetitions (clock: Pick<Clock, 'monotonic'>, find: ToolHost['find']) {
  /** Whether the tool is there to be called again and again: it reads what a command in the background has written. */
  const isPolled = (name: string) => find(name)?.policy.effect === 'read' && needsAny(find(name), 'commands')
  let calls: string[] = []
  let lastAt = -Infinity
  let told = 0
  let sameTool = { name: '', seen: new Set<string>(), times: 0 }

  /** Counts the calls of the same tool in a row since one of them answered what none before it had. */
  function countNothingNew (step: readonly RunEvent[]): number {
    for (const event of step) {
      if (event.type !== 'tool-output' && event.type !== 'tool-error') continue
      if (isPolled(event.toolName)) continue
      if (event.toolName !== sameTool.name) sameTool = { name: event.toolName, seen: new Set(), times: 0 }
      const answer = digest(event.type === 'tool-output' ? event.output : event.errorText)
      sameTool.times = sameTool.seen.has(answer) ? sameTool.times + 1 : 1
      sameTool.seen.add(answer)
    }
    return sameTool.times
  }

  return {
    /** Takes the events of a step whose calls are settled. */
    add (step: readonly RunEvent[]): Repetition {
      const at = clock.monotonic()
      if (at - lastAt >= APART_MS) {
        calls = []
        sameTool = { name: '', seen: new Set(), times: 0 }
      }
      lastAt = at
      if (countNothingNew(step) >= NOTHING_NEW) return 'stopped'
      const before = calls.length
      calls.push(...new Set(callsOf(step, isPolled)))
      if (calls.length === before) return 'none'
      calls = calls.slice(-STOPPED_AT * LONGEST_CYCLE)
      const times = timesRepeated(calls)
      if (times < TOLD_AT) told = 0
      if (times >= STOPPED_AT) return 'stopped'
      if (times < TOLD_AT || told >= times) return 'none'
      told = STOPPED_AT
      return 'told'
    }
  }
}

/** Returns how often the newest call, or the cycle that ends with it, was made in a row. */
function timesRepeated (calls: readonly string[]): number {
  let most = 1
  for (let length = 1; length <= LONGEST_CYCLE; length++) {
    let same = 0
    while (same + length < calls.length && calls.at(-1 - same) === calls.at(-1 - same - length)) same++
    most = Math.max(most, Math.floor((same + length) / length))
  }
  return most
}

/** Returns a digest of each call of a step with its result, in the order of the results. */
function callsOf (step: readonly RunEvent[], isPolled: (name: string) => boolean): string[] {
  const inputs = new Map<string, unknown>()
  return step.flatMap((event) => {
    switch (event.type) {
      case 'tool-input':
        inputs.set(event.toolCallId, event.input)
        return []
      case 'tool-input-error':
        return [digest(event.toolName, event.input, event.errorText)]
      case 'tool-output':
        return isPolled(event.toolName) ? [] : [digest(event.toolName, inputs.get(event.toolCallId), event.output)]
      case 'tool-error':
        return [digest(event.toolName, inputs.get(event.toolCallId), event.errorText)]
      case 'tool-denied':
        return [digest(event.toolName, inputs.get(event.toolCallId), event.reason)]
      default:
        return []
    }
  })
}

const digest = (...parts: unknown[]) => createHash('sha256').update(canonicalJson(parts)).digest('base64')
