import type { App } from '../../../app.ts'
import { aTask, asking, post, rehearsed, weekly } from './parts.ts'

/** A call of every route of tasks. */
export const tasksCalls: Record<string, (app: App) => Promise<unknown>> = {
  'POST /tasks/:id/rehearse 202': async (app) => post(app, `${await aTask(app)}/rehearse`),
  'GET /tasks/:id/rehearsals 200': async (app) => app.inject(`/tasks/${(await rehearsed(app)).taskId}/rehearsals`),
  'GET /runs/:runId/sheet 200': async (app) => app.inject(`/runs/${(await rehearsed(app)).runId}/sheet`),
  'GET /tasks 200': async (app) => {
    await aTask(app)
    await aTask(app)
    return app.inject('/tasks?limit=1&type=recurring&status=planned')
  },
  'GET /tasks/digest 200': async (app) => {
    await asking(app)
    await aTask(app)
    return app.inject('/tasks/digest?since=0&limit=1')
  },
  'POST /schedules/preview 200': (app) => post(app, '/schedules/preview', { text: 'every other friday at 9' }),
  'POST /tasks/digest/seen 200': (app) => post(app, '/tasks/digest/seen', { client: 'test', until: 1 }),
  'POST /tasks 201': (app) => post(app, '/tasks', weekly),
  'GET /tasks/:id 200': async (app) => {
    const { task } = await asking(app)
    await post(app, `${task}/approve`, { approved: false, notes: 'no' })
    await post(app, `${task}/steer`, { comment: 'more' })
    return app.inject(task)
  },
  'PUT /tasks/:id 200': async (app) =>
    app.inject({
      method: 'PUT',
      url: await aTask(app),
      payload: { plan: { phases: [{ description: 'one' }], qualityCriteria: ['good'] } }
    }),
  'DELETE /tasks/:id 200': async (app) => app.inject({ method: 'DELETE', url: await aTask(app) }),
  'POST /tasks/:id/start 200': async (app) => post(app, `${await aTask(app)}/start`),
  'POST /tasks/:id/pause 200': async (app) => {
    const task = await aTask(app)
    await post(app, `${task}/start`)
    return post(app, `${task}/pause`)
  },
  'POST /tasks/:id/resume 200': async (app) => {
    const task = await aTask(app)
    await post(app, `${task}/start`)
    await post(app, `${task}/pause`)
    return post(app, `${task}/resume`)
  },
  'POST /tasks/:id/cancel 200': async (app) => post(app, `${await aTask(app)}/cancel`),
  'POST /tasks/:id/run 202': async (app) => post(app, `${await aTask(app)}/run`),
  'POST /tasks/:id/steer 200': async (app) => post(app, `${await aTask(app)}/steer`, { comment: 'more' }),
  'POST /tasks/:id/approve 200': async (app) => post(app, `${(await asking(app)).task}/approve`, { approved: true }),
  'GET /tasks/:id/runs 200': async (app) => {
    const { task } = await asking(app)
    return app.inject(`${task}/runs?limit=1`)
  },
  'GET /tasks/:id/runs/:runId 200': async (app) => {
    const { task, runId } = await asking(app)
    return app.inject(`${task}/runs/${runId}`)
  },
  'POST /tasks/:id/runs/:runId/cancel 200': async (app) => {
    const { task, runId } = await asking(app)
    return post(app, `${task}/runs/${runId}/cancel`)
  },
  'GET /tasks/:id/schedule 200': async (app) => app.inject(`${await aTask(app)}/schedule?upcoming=2`),
  'GET /tasks/:id/memory 200': async (app) => app.inject(`${await aTask(app)}/memory`),
  'PUT /tasks/:id/memory 200': async (app) =>
    app.inject({ method: 'PUT', url: `${await aTask(app)}/memory`, payload: { decisions: ['Write prices in euros.'] } }),
  'DELETE /tasks/:id/memory 200': async (app) => app.inject({ method: 'DELETE', url: `${await aTask(app)}/memory` }),
  'GET /tasks/:id/firings 200': async (app) => {
    const first = await aTask(app)
    const trigger = { type: 'task', taskId: first.slice('/tasks/'.length), on: 'completed' }
    const second = await aTask(app, { triggers: [trigger, { type: 'files', path: '.', glob: '*.csv' }], start: true })
    await post(app, `${second}/pause`)
    return app.inject(`${second}/firings?limit=1`)
  }
}
