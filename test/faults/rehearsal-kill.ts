import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const EDIT = { toolCalls: [{ toolName: 'editFile', input: { path: 'kept.txt', edits: [{ oldText: 'was', newText: 'is' }] } }] }
const MAKE = { toolCalls: [{ toolName: 'writeFile', input: { path: 'made.txt', content: 'x' } }] }
const GOAL = { goal: 'keep it', taskType: 'triggered', plan: { phases: [{ description: 'do it' }] }, approval: { mode: 'granted' } }

/** A service whose model changes a file and makes another one in each run. */
export const prepareRehearsal = async (t: Test): Promise<string> => {
  const dir = await prepareDirectory(t, [EDIT, MAKE, { text: 'done' }])
  writeFileSync(`${dir}/work/kept.txt`, 'as it was')
  return dir
}

/** Rehearses a task and accepts a line, through one death of the service; whoever is not answered asks again. */
async function liveThrough (t: Test, prepared: string, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  const call = async (path: string, body?: object) => {
    for (let tries = 0; tries < 3; tries++) {
      const sent = body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
      const answer = await fetch(service.url + path, sent).then((response) => response.json() as any).catch(() => undefined)
      if (answer !== undefined) return answer
      await service.exited
      service = await lives.revive()
    }
    throw new Error('it died more than once')
  }
  const { id } = await call('/tasks', GOAL)
  let run: { runId: string, status: string }
  let cut = 0
  for (;; cut++) {
    const { runId } = await call(`/tasks/${id}/rehearse`, {})
    const asked = performance.now()
    run = await call(`/runs/${runId}?waitMs=60000`)
    t.ok(performance.now() - asked < 60_000, 'its end is told to who waits for it')
    t.ok(run.status === 'completed' || (run.status === 'interrupted' && cut === 0), run.status)
    if (run.status === 'completed') break
  }
  const { grants } = await call('/grants', { sheet: run.runId, lines: [{ line: 2, scope: 'folder' }] })
  const listed = await call(`/grants?taskId=${id}`)
  const { rehearsals } = await call(`/tasks/${id}/rehearsals`)
  const copies = `${lives.home}-copies`
  for (const end = Date.now() + 40_000; existsSync(copies) && readdirSync(copies).length > 0 && Date.now() < end;) await wait(20)
  const { totalRuns } = await call(`/tasks/${id}`)
  await service.stop()
  return {
    died: lives.died(service),
    grants: listed.grants.length,
    isSame: grants[0].grantId === listed.grants[0].grantId,
    states: rehearsals.map(({ status }: { status: string }) => status),
    copies: existsSync(copies) ? readdirSync(copies).length : 0,
    totalRuns,
    files: readdirSync(lives.cwd),
    kept: readFileSync(`${lives.cwd}/kept.txt`, 'utf8'),
    writes: writesIn(service.log())
  }
}

const AS_IT_WAS = { copies: 0, totalRuns: 0, files: ['kept.txt'], kept: 'as it was' }

/** The number of durable writes when nothing happens. */
export async function countRehearsalWrites (t: Test, prepared: string): Promise<number> {
  const { writes, ...calm } = await liveThrough(t, prepared, 'count')
  t.same(calm, { died: false, grants: 1, isSame: true, states: ['completed'], ...AS_IT_WAS })
  return writes
}

/** Kills at that write: the folder stays as it was, no copy is left, each rehearsal is over, and one answer makes one grant. */
export async function survivesRehearsal (t: Test, prepared: string, killAt: string): Promise<void> {
  const { died, writes, states, ...rest } = await liveThrough(t, prepared, killAt)
  t.ok(died, 'the service died once')
  t.same(rest, { grants: 1, isSame: true, ...AS_IT_WAS })
  t.ok(states.every((state: string) => state === 'completed' || state === 'interrupted'), states.join(' '))
}
