import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import type { TaskCreation } from '../contracts/task-control.ts'
import { CHANGE_TASK } from '../contracts/model-texts.ts'
import { BadSchedule } from '../calendar/index.ts'
import { quoteFinder } from '../lib/quotes.ts'
import { loadTimedWork } from '../models/index.ts'

/**
 * Matches work whose object can have a time, such as "list my meetings tomorrow at 3pm". If the time is at the start of the request, it is
 * the time of the work itself.
 */
const ABOUT_TIME = new RegExp(
  '^(?:add|book|calculate|cancel|change|compare|compute|convert|count|create|delete|describe|draft|draw|edit|end|explain|find|format|' +
    'give|how|list|look|make|move|name|open|pause|plan|print|put|read|rename|replace|reschedule|resume|say|schedule|search|set|show|stop|' +
    'suggest|sum|tell|translate|turn|undo|update|use|write)\\b',
  'i'
)

/**
 * Returns a notice if the request of a run asks for work at a time and the run has made or changed no task; else none. The analysis only
 * points at words of the request. Whether these words mean a time, and which time, is parsed from the English text of the request itself.
 */
export async function noTaskNotice (
  events: readonly RunEvent[],
  request: string,
  tasks: Pick<TaskCreation, 'readWhen'> | undefined
): Promise<Array<EventOf<'notice'>>> {
  const timeWords = events.findLast((event) => event.type === 'analysis')?.analysis.timeWords ?? ''
  const isMade = events.some((event) => event.type === 'task' || (event.type === 'tool-output' && event.toolName === CHANGE_TASK))
  if (timeWords === '' || isMade || tasks === undefined) return []
  const { readBackground } = await loadTimedWork()
  const { goal, when } = readBackground(request) ?? {}
  if (goal === undefined || when === undefined || when.kind === 'doubt') return []
  if (request.includes('?') || (ABOUT_TIME.test(goal) && !request.trim().startsWith(when.text))) return []
  const isSame = quoteFinder(when.text)(timeWords) !== undefined || quoteFinder(timeWords)(when.text) !== undefined
  const read = isSame ? await tasks.readWhen({ [when.kind === 'once' ? 'at' : 'every']: when.text }).catch(ignoreDoubt) : undefined
  if (read === undefined) return []
  const { schedule, words, zone, next } = read
  return [{
    type: 'notice',
    code: 'no-task',
    text: `No background task was made: what was said of a time (${words}) leads to nothing by itself.`,
    task: { goal, schedule, words, zone, next }
  }]
}

function ignoreDoubt (error: unknown): undefined {
  if (!(error instanceof BadSchedule)) throw error
}
