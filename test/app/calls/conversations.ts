import { mkdirSync, writeFileSync } from 'node:fs'
import type { App } from '../../../app.ts'
import { newId } from '../../../services/lib/ids.ts'
import { OPTIONS } from '../../harness/app-tools.ts'
import { anAgent, asking, calledApp, chatAsking, granted, inBackground, learned, live, paired, post, writing } from './parts.ts'

/** A call of every route of runs, conversations and what they ask. */
export const conversationsCalls: Record<string, (app: App) => Promise<unknown>> = {
  'POST /run/sync 200': (app) =>
    app.inject({
      method: 'POST',
      url: '/run/sync',
      payload: { messages: [{ role: 'user', content: 'read missing.txt, then system info' }] }
    }),
  'GET /v1/models 200': (app) => anAgent(app).then(() => app.inject('/v1/models')),
  'GET /v1/models/:id 200': (app) => app.inject('/v1/models/offline%2Fassistant'),
  'POST /v1/responses 200': (app) => post(app, '/v1/responses', { model: 'offline/assistant', input: 'system info' }),
  'POST /v1/chat/completions 200': async (app) => {
    await post(app, '/v1/chat/completions', { model: 'none', messages: [{ role: 'user', content: 'hi' }] })
    return post(app, '/v1/chat/completions', { model: 'offline/assistant', messages: [{ role: 'user', content: 'system info' }] })
  },
  'GET /run/:id/stream 204': (app) => app.inject('/run/nobody/stream'),
  'POST /run/:id/steer 200': async (app) => {
    await live(app)
    return app.inject({ method: 'POST', url: '/run/live/steer', payload: { message: 'hurry up' } })
  },
  'POST /run/:id/stop 200': async (app) => {
    await live(app)
    return app.inject({ method: 'POST', url: '/run/live/stop' })
  },
  'GET /approvals 200': async (app) => {
    await chatAsking(app)
    await asking(app)
    return app.inject('/approvals?limit=2')
  },
  'GET /approvals/:id/preview 200': async (app) => app.inject(`/approvals/${await chatAsking(app)}/preview`),
  'POST /approvals/:id/preview 200': async (app) =>
    app.inject({ method: 'POST', url: `/approvals/${await chatAsking(app)}/preview`, payload: {} }),
  'POST /approvals/:id 200': async (app) =>
    app.inject({ method: 'POST', url: `/approvals/${await chatAsking(app)}`, payload: { approved: false, reason: 'no' } }),
  'GET /notifications 200': async (app) => {
    await asking(app)
    return app.inject('/notifications')
  },
  'POST /notifications/:id 200': async (app) => {
    await asking(app)
    const [{ notificationId }] = (await app.inject('/notifications')).json().notifications
    return app.inject({ method: 'POST', url: `/notifications/${notificationId}`, payload: { shown: true } })
  },
  'GET /commands 200': async (app) => {
    await inBackground(app)
    return app.inject('/commands')
  },
  'POST /commands/:id/stop 200': async (app) => post(app, `/commands/${await inBackground(app)}/stop`, {}),
  'GET /folders 200': (app) => app.inject('/folders?path=/'),
  'GET /folders/places 200': (app) => app.inject('/folders/places'),
  'GET /skills 200': async (app) => {
    const folder = `${app.workspace()}/.agents/skills/notes`
    mkdirSync(folder, { recursive: true })
    writeFileSync(`${folder}/SKILL.md`, '---\ndescription: Writes release notes.\nallowed-tools: Bash(git log:*)\n---\n')
    return app.inject('/skills')
  },
  'POST /skills/accept 200': async (app) => {
    const [{ name, digest }] = (await app.inject('/skills')).json().skills
    return post(app, '/skills/accept', { name, digest })
  },
  'GET /threads/:id/buffers 200': async (app) => app.inject('/threads/edited/buffers?editor=desk'),
  'POST /threads/:id/buffers/:requestId 200': async (app) => post(app, `/threads/edited/buffers/${newId()}`, { text: 'Buy tea' }),
  'GET /runs 200': async (app) => {
    await chatAsking(app)
    await asking(app)
    return app.inject('/runs?limit=2')
  },
  'GET /runs/:runId 200': async (app) => app.inject(`/runs/${await writing(app)}?waitMs=1`),
  'GET /tool-calls 200': async (app) => {
    await calledApp(app)
    return app.inject('/tool-calls')
  },
  'POST /tool-calls/:id 200': async (app) => {
    const { pendingToolCalls: [{ toolCallId }] } = (await calledApp(app)).json()
    return post(app, `/tool-calls/${toolCallId}`, { claim: 'window-1' })
  },
  'GET /runs/:runId/changes 200': async (app) => app.inject(`/runs/${await writing(app)}/changes?limit=1`),
  'POST /runs/:runId/recording 200': async (app) => app.inject({ method: 'POST', url: `/runs/${await writing(app)}/recording` }),
  'POST /runs/:runId/undo 200': async (app) => app.inject({ method: 'POST', url: `/runs/${await writing(app)}/undo` }),
  'POST /runs/:runId/apply 200': async (app) => {
    const message = { role: 'user', content: 'list the files here' }
    const { runId } = (await post(app, '/run/sync', { id: 'copied', message, options: { workspace: 'copy' } })).json()
    return post(app, `/runs/${runId}/apply`, { dryRun: true })
  },
  'GET /devices 200': async (app) => {
    await paired(app)
    return app.inject('/devices')
  },
  'DELETE /devices/:id 200': async (app) => app.inject({ method: 'DELETE', url: `/devices/${(await paired(app)).deviceId}` }),
  'GET /grants 200': async (app) => {
    await granted(app)
    return app.inject('/grants')
  },
  'POST /grants 201': granted,
  'DELETE /grants/:id 200': async (app) => app.inject({ method: 'DELETE', url: `/grants/${(await granted(app)).json().grantId}` }),
  'GET /threads 200': async (app) => {
    await app.inject({ method: 'POST', url: '/threads', payload: { id: 'listed', title: 'Listed' } })
    await app.inject({ method: 'POST', url: '/threads', payload: {} })
    return app.inject('/threads?limit=1')
  },
  'GET /search 200': async (app) => {
    for (const id of ['searched', 'also searched']) {
      await app.inject({ method: 'PUT', url: `/threads/${id}`, payload: { messages: [{ role: 'user', content: 'Where is the pier?' }] } })
    }
    return app.inject('/search?q=pier&limit=1')
  },
  'POST /threads 201': (app) =>
    app.inject({
      method: 'POST',
      url: '/threads',
      payload: { id: 'made', messages: [{ role: 'user', content: 'hi', deep: { x: [1] } }], mine: { x: null } }
    }),
  'GET /threads/:id 200': async (app) => {
    await app.inject({
      method: 'PUT',
      url: '/threads/read',
      payload: { messages: [{ role: 'user', content: 'hi', deep: { x: [1] } }, { role: 'user', content: 'ho' }], mine: { x: null } }
    })
    return app.inject('/threads/read?limit=1')
  },
  'PUT /agents/:name 200': (app) => anAgent(app),
  'GET /agents/:name 200': (app) => anAgent(app).then(() => app.inject('/agents/shop')),
  'GET /agents 200': (app) => anAgent(app).then(() => app.inject('/agents')),
  'DELETE /agents/:name 200': (app) => anAgent(app).then(() => app.inject({ method: 'DELETE', url: '/agents/shop' })),
  'PUT /threads/:id 200': (app) =>
    app.inject({ method: 'PUT', url: '/threads/made', payload: { title: 'Made', mine: [1], settings: { options: OPTIONS } } }),
  'DELETE /threads/:id 200': async (app) => {
    await app.inject({ method: 'POST', url: '/threads', payload: { id: 'gone' } })
    return app.inject({ method: 'DELETE', url: '/threads/gone' })
  },
  'GET /threads/:id/versions 200': async (app) => {
    for (const content of ['hey', 'hello']) {
      await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'said', messages: [{ role: 'user', content, id: 'u' }] } })
    }
    return app.inject('/threads/said/versions')
  },
  'GET /threads/:id/versions/:versionId 200': async (app) => {
    const { versions: [{ id }] } = (await app.inject('/threads/said/versions')).json()
    return app.inject(`/threads/said/versions/${id}`)
  },
  'POST /threads/:id/versions/:versionId/restore 200': async (app) => {
    const { versions: [{ id }] } = (await app.inject('/threads/said/versions')).json()
    return app.inject({ method: 'POST', url: `/threads/said/versions/${id}/restore` })
  },
  'POST /threads/:id/extract 200': async (app) => {
    await app.inject({
      method: 'PUT',
      url: '/threads/told',
      payload: { messages: [{ id: 'm', role: 'user', content: 'My name is Ada. Call me Ada.' }] }
    })
    await learned(app, 'told')
    return app.inject({ method: 'POST', url: '/threads/told/extract' })
  },
  'DELETE /threads 200': (app) => app.inject({ method: 'DELETE', url: '/threads' }),
  'POST /attachments 201': (app) => app.inject({ method: 'POST', url: '/attachments', payload: 'tea' }),
  'GET /attachments/:digest 200': async (app) => {
    const { digest } = (await app.inject({ method: 'POST', url: '/attachments', payload: 'tea' })).json()
    return app.inject(`/attachments/${digest}`)
  }
}
