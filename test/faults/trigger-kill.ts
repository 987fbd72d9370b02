import { mkdirSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import type { FiringList } from '../../schemas/triggers.ts'
import { startDying, writesIn } from './dying-service.ts'

/**
 * Files fire a task, whose end fires another one, and the service dies once at a durable write (see kill-at-write.ts): answers what the
 * two tasks did.
 */
export async function liveThroughTriggers (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  /** Asks, and asks again when the service died meanwhile. */
  async function ask (path: string, body?: { goal: string, [field: string]: unknown }): Promise<any> {
    for (;;) {
      const answer = await fetch(`${service.url}${path}`, {
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
        headers: { ...(body && { 'content-type': 'application/json' }), ...(body && { 'idempotency-key': body.goal }) }
      }).then((response) => response.json()).catch(() => undefined)
      if (answer !== undefined) return answer
      await service.exited
      if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`)
      service = await lives.revive()
    }
  }
  /** Resolves once the task's triggers and firings are so. */
  async function until (id: string, isThere: (found: FiringList) => boolean): Promise<FiringList> {
    for (;;) {
      const found = await ask(`/tasks/${id}/firings`)
      if (isThere(found)) return found
      await ask('/runs?waitMs=1')
    }
  }
  mkdirSync(`${lives.cwd}/in`)
  const fields = { approval: { mode: 'never' }, start: true, plan: { phases: [{ description: 'Do it' }] } }
  const first = await ask('/tasks', { goal: 'first', triggers: [{ type: 'files', path: 'in' }], ...fields })
  const second = await ask('/tasks', { goal: 'second', triggers: [{ type: 'task', taskId: first.id, on: 'completed' }], ...fields })
  await until(first.id, ({ triggers: [{ state }] }) => state === 'watching')
  for (const name of ['a', 'b', 'c']) writeFileSync(`${lives.cwd}/in/${name}`, name)
  const { firings: ofFirst } = await until(first.id, ({ firings }) => firings.length > 0)
  const { firings: ofSecond } = await until(second.id, ({ firings }) => firings.length > 0)
  const runs = []
  for (const { runId } of [...ofFirst, ...ofSecond]) {
    let run
    while (run?.completedAt === undefined) run = await ask(`/runs/${runId}?waitMs=1000`)
    runs.push(run.status)
  }
  const totals = [(await ask(`/tasks/${first.id}`)).totalRuns, (await ask(`/tasks/${second.id}`)).totalRuns]
  await service.stop()
  return { died: lives.died(service), writes: writesIn(service.log()), ofFirst, ofSecond, runs, totals }
}
