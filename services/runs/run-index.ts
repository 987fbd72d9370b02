import type { RunStatus } from '../../schemas/tasks.ts'
import { runStateKey } from '../store/keys.ts'
import type { Op } from '../store/store-types.ts'

/** Where the record of a run lies: that of a conversation under the digest of its thread. */
export type RunPlace = { thread: string } | { taskId: string, runNumber: number }

/** The states of the index. `live`: the run is queued, executes or waits; its record says which. */
export const INDEX_STATES = ['live', 'completed', 'rejected', 'failed', 'cancelled', 'interrupted'] as const
export type IndexState = typeof INDEX_STATES[number]

export const indexStateOf = (status: RunStatus): IndexState =>
  status === 'queued' || status === 'running' || status === 'pending_approval' ? 'live' : status

/** Returns the operation that adds a new run to the index of all runs. */
export const indexNewRun = (runId: string, place: RunPlace): Op => ({ type: 'put', key: runStateKey('live', runId), value: place })

/** Returns the operations that keep the index of all runs when a run may have changed its status. */
export const indexRun = ({ runId, status }: { runId: string, status: RunStatus }, place: RunPlace): Op[] =>
  INDEX_STATES.map((state) => {
    const key = runStateKey(state, runId)
    return state === indexStateOf(status) ? { type: 'put', key, value: place } : { type: 'del', key }
  })

/** Returns the operations that remove a run from the index of all runs. */
export const unindexRun = (runId: string): Op[] => INDEX_STATES.map((state) => ({ type: 'del', key: runStateKey(state, runId) }))
