import { runKey, slotKey, taskKey, taskRunKey } from '../../../services/store/keys.ts'
import type { Store } from '../../../services/store/store-types.ts'
import { noUsage } from '../../../services/usage/usage-sums.ts'
import { emptyTaskMemory } from '../../../services/tasks/definitions.ts'
import { outcomeOfRun, outcomeOfSlot } from '../../../services/tasks/schedule/outcomes.ts'
import { type StoredRun, type StoredTask } from '../../../services/tasks/task-records.ts'
import { newId } from '../../../services/lib/ids.ts'

/** Tasks as they are on disk after so many runs each, one a minute until `now`; every fourth failed, and beside each a time was skipped. */
export async function seedPast (store: Store, { tasks, runs, now }: { tasks: number, runs: number, now: number }) {
  for (let n = 0; n < tasks; n++) {
    const id = newId()
    const task: StoredTask = {
      id,
      goal: `task ${n}`,
      taskType: 'recurring',
      status: 'scheduled',
      cwd: '/tmp',
      plan: { phases: [], qualityCriteria: [], source: 'user' },
      schedule: { interval: '1m' },
      options: {},
      approval: { mode: 'never', firstN: 3, approvedRuns: 0 },
      memory: emptyTaskMemory(),
      approvalHistory: [],
      steeringHistory: [],
      totalRuns: runs,
      successfulRuns: runs,
      lastRunAt: now,
      nextRunAt: now + 60_000 + n,
      createdAt: 0,
      updatedAt: 0,
      slotRuns: runs,
      slotCount: runs
    }
    const ops: Parameters<Store['transact']>[0] = [{ type: 'put', key: taskKey(id), value: task }]
    for (let i = 1; i <= runs; i++) {
      const runId = newId()
      const completedAt = now - (runs - i) * 60_000 - n
      const status = n % 4 === 3 ? 'failed' as const : 'completed' as const
      const run: StoredRun = {
        runId,
        taskId: id,
        runNumber: i,
        trigger: 'schedule',
        status,
        queuedAt: completedAt,
        startedAt: completedAt,
        completedAt,
        durationMs: 0,
        output: `This is what run ${i} found. ${'x'.repeat(500)}`,
        phases: [],
        toolCalls: [],
        toolCount: 0,
        steering: [],
        usage: noUsage(),
        cwd: '/',
        maxSteps: 49,
        segment: 0,
        asked: [],
        attempts: 1,
        chunks: 0,
        steps: 1,
        refined: false,
        activeMs: 1,
        crashes: 0,
        needsApproval: false
      }
      const slot = { at: completedAt, fate: 'skipped' as const, reason: 'overlap', settledAt: completedAt }
      ops.push({ type: 'put', key: taskRunKey(id, i), value: { runId } }, { type: 'put', key: runKey(runId), value: run })
      ops.push(...outcomeOfRun('put', run), {
        type: 'put',
        key: slotKey(id, slot),
        value: slot
      }, ...outcomeOfSlot('put', id, slot))
    }
    await store.transact(ops)
  }
}
