import { rmSync } from 'node:fs'
import type { Test } from 'tap'
import type { BoxKind } from '../../services/sandbox/sandbox.ts'
import type { Plan } from '../fakes/gateway.ts'
import { NO_BOX } from './boxes.ts'
import { tasksOf } from './tasks.ts'
import { withGateway } from './with-gateway.ts'

export const TOKEN = 'correct horse'
const plan = { plan: { phases: [{ description: 'do it' }] } }
export const call = (toolName: string, input: object): Plan => ({ toolCalls: [{ toolName, input }] })

/** Starts a service whose model makes these calls in each run, one per step. Runs of its tasks skip calls that no grant covers. */
export async function withTask (
  t: Test,
  steps: Plan[],
  { boxes = NO_BOX, ...options }: { boxes?: BoxKind, approval?: object, options?: object } = {}
) {
  const plans = { of: steps }
  const { app, gateway } = await withGateway(t, ({ body: { prompt } }) => {
    const done = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    return plans.of[done] ?? { text: ['That is all.'] }
  }, {
    ...{ token: TOKEN, boxes }
  })
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const tasks = await tasksOf(t, app, TOKEN)
  const request = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) => {
    const response = await app.inject({ method, url, headers: { authorization: `Bearer ${TOKEN}` }, ...(payload && { payload }) })
    return { status: response.statusCode, ...response.json() }
  }
  const { id } = await tasks.create('keep the notes', { ...plan, taskType: 'triggered', approval: { mode: 'granted' }, ...options })
  /** Rehearses the task and returns the sheet. */
  async function rehearse () {
    const { runId } = await request('POST', `/tasks/${id}/rehearse`)
    const run = await request('GET', `/runs/${runId}?waitMs=60000`)
    return { run, sheet: await request('GET', `/runs/${runId}/sheet`) }
  }
  /** Runs the task normally. */
  async function runOnce () {
    const { runId } = await tasks.post(`/${id}/run`)
    return request('GET', `/runs/${runId}?waitMs=60000`)
  }
  return { app, gateway, tasks, id, plans, request, rehearse, runOnce, at: (path: string) => `${app.cwd}/${path}` }
}
