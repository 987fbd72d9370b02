import { createHash } from 'node:crypto'
import { canonicalJson } from '../../lib/canonical-json.ts'
import type { RunEvent } from '../../contracts/run-events.ts'
import { needsAny } from '../../contracts/tool.ts'
import type { Clock } from '../../lib/clock.ts'
import type { ToolHost } from '../../tools/index.ts'

/** How often in a row a call, or a cycle of calls, must occur until the model gets a note, and until the run is stopped. */
const TOLD_AT = 3
const STOPPED_AT = 5
/** The most calls that a recognised cycle can have. */
const LONGEST_CYCLE = 3
/** A call that is made again at least this many milliseconds later is no repetition, because what it reads might have changed. */
const APART_MS = 10_000
/** How often a tool can be called in a row if its results contain nothing new. */
const NOTHING_NEW = 30
/** The consequence of repetitions: none, the model gets a note (`told`), or the run is stopped. */
type Repetition = 'none' | 'told' | 'stopped'

/**
 * Recognises a run that repeats itself: the same call with the same result, the same cycle of up to three such calls, or calls of one tool
 * whose results contain nothing new, whatever their inputs. Counting starts anew with each attempt, an uninterrupted execution of the run.
 */
export function createRepetitions (clock: Pick<Clock, 'monotonic'>, find: ToolHost['find']) {
  /** Whether the tool is meant to be called repeatedly, because it reads what a command in the background has written. */
  const isPolled = (name: string) => find(name)?.policy.effect === 'read' && needsAny(find(name), 'commands')
  let calls: string[] = []
  let lastAt = -Infinity
  let told = 0
  let sameTool = { name: '', seen: new Set<string>(), times: 0 }

  /** Returns how many calls of the same tool were made in a row since the newest one with a new result, including that call. */
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
    /** Takes the events of a step whose calls are settled, and returns the consequence. */
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

/** Returns how often in a row the newest call, or the cycle that ends with the newest call, was made. */
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
