import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Engine } from './schedule-engine.ts'
import type { ModelTask } from './schedule-model.ts'

/** Waits until the engine has come to what the model says. */
export async function agree ({ tasks }: Engine, ids: string[], models: ModelTask[], when: string) {
  const deadline = performance.now() + 20_000
  for (;;) {
    const [seen, wanted] = [await Promise.all(ids.map((id, n) => told(tasks, id, models[n].fates))), models.map(expected)]
    if (isDeepStrictEqual(seen, wanted)) return
    if (performance.now() > deadline) {
      for (const [n, each] of seen.entries()) {
        for (const key of Object.keys(each) as Array<keyof typeof each>) {
          if (!isDeepStrictEqual(each[key], wanted[n][key])) {
            throw new Error(`${when}: ${key} of task ${n} is ${JSON.stringify(each[key])}, by the rules ${JSON.stringify(wanted[n][key])}`)
          }
        }
      }
    }
    await turn()
  }
}

async function told (tasks: Engine['tasks'], id: string, hoped: Map<number, string>) {
  const { status, nextRunAt, pausedReason } = await tasks.get(id)
  const { runs } = await tasks.runs(id, { limit: 500 })
  const { upcoming, slots } = await tasks.schedule(id, { upcoming: 1, limit: 500 })
  const fates = new Map<number, string>()
  for (const { at, from = at, count = 1, fate, reason } of slots) {
    const every = count === 1 ? 1 : (at - from) / (count - 1)
    const name = reason === undefined ? fate : `${fate} ${reason}`
    // Once the clock was set back, times that were told of in one line may come again, each for itself.
    for (let time = from; time <= at; time += every) if (!fates.has(time) || hoped.get(time) === name) fates.set(time, name)
  }
  return {
    status,
    nextRunAt,
    pausedReason,
    upcoming: ['scheduled', 'running'].includes(status) && nextRunAt !== undefined ? upcoming[0] : undefined,
    runs: runs.toReversed().map((
      { trigger, status, standsFor }
    ) => [trigger, ['queued', 'running'].includes(status) ? 'live' : status, standsFor]),
    fates: [...fates].sort(([a], [b]) => a - b)
  }
}

const expected = ({ status, runsNext: next, reason, runs, fates, plan }: ModelTask): Awaited<ReturnType<typeof told>> => ({
  status,
  nextRunAt: next,
  pausedReason: reason,
  // What is announced is what is foretold.
  upcoming: ['scheduled', 'running'].includes(status) && plan !== undefined ? next : undefined,
  runs: runs.map(({ trigger, status, standsFor }) => [trigger, status === 'running' ? 'live' : status, standsFor]),
  fates: [...fates].sort(([a], [b]) => a - b)
})
