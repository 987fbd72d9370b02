import type { Test } from 'tap'
import { OPTIONS } from '../harness/app-tools.ts'
import { postEvents } from '../harness/sse.ts'
import { watchTasks } from '../harness/tasks.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

/** What the model calls, step by step, in a conversation or a task. The application claims, executes and answers each call. */
export interface Scenario {
  name: string
  as: 'chat' | 'task'
  steps: string[][]
}

export const SCENARIOS: Scenario[] = [
  { name: 'a conversation with two calls of one step', as: 'chat', steps: [['openDocument', 'openDocument']] },
  { name: 'a conversation with an approved call, and another one', as: 'chat', steps: [['saveDocument'], ['openDocument']] },
  { name: 'a task with two calls of one step', as: 'task', steps: [['openDocument', 'openDocument']] },
  { name: 'a task with an approved call, and another one', as: 'task', steps: [['saveDocument'], ['openDocument']] }
]

/** A directory for it, see `prepareDirectory`. */
export const prepare = (t: Test, { steps }: Scenario): Promise<string> =>
  prepareDirectory(t, [
    ...steps.map((names) => ({ toolCalls: names.map((toolName) => ({ toolName, input: { name: 'Budget' } })) })),
    { text: 'done' }
  ])

/** More rounds than any scenario takes: a run that does not come to its end fails the test instead of blocking it. */
const MOST_ROUNDS = 60

/**
 * Goes through a scenario and one death of the service at a durable write (see kill-at-write.ts). The application does what one would:
 * it executes a call when its claim was acknowledged, and repeats what was not acknowledged.
 */
async function liveThrough (t: Test, prepared: string, { as }: Scenario, killAt: string) {
  const lives = await startDying(t, prepared, killAt)
  let service = lives.first
  /** The outputs of the calls that the application executed, in their order. */
  const executed = new Map<string, { n: number }>()
  let taskId: string | undefined

  async function send (method: string, path: string, body?: object, headers: object = {}): Promise<{ status: number, body: any }> {
    const response = await fetch(`${service.url}${path}`, {
      method,
      headers: { ...body && { 'content-type': 'application/json' }, ...headers },
      ...body && { body: JSON.stringify(body) }
    })
    return { status: response.status, body: await response.json() }
  }
  const answer = (id: string, body: object) => send('POST', `/tool-calls/${id}`, body)

  /** Does what waits for somebody. Returns whether there was anything. */
  async function serve (): Promise<boolean> {
    const { approvals } = (await send('GET', '/approvals')).body
    for (const { approvalId } of approvals) await send('POST', `/approvals/${approvalId}`, { approved: true })
    const { toolCalls } = (await send('GET', '/tool-calls')).body
    for (const { toolCallId: id } of toolCalls) {
      if ((await answer(id, { claim: 'window-1' })).status !== 200) continue
      if (!executed.has(id)) executed.set(id, { n: executed.size })
      await answer(id, { claim: 'window-1', output: executed.get(id)! })
    }
    return approvals.length + toolCalls.length > 0
  }

  /** Takes the conversation a step on; returns whether it is at its end. */
  async function chat (): Promise<boolean> {
    const thread = await send('GET', '/threads/chat')
    const last = thread.body.messages?.at(-1)
    if (last?.role === 'assistant' && last.content.at(-1).text === 'done') return true
    if (await serve()) {
      // Resolves when the run has ended, or at once when none is under way.
      await (await fetch(`${service.url}/run/chat/stream`)).text()
      return false
    }
    const repeated = [...executed].at(-1)
    if (repeated !== undefined && (await answer(repeated[0], { output: repeated[1] })).status === 200) {
      await (await fetch(`${service.url}/run/chat/stream`)).text()
    } else await postEvents(`${service.url}/run`, { id: 'chat', messages: [{ role: 'user', content: 'go' }], options: OPTIONS })
    return false
  }

  /** Takes the task on; returns whether its run is over. */
  async function task (): Promise<boolean> {
    const plan = { phases: [{ description: 'do it' }] }
    const definition = { goal: 'go', approval: { mode: 'always' }, plan, options: OPTIONS }
    taskId ??= (await send('POST', '/tasks', definition, { 'idempotency-key': 'the task' })).body.id as string
    const events = await watchTasks({ teardown () {} }, service.url)
    try {
      const count = events.events.length
      const { status } = (await send('GET', `/tasks/${taskId}`)).body
      if (status === 'planned') await send('POST', `/tasks/${taskId}/start`)
      else if (status === 'pending_approval') await serve()
      else if (status === 'running') await events.beyond(count)
      else return true
      return false
    } finally {
      events.leave()
    }
  }

  let rounds = 0
  for (let isOver = false; !isOver && rounds < MOST_ROUNDS; rounds++) {
    try {
      isOver = await (as === 'chat' ? chat() : task())
    } catch (error) {
      await service.exited
      if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`, { cause: error })
      service = await lives.revive()
    }
  }
  // What follows only looks, and repeats answers; a task stores that again.
  const writes = writesIn(service.log())
  const open = [...(await send('GET', '/tool-calls')).body.toolCalls, ...(await send('GET', '/approvals')).body.approvals]
  const thread = (await send('GET', '/threads/chat')).body
  const runs = taskId === undefined ? [] : (await send('GET', `/tasks/${taskId}/runs`)).body.runs
  const again = await Promise.all([...executed].map(async ([id, output]) => (await answer(id, { output })).status))
  await service.stop()
  return {
    deaths: lives.deaths,
    died: lives.died(service),
    rounds,
    executed,
    open,
    again,
    runs,
    /** What the model was told. */
    told: as === 'chat'
      ? thread.messages.flatMap(({ role, content }: any) => role === 'tool' ? content : []).map(({ output }: any) => output.value)
      : runs.flatMap(({ toolCalls }: any) => toolCalls.map(({ output }: any) => output)),
    writes
  }
}

/** How many durable writes a scenario takes when nothing happens. */
export async function countWrites (t: Test, prepared: string, scenario: Scenario): Promise<number> {
  const calm = await liveThrough(t, prepared, scenario, 'count')
  t.equal(calm.deaths, 0)
  t.same(calm.told, [...calm.executed.values()])
  return calm.writes
}

/** Kills at that write, `before` or `after` it: each call is executed once, the model is told what it gave, and nothing is left open. */
export async function survives (t: Test, prepared: string, scenario: Scenario, killAt: string) {
  const { died, rounds, executed, open, again, runs, told } = await liveThrough(t, prepared, scenario, killAt)
  t.ok(died, 'the service died once')
  t.ok(rounds < MOST_ROUNDS, 'the run came to its end')
  t.equal(executed.size, scenario.steps.flat().length, 'each call was executed once')
  t.same(told, [...executed.values()], 'the model was told each output once')
  t.same(open, [], 'nothing is left open')
  t.same(new Set(again), new Set([200]), 'each answer is known')
  if (scenario.as === 'task') t.match(runs, [{ status: 'completed', runNumber: 1 }])
}
