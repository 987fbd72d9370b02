import type { RunStatus } from '../../schemas/tasks.ts'
import { type Op, runStateKey } from '../store/index.ts'

/** The states of the index of all runs. `live`: the run is queued or executes; `waiting`: for a person or the application. */
export const INDEX_STATES = ['live', 'waiting', 'completed', 'rejected', 'failed', 'stopped', 'cancelled', 'interrupted'] as const
export type IndexState = typeof INDEX_STATES[number]

export function indexStateOf (status: RunStatus): IndexState {
  if (status === 'queued' || status === 'running') return 'live'
  return status === 'pending_approval' ? 'waiting' : status
}

/** Returns the operation that adds a new run to the index of all runs. */
export const indexNewRun = (runId: string): Op => ({ type: 'put', key: runStateKey('live', runId), value: {} })

/** Returns the operations that keep the index of all runs when a run may have changed its status. */
export const indexRun = ({ runId, status }: { runId: string, status: RunStatus }): Op[] =>
  INDEX_STATES.map((state) => {
    const key = runStateKey(state, runId)
    return state === indexStateOf(status) ? { type: 'put', key, value: {} } : { type: 'del', key }
  })

/** Returns the operations that remove a run from the index of all runs. */
export const unindexRun = (runId: string): Op[] => INDEX_STATES.map((state) => ({ type: 'del', key: runStateKey(state, runId) }))
