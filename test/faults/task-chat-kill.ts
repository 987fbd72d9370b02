import type { Test } from 'tap'
import { startFakeGateway } from '../fakes/gateway.ts'
import { parseEvents, type Sent } from '../harness/sse.ts'
import { prepareDirectory, startDying, writesIn } from './dying-service.ts'

const DAILY = { goal: 'count the files', when: { every: 'daily at 9', zone: 'UTC' } }
const OTHER = { goal: 'list the files', when: { every: 'daily at 9', zone: 'UTC' } }

/** A directory for the service, and a model that makes the call which is in `call`, then says that it is done. */
export async function prepareTaskChat (t: Test) {
  const state: { said?: string, call?: { toolName: string, input: object } } = {}
  const gateway = await startFakeGateway({
    reply: ({ structured, body: { prompt } }) => {
      if (structured !== undefined) return { object: { phases: [{ description: 'do it' }], qualityCriteria: [] } }
      const { role, content } = prompt.at(-1)
      const isAsked = role === 'user' && content.at(-1).text === state.said
      return isAsked && state.call !== undefined ? { toolCalls: [state.call] } : { text: 'Done.' }
    }
  })
  t.teardown(() => gateway.close())
  const dir = await prepareDirectory(t, [], { model: 'test/model', analysis: false, threads: { titles: false } })
  return { dir, state, env: { AI_GATEWAY_API_KEY: 'the-key', AI_GATEWAY_BASE_URL: gateway.url } }
}

type Prepared = Awaited<ReturnType<typeof prepareTaskChat>>

/**
 * Makes two tasks in a conversation, changes, runs and cancels the first, and undoes the other, through one death of the service. The chat
 * sends a message again that was not answered to its end, as chats do: with the same history and the same ids.
 */
async function liveThrough (t: Test, { dir, state, env }: Prepared, killAt: string) {
  const lives = await startDying(t, dir, killAt, env)
  let service = lives.first
  const revive = async () => {
    await service.exited
    if (lives.deaths > 0) throw new Error(`it died again: ${service.log()}`)
    service = await lives.revive()
  }
  const json = async (path: string, method = 'GET'): Promise<{ status: number, body: any }> => {
    for (;;) {
      try {
        const response = await fetch(service.url + path, { method })
        return { status: response.status, body: await response.json() }
      } catch {
        await revive()
      }
    }
  }
  const history: object[] = []
  const events: Sent[] = []
  /** Sends messages; false when the answer is cut off. */
  async function send (body: object): Promise<boolean> {
    let text = ''
    try {
      const response = await fetch(`${service.url}/run?protocol=ui`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body)
      })
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) text += chunk
    } catch {}
    const [told, end] = text.split('data: [DONE]')
    events.push(...parseEvents(told))
    return end !== undefined
  }
  /** Says it until it is answered. Returns the task that the answer shows. */
  async function tell (text: string, toolName: string, input: object): Promise<Record<string, any>> {
    Object.assign(state, { said: text, call: { toolName, input } })
    const message = { id: `said-${history.length}`, role: 'user', parts: [{ type: 'text', text }] }
    for (;;) {
      const isWhole = await send({ id: 'chat', messages: [...history, message] })
      if (isWhole) break
      await revive()
    }
    const { body: { messages } } = await json('/threads/chat?protocol=ui')
    history.splice(0, history.length, ...messages)
    const shown = messages.at(-1).parts.filter(({ type }: { type: string }) => type === 'data-task')
    t.equal(shown.length, 1, `${text}: the answer shows the task`)
    return shown[0].data
  }

  const { taskId } = await tell('count the files each day', 'createTask', DAILY)
  t.match((await json(`/tasks/${taskId}`)).body, { goal: DAILY.goal, scheduleWords: 'every day at 09:00' })
  await tell('rather on Mondays', 'changeTask', { taskId, when: { every: 'every monday at 10', zone: 'UTC' } })
  t.match((await json(`/tasks/${taskId}`)).body, { scheduleWords: 'every Monday at 10:00', status: 'scheduled' })
  const other = await tell('list them, too', 'createTask', OTHER)
  await tell('count them now', 'changeTask', { taskId, action: 'run' })
  const { body: { runs } } = await json(`/tasks/${taskId}/runs`)
  t.equal(runs.length, 1, 'it runs once')
  await json(`/runs/${runs[0].runId}?waitMs=20000`)
  await tell('stop counting', 'changeTask', { taskId, action: 'cancel' })
  const undone = await json(`/tasks/${other.taskId}`, 'DELETE')
  t.ok(undone.status === 200 || (undone.status === 404 && lives.deaths === 1), 'it is undone')
  const { body: { tasks } } = await json('/tasks')
  const ids = new Set(events.filter(({ type }) => type === 'data-task').map(({ data }) => data.taskId))
  await service.stop()
  return { died: lives.died(service), tasks, told: ids.size, writes: writesIn(service.log()) }
}

const LEFT = [{ goal: DAILY.goal, status: 'cancelled', scheduleWords: 'every Monday at 10:00', totalRuns: 1 }]

/** The number of durable writes when nothing happens. */
export async function countTaskChatWrites (t: Test, prepared: Prepared): Promise<number> {
  const { writes, tasks, told } = await liveThrough(t, prepared, 'count')
  t.match(tasks, LEFT)
  t.equal(told, 2)
  return writes
}

/** Kills at that write: no task is there twice, none that was shown is lost, each is as it was said last, and what is undone is gone. */
export async function survivesTaskChat (t: Test, prepared: Prepared, killAt: string): Promise<void> {
  const { died, tasks, told } = await liveThrough(t, prepared, killAt)
  t.ok(died, 'the service died once')
  t.equal(tasks.length, 1)
  t.match(tasks, LEFT)
  t.equal(told, 2, 'no task was shown that is not there')
}
