import { absoluteRow, type Row } from '../compare.ts'
import { cpuOf } from '../proc.ts'
import { median } from '../stats.ts'
import { createHome, startModels, startSubject } from '../subjects.ts'
import { watchEnds } from '../task-ends.ts'
import type { Context } from './context.ts'

const QUEUED = 30
const WARM_UP = 10
/** The pause between two single runs, in which a service may prepare the next one, in milliseconds. */
const PAUSE_MS = 200
const TASK = {
  goal: 'Tell me something about the sea.',
  approval: { mode: 'never' },
  plan: { phases: [{ description: 'Tell it' }] }
}

/**
 * Measures a task run from its start request to its end event, alone and with 30 queued runs. The models answer at once: one step, the
 * judge, and the search for findings.
 */
export async function taskRuns ({ times }: Context): Promise<Row[]> {
  const { dir, remove } = createHome({})
  const models = await startModels({ tokens: 20 })
  const { port, pid, stop } = await startSubject('service', { dir, url: models.url })
  const ends = await watchEnds(port)
  try {
    const post = async (path: string, body?: object) => {
      const response = await fetch(`http://127.0.0.1:${port}/tasks${path}`, {
        method: 'POST',
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
      })
      if (!response.ok) throw new Error(`POST /tasks${path} answered ${response.status}: ${await response.text()}`)
      return await response.json() as { id: string }
    }
    const run = async (count: number) => {
      const ids: string[] = []
      for (let n = 0; n < count; n++) ids.push((await post('', TASK)).id)
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      const cpu = cpuOf(pid)
      const began = performance.now()
      await Promise.all(ids.map(async (id) => {
        const ended = ends.of(id)
        await post(`/${id}/start`)
        await ended
      }))
      return { ms: performance.now() - began, cpu: (cpuOf(pid) - cpu) / count }
    }
    for (let n = 0; n < WARM_UP; n++) await run(1)
    const single = []
    for (let n = 0; n < times(30); n++) single.push(await run(1))
    const queued = []
    for (let n = 0; n < times(9); n++) queued.push(await run(QUEUED))
    const row = (what: string, all: Array<{ ms: number, cpu: number }>, bar: number) =>
      absoluteRow({ what, unit: 'ms', bar }, median(all.map(({ ms }) => ms)))
    const cpu = (what: string, all: Array<{ cpu: number }>): Row => ({
      what,
      unit: 'ms',
      service: all.reduce((sum, each) => sum + each.cpu, 0) / all.length,
      pass: true
    })
    return [
      row('a task run of three model calls', single, 60),
      cpu('the same, CPU', single),
      row(`${QUEUED} task runs queued`, queued, 2_000),
      cpu('the same, CPU a run', queued)
    ]
  } finally {
    ends.close()
    await Promise.all([stop(), models.stop()])
    remove()
  }
}
