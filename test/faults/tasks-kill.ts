import type { Test } from 'tap'
import { append, effects } from '../harness/effects.ts'
import { layFolders } from '../harness/folders.ts'
import { insistentClient, prepareDirectory, startDying, writesIn } from './dying-service.ts'

const TERMINAL = ['task:complete', 'task:error']

/** A task: what its run calls, step by step; every call appends its text. */
export interface Scenario {
  name: string
  mode: 'always' | 'never'
  steps: string[][]
  /** The task works in a link, which leads to another folder by the time of the first answer. */
  moves?: true
}

export const SCENARIOS: Record<'asked' | 'moved' | 'unasked', Scenario> = {
  asked: { name: 'a run that asks for each tool and for its result', mode: 'always', steps: [['a'], ['b', 'c']] },
  moved: { name: 'a run whose folder has changed when its first tool is approved', mode: 'always', steps: [['a'], ['b']], moves: true },
  unasked: { name: 'a run that nobody is asked about', mode: 'never', steps: [['a', 'b'], ['c']] }
}

const wanted = ({ steps }: Scenario) => steps.flat().join('')
const textOf = (call: any): string => /printf (\w)/.exec(call.input.command)![1]

/** A directory for it, see `prepareDirectory`. */
export function prepare (t: Test, { steps }: Scenario): Promise<string> {
  const look = { toolName: 'listDirectory', input: { path: '.' } }
  return prepareDirectory(t, [...steps.map((texts) => ({ toolCalls: [look, ...texts.map(append)] })), { text: 'done' }])
}

/**
 * Takes a task through its first run, and one death of the service at a durable write (see kill-at-write.ts): the
 * client does what a client would, looks at the state and listens to the events, and begins anew when the service died.
 */
async function liveThrough (t: Test, prepared: string, { mode, moves }: Scenario, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  const { a, b, link, retarget } = layFolders(lives.cwd)
  let isMoved = false
  const client = insistentClient(t, lives)
  const { insist } = client
  const seen: Array<Record<string, any>> = []

  /** Answers every question with yes until the task's run is over. */
  const through = (id: string, begin: string) =>
    insist(async (tasks) => {
      const events = await tasks.watch()
      try {
        for (;;) {
          const count = events.events.length
          const task = await tasks.get(`/${id}`)
          const [run] = await tasks.runs(id)
          if (run?.status === 'pending_approval') {
            if (moves && !isMoved) retarget(b)
            isMoved = true
            for (const { approvalId } of run.questions) await tasks.post(`/${id}/approve`, { approved: true, approvalId })
          } else if (task.status === 'planned') await tasks.post(`/${id}/${begin}`)
          else if (task.status === 'running') await events.beyond(count)
          else return
        }
      } finally {
        seen.push(...events.events)
        events.leave()
      }
    })

  const { id } = await insist((tasks) =>
    tasks.post('', { goal: 'go', approval: { mode }, ...(moves && { cwd: link }) }, { 'idempotency-key': 'the task' })
  )
  await through(id, 'start')
  return {
    id,
    died: () => lives.died(client.service),
    /** Whether the death is still to come: the life had fewer writes than were counted. */
    isAlive: () => lives.deaths === 0,
    seen,
    insist,
    effects: () => effects(moves ? b : lives.cwd),
    elsewhere: () => effects(a),
    task: () => insist((tasks) => tasks.get(`/${id}`)),
    runs: () => insist((tasks) => tasks.runs(id)),
    /** Lets it run once more. */
    async again () {
      await insist((tasks) => tasks.post(`/${id}/run`))
      await through(id, 'run')
    },
    async stop () {
      await client.service.stop()
      return client.service.log()
    }
  }
}

/** How many durable writes the run takes when nothing happens. */
export async function countWrites (t: Test, prepared: string, scenario: Scenario): Promise<number> {
  const calm = await liveThrough(t, prepared, scenario, 'count')
  t.equal(calm.effects(), wanted(scenario))
  t.match(await calm.task(), { status: 'completed', totalRuns: 1, successfulRuns: 1 })
  t.equal(calm.seen.filter(({ type }) => TERMINAL.includes(type)).length, 1)
  return writesIn(await calm.stop())
}

/** Kills at that write, `before` or `after` it: no run is lost or doubled, no effect happens twice, and the task can be used on. */
export async function survives (t: Test, prepared: string, scenario: Scenario, killAt: string) {
  const { died, isAlive, effects, elsewhere, seen, task, runs, again, insist, stop } = await liveThrough(t, prepared, scenario, killAt)
  t.ok(died(), 'the service died once')
  const { tasks: all } = await insist((tasks) => tasks.get(''))
  t.equal(all.length, 1, 'the task is there once')

  const [run, ...others] = await runs()
  t.same(others, [], 'there is one run')
  t.match(run, { runNumber: 1, status: 'completed', completedAt: Number, durationMs: Number }, 'what is in doubt fails no run')
  t.match(await task(), { status: 'completed', totalRuns: 1, successfulRuns: 1 })
  const told = (...types: string[]) => seen.filter(({ type }) => types.includes(type))
  t.ok(told(...TERMINAL).length <= 1, 'its end was told at most once')
  t.ok(told('task:start').length <= 1, 'and its beginning')
  t.same(seen.filter(({ runId = run.runId }) => runId !== run.runId), [], 'nothing was told of a run that is not there')

  const calls = run.toolCalls.filter(({ toolName }: any) => toolName === 'runCommand')
  const doubtful = calls.filter(({ error }: any) => /outcome unknown/i.test(error)).map(textOf)
  t.equal(calls.map(textOf).join(''), wanted(scenario), 'every call is on record once')
  t.ok(doubtful.length <= 1, 'only what was under way is in doubt')
  t.same(calls.filter(({ status }: any) => status !== 'completed').map(textOf), doubtful, 'all else is done')
  const possible = [wanted(scenario), ...doubtful.map((text: string) => wanted(scenario).replace(text, ''))]
  const happened = effects()
  t.ok(possible.includes(happened), `${happened} happened, one of ${possible} was to`)

  // What was told before the death is true after it.
  for (const { status } of told(...TERMINAL)) t.equal(run.status, status)
  for (const event of told('task:tool')) {
    if (event.tool === 'runCommand' && event.status === 'complete') {
      t.notOk(doubtful.includes(textOf(event)), `${textOf(event)} was told as done`)
    }
  }

  const history = (await task()).approvalHistory
  for (const { approvalId } of told('task:approval')) {
    t.ok(history.some((entry: any) => entry.approvalId === approvalId), 'what was asked is not asked anew')
  }
  t.equal(new Set(history.map(({ approvalId }: any) => approvalId)).size, history.length, 'no answer was taken twice')
  if (scenario.mode === 'always' && run.status === 'completed') {
    t.equal(history.length, wanted(scenario).length + (scenario.moves ? 2 : 1), 'none was lost')
  }
  t.equal(elsewhere(), '', 'nothing happened in a folder that was not shown')

  const mayDie = isAlive()
  await again()
  t.equal(effects(), happened + wanted(scenario), 'the task can be used on')
  t.match(await runs(), [{ runNumber: 2, status: 'completed' }, { runNumber: 1, status: run.status }])
  t.ok((await runs())[0].attempts <= (mayDie ? 2 : 1), 'a run that no death cut was begun once')
  await stop()
}
