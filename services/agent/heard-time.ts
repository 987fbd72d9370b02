import type { Analysis, When } from '../../schemas/agent.ts'
import { BadSchedule } from '../calendar/index.ts'
import type { EventOf, RunEvent } from '../contracts/run-events.ts'
import type { TaskCreation } from '../contracts/task-control.ts'

/** When the work is to be done, as the analysis heard it. */
export const heardTime = ({ interval, when = { text: '', every: interval } }: Analysis): When => when

/** Whether the analysis names a time; words alone may be about what the request is about. */
export function namesTime (analysis: Analysis): boolean {
  const { at, every } = heardTime(analysis)
  return [at, every].some((time) => time !== undefined && time.trim() !== '')
}

/** Returns what a model is told of a time that cannot be read for sure, so that it asks; undefined for any other. */
export async function doubtAbout (analysis: Analysis, tasks: Pick<TaskCreation, 'readWhen'>): Promise<string | undefined> {
  try {
    await tasks.readWhen(heardTime(analysis))
    return undefined
  } catch (error) {
    if (!(error instanceof BadSchedule)) throw error
    return `The last request names a time that cannot be read for sure. ${error.message} Nothing was done, no task was made, and you ` +
      'have no tools now. If the user wants something done then, ask them, in their language, when exactly they mean, and do not say ' +
      'that it will be done.'
  }
}

const NO_TASK: EventOf<'notice'> = {
  type: 'notice',
  code: 'no-task',
  text: 'No task was made: what was said of a time leads to nothing by itself.'
}

/** Returns the notice of a run whose request names a time, and that has made or changed no task. No text is interpreted for it. */
export function noTaskNotice (events: readonly RunEvent[]): Array<EventOf<'notice'>> {
  const heard = events.findLast((event) => event.type === 'analysis')
  if (heard === undefined || !namesTime(heard.analysis)) return []
  const isMade = events.some((event) => event.type === 'task' || (event.type === 'tool-output' && event.toolName === 'changeTask'))
  return isMade ? [] : [NO_TASK]
}
