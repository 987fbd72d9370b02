import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FiringList } from '../../schemas/triggers.ts'
import { changesBetween } from '../../services/tasks/triggers/file-changes.ts'
import { HOUR, MINUTE, scheduling, SECOND } from '../harness/schedules.ts'

type Given = Awaited<ReturnType<typeof scheduling>>
type Life = Pick<Given, 'tasks' | 'events'>

/** A service with a folder `in`, whose tasks have triggers. */
async function watching (t: Parameters<typeof scheduling>[0]) {
  const given = await scheduling(t)
  const inbox = join(given.cwd, 'in')
  mkdirSync(inbox)
  return { ...given, inbox, put: (name: string, text = name) => writeFileSync(join(inbox, name), text) }
}

const firings = ({ tasks }: Life, id: string): Promise<FiringList> => tasks.get(`/${id}/firings`)

/** Lets time pass, and the folders be looked at, until the task has so many firings. */
async function untilFired ({ clock, ...life }: Life & { clock: Given['clock'] }, id: string, count: number, step = 2 * SECOND): Promise<FiringList> {
  for (let turns = 0; ; turns++) {
    const found = await firings(life, id)
    if (found.firings.length >= count) return found
    if (turns === 2_000) throw new Error(`no firing: ${JSON.stringify(found)}`)
    await clock.advance(step)
  }
}

/** Resolves once the folder was looked at after now. */
async function lookedAt (given: Life & { clock: Given['clock'] }, id: string, state = 'watching'): Promise<FiringList> {
  const from = given.clock.now()
  for (let turns = 0; ; turns++) {
    const found = await firings(given, id)
    const [trigger] = found.triggers
    if (trigger.state === state && (state !== 'watching' || trigger.lookedAt! >= from)) return found
    if (turns === 2_000) throw new Error(`not ${state}: ${JSON.stringify(found)}`)
    await given.clock.advance(SECOND)
  }
}

const FILES = [{ type: 'files', path: 'in' }]

t.test('a burst of changes is one run that gets the paths as data, and what the run itself writes does not fire it', async (t) => {
  const given = await watching(t)
  const { tasks, events } = given
  const { id, taskType } = await tasks.create('write "seen" to in/seen.txt', { triggers: FILES, start: true })
  t.equal(taskType, 'triggered')
  await lookedAt(given, id)
  for (let n = 0; n < 1_000; n++) given.put(`${n}.txt`)

  const { firings: [fired] } = await untilFired(given, id, 1)
  t.match(fired, { type: 'files', fate: 'run', changed: 1_000, files: [{ path: '0.txt', kind: 'new' }] })
  await events.until('task:complete', { taskId: id })
  const run = await tasks.get(`/${id}/runs/${fired.runId}`)
  t.match(run, { trigger: 'files', input: { changedFiles: [{ count: 1_000, more: 'and 800 more' }] } })

  await lookedAt(given, id)
  await given.clock.advance(HOUR)
  t.equal((await firings(given, id)).firings.length, 1, 'its own file fires nothing')
})
