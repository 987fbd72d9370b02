import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { build } from './helper.ts'
import { tasksOf } from './tasks.ts'

export const post = async (app: App, url: string, payload: object) => {
  const response = await app.inject({ method: 'POST', url, payload })
  return { status: response.statusCode, body: response.headers['content-type'] === 'text/event-stream' ? {} : response.json() }
}
export const decide = (app: App, id: string, payload: object) => post(app, `/approvals/${id}`, payload)
export const waiting = async (app: App, query = '') => (await app.inject(`/approvals${query}`)).json().approvals

export async function taskWaiting (t: Test, settings: object = {}) {
  const app = await build(t, settings)
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const go = async (goal: string) => {
    const { id } = await tasks.create(goal, { taskType: 'triggered', approval: { mode: 'always' } })
    await tasks.post(`/${id}/run`)
    const { approvalId, runId }: Record<string, any> = await events.until('task:approval', { taskId: id })
    return { id, approvalId, runId }
  }
  return { app, tasks, events, go }
}
