import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../harness/exercise.ts'
import { ask, call, planCall, read, WORK, work as folder, type Step } from '../app.ts'

export const work: Step[] = [
  ['a task runs by itself', async () => {
    planCall('writeFile', { path: 'by-a-task.txt', content: 'task' })
    const { id } = await ask('/tasks', { goal: 'write it', approval: { mode: 'never' }, cwd: WORK })
    await ask(`/tasks/${id}/start`, {})
    await until(() => existsSync(join(folder, 'by-a-task.txt')))
  }],

  ['a run works on a copy of its folder, and its changes are taken over', async () => {
    const { text, runId } = await call('writeFile', { path: 'new\\of-a-copy.txt', content: 'copy' }, { options: { workspace: 'copy' } })
    match(text, /C:\\\\test\\\\work\\\\new\\\\of-a-copy\.txt/)
    ok(!existsSync(join(folder, 'new')))
    deepStrictEqual((await ask(`/runs/${runId}/apply`, {})).skipped, [])
    strictEqual(read('new/of-a-copy.txt'), 'copy')
  }],

  ['files that change trigger a task', async () => {
    const triggers = [{ type: 'files', path: '.', glob: '*.CSV' }]
    const { id } = await ask('/tasks', { goal: 'look', approval: { mode: 'never' }, cwd: WORK, triggers })
    await ask(`/tasks/${id}/start`, {})
    for (let n = 0, seen = 0; seen === 0; n++) {
      writeFileSync(join(folder, 'new.csv'), String(n))
      await wait(1_000)
      seen = (await ask(`/tasks/${id}/firings`)).firings.length
      ok(n < 30, 'no firing')
    }
    await ask(`/tasks/${id}`, undefined, 'DELETE')
  }]
]
