import type { Analysis } from '../../schemas/agent.ts'
import { CREATE_TASK, NOTE_OPENING } from '../contracts/model-texts.ts'
import type { RunEvent } from '../contracts/run-events.ts'
import type { ActiveRun, ThreadRun } from '../runs/index.ts'

/** The analysis of a request, which is made while the steps of the run execute. Only the end of the run waits for it. */
export interface RunAdvice {
  /** Appends an event of the steps to the log. The first events are held back until the analysis arrives or `release` is called. */
  append: (event: RunEvent) => void
  /** Appends the events that were held back. */
  release: () => void
  /** Returns the notes that the model gets with its next step. */
  takeNotes: () => string[]
  /** Resolves when the analysis is in the log, or it is certain that there will be none. */
  settle: () => Promise<void>
}

const FOR_LATER = `${NOTE_OPENING} The request may ask for work to do later, to repeat or to watch. If it does, createTask makes it.]`

/**
 * Adds the analysis of a run, if there is one, to the run's log: before the first step if the analysis arrives before any part of the
 * answer, else after a step.
 */
export function adviseRun ({ run }: ActiveRun<ThreadRun>, analyzing: Promise<Analysis | undefined>): RunAdvice {
  const { log } = run
  let held: RunEvent[] | undefined = []
  let arrived: Analysis | undefined
  let mayTell = false

  function release () {
    const events = held ?? []
    held = undefined
    events.forEach(log.append)
  }

  /** Appends the analysis if it has arrived. */
  function note () {
    if (arrived === undefined) return
    const analysis = arrived
    arrived = undefined
    mayTell = analysis.complexity === 'long_running'
    log.append({ type: 'reasoning-start', id: 'analysis', phase: 'analysis' })
    if (analysis.thinking !== '') log.append({ type: 'reasoning-delta', id: 'analysis', delta: analysis.thinking })
    log.append({ type: 'reasoning-end', id: 'analysis' })
    log.append({ type: 'analysis', analysis })
  }

  const done = analyzing.then((analysis) => {
    arrived = analysis
    if (held !== undefined) note()
  }).catch(() => {}).then(release)

  return {
    append: (event) => held === undefined ? log.append(event) : void held.push(event),
    release,
    takeNotes () {
      if (run.record.steps === 0) return []
      note()
      if (!mayTell) return []
      mayTell = false
      return makesTasks(log.events) ? [FOR_LATER] : []
    },
    async settle () {
      await done
      note()
    }
  }
}

/** True if the model has the tool to make a task and the run has made none. */
function makesTasks (events: readonly RunEvent[]): boolean {
  const tools = events.findLast((event) => event.type === 'context')?.context.tools ?? []
  return tools.some(({ name }) => name === CREATE_TASK) && !events.some(({ type }) => type === 'task')
}
