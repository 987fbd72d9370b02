import { mkdirSync, writeFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import * as compilers from '../../plugins/core/compilers.ts'
import { newId } from '../../services/lib/ids.ts'
import { HealthSchema } from '../../schemas/service.ts'
import { answer, asked, of, say } from '../harness/agent.ts'
import { OPTIONS } from '../harness/app-tools.ts'
import { calling } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { connect, everything } from '../harness/mcp.ts'
import { startGuarded } from '../harness/mcp-guarded.ts'
import { parseEvents } from '../harness/sse.ts'
import { tasksOf } from '../harness/tasks.ts'

interface Compiled {
  name: string
  compile(): unknown
}
interface Sent {
  name: string
  given: unknown
  sent: unknown
}

/** The service with compilers that remember every schema, and everything that was serialized. */
async function watched (t: Test, config = {}) {
  const schemas: Compiled[] = []
  const sent: Sent[] = []
  const lazyCompilers = () => {
    const { buildValidator, buildSerializer, ...rest } = compilers.lazyCompilers({ validateSchema: true })
    return {
      ...rest,
      buildValidator (...args: unknown[]) {
        const make = buildValidator(...args)
        return (route: any) => {
          const validate = make(route)
          schemas.push({ name: `${route.method} ${route.url} ${route.httpPart}`, compile: validate.compile })
          return validate
        }
      },
      buildSerializer (...args: unknown[]) {
        const make = buildSerializer(...args)
        return (route: any) => {
          const serialize = make(route)
          // Streams and files name their media type and are sent as they are.
          const name = [route.method, route.url, route.httpStatus, route.contentType].filter(Boolean).join(' ')
          schemas.push({ name, compile: serialize.compile })
          return (data: unknown) => {
            const text = serialize(data)
            sent.push({ name, given: JSON.parse(JSON.stringify(data)), sent: JSON.parse(text) })
            return text
          }
        }
      }
    }
  }
  const app = await build(t, { config, compilers: lazyCompilers })
  return { app, schemas, sent }
}

t.test('every schema of every route compiles', async (t) => {
  const { app, schemas } = await watched(t)
  t.ok(schemas.length > app.routeTable.endpoints.length, 'they are seen here')
  for (const { name, compile } of schemas) t.doesNotThrow(compile, name)
})

t.test('every route says what it answers', async (t) => {
  const { app, schemas } = await watched(t)
  // GET /health writes its own answer, so that the first one waits for no compiler.
  for (const endpoint of app.routeTable.endpoints.filter((each) => each !== 'GET /health')) {
    t.ok(schemas.some(({ name }) => name.startsWith(`${endpoint} `) && /\d/.test(name)), endpoint)
  }
})

const config = {
  model: 'offline/assistant',
  offline: calling({ toolName: 'openDocument', input: { name: 'Budget' } }).offline,
  mcp: [{ name: 'x', command: 'y', args: ['z'], env: { KEY: 'secret' }, approval: 'always' }],
  permissions: { writeFile: 'ask', runCommand: 'allow' },
  unknown: { nested: [{ deep: [1, 'two', null, true, { three: 3.5 }] }] }
}

/** A grant for files in a conversation. */
async function granted (app: App) {
  await app.inject({ method: 'PUT', url: '/threads/granted', payload: {} })
  const input = { path: 'a.txt', content: 'x' }
  return app.inject({
    method: 'POST',
    url: '/grants',
    payload: { threadId: 'granted', toolName: 'writeFile', input, scope: 'folder', until: { uses: 5, at: Date.now() + 60_000 } }
  })
}

/** A call of an application. */
const calledApp = (app: App) =>
  post(app, '/run/sync', { messages: [{ role: 'user', content: 'open it' }], options: { ...OPTIONS, model: 'offline/scripted' } })

/** A run under way in the conversation `live`. */
const live = async (app: App) =>
  app.agent.activeRunCount > 0 ||
  app.agent.run({ messages: [{ role: 'user', content: 'run `sleep 30`' }], id: 'live', resumable: true })

const weekly = {
  goal: "write 'x' to task.txt",
  taskType: 'recurring',
  schedule: { interval: 'weekly', on: ['mon', 'thu'], missed: 'skip', graceMs: 0 },
  budget: { maxTokensPerRun: 9e6, maxMinutesPerRun: 0.5 }
}
const post = (app: App, url: string, payload?: object) => app.inject({ method: 'POST', url, payload })
const anAgent = (app: App) =>
  app.inject({ method: 'PUT', url: '/agents/shop', payload: { description: 'Sells', options: { instructions: 'Be brief.', ...OPTIONS } } })
const aTask = async (app: App, fields: object = {}): Promise<string> =>
  `/tasks/${(await post(app, '/tasks', { ...weekly, ...fields })).json().id}`
/** A task whose run waits for a person's word about a tool. */
async function asking (app: App) {
  const tasks = await tasksOf({ teardown () {} }, app)
  const events = await tasks.watch()
  const task = await aTask(app)
  await post(app, `${task}/run`)
  const { runId } = await events.until('task:approval', { taskId: task.slice('/tasks/'.length) })
  events.leave()
  return { task, runId }
}

/** A rehearsal that is over; returns its ids. */
async function rehearsed (app: App): Promise<{ taskId: string, runId: string }> {
  const begun = (await post(app, `${await aTask(app)}/rehearse`)).json()
  await app.inject(`/runs/${begun.runId}?waitMs=60000`)
  return begun
}

/** A command that stays; returns its id. */
async function inBackground (app: App): Promise<string> {
  const messages = [{ role: 'user', content: 'run `sleep 1000` and keep it running' }]
  await post(app, '/run/sync', { messages })
  return (await app.inject('/commands')).json().commands.at(-1).commandId
}

/** Two facts learned from threads, the second in the place of the first; returns its id. */
async function learned (app: App, threadId = 'second'): Promise<string> {
  const learn = async (fact: string, replaces: string[] = []) => {
    const source = { threadId, message: 0, messageId: 'm', span: fact }
    await app.brain.ingest([
      { kind: 'fact', fact, replaces, isRetraction: false, isUnsure: false, said: app.clock.now(), source }
    ])
    return (await app.brain.known()).entries.find((entry) => entry.fact === fact)!.id
  }
  return learn('I moved to Rome.', [await learn('I live in Paris.')])
}

/** The path of a fact with a source, which replaced another. */
const aFact = async (app: App) => `/memory/brain/facts/${await learned(app)}`

/** A conversation that asks about a call; returns the id of the approval. */
async function chatAsking (app: App): Promise<string> {
  const asked = await app.inject({ method: 'POST', url: '/run', payload: { messages: [{ role: 'user', content: "write 'x' to a.txt" }] } })
  const request = parseEvents(asked.body).find(({ type }) => type === 'tool-approval-request')
  if (request === undefined) throw new Error('nothing was asked')
  return request.approvalId
}

/** A run that wrote a file and ran a command; returns its id. */
async function writing (app: App): Promise<string> {
  const first = await say(app, "write 'x' to a.txt, then run `true`")
  const second = await answer(app, { [asked(first.events)[0]]: true })
  await answer(app, { [asked(second.events)[0]]: true })
  return of(first.events, 'start')[0].messageMetadata.runId
}

/** A call of every route that answers JSON when all is well. Whoever adds such a route adds a call. */
const calls: Record<string, (app: App) => Promise<unknown>> = {
  'GET / 200': (app) => app.inject('/'),
  'GET /ready 200': async (app) => fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/ready`),
  'GET /config 200': (app) => app.inject('/config'),
  'POST /config/reload 200': (app) => app.inject({ method: 'POST', url: '/config/reload' }),
  'POST /run/sync 200': (app) =>
    app.inject({
      method: 'POST',
      url: '/run/sync',
      payload: { messages: [{ role: 'user', content: 'read missing.txt, then system info' }] }
    }),
  'GET /v1/models 200': (app) => anAgent(app).then(() => app.inject('/v1/models')),
  'GET /v1/models/:id 200': (app) => app.inject('/v1/models/offline%2Fassistant'),
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
  'POST /tasks/:id/rehearse 202': async (app) => post(app, `${await aTask(app)}/rehearse`),
  'GET /tasks/:id/rehearsals 200': async (app) => app.inject(`/tasks/${(await rehearsed(app)).taskId}/rehearsals`),
  'GET /runs/:runId/sheet 200': async (app) => app.inject(`/runs/${(await rehearsed(app)).runId}/sheet`),
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
  'GET /usage 200': async (app) => {
    await post(app, '/run/sync', { messages: [{ role: 'user', content: 'system info' }] })
    await app.inject('/usage?by=model')
  },
  'GET /threads/:id 200': async (app) => {
    await app.inject({
      method: 'PUT',
      url: '/threads/read',
      payload: { messages: [{ role: 'user', content: 'hi', deep: { x: [1] } }, { role: 'user', content: 'ho' }], mine: { x: null } }
    })
    return app.inject('/threads/read?limit=1')
  },
  'PATCH /config 200': (app) => app.inject({ method: 'PATCH', url: '/config', payload: { limits: { liveRuns: 100 } } }),
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
  },
  'GET /memory/brain 200': async (app) => {
    await app.inject({ method: 'POST', url: '/memory/brain/pref', payload: { key: 'two\nlines', value: 'x' } })
    return app.inject('/memory/brain')
  },
  'GET /memory/brain/facts 200': async (app) => {
    await learned(app)
    return app.inject('/memory/brain/facts?limit=1')
  },
  'PUT /memory/brain/facts/:id 200': async (app) => app.inject({ method: 'PUT', url: await aFact(app), payload: { pinned: true } }),
  'DELETE /memory/brain/facts/:id 200': async (app) => app.inject({ method: 'DELETE', url: await aFact(app) }),
  'DELETE /memory/brain/pref 200': async (app) => {
    await app.inject({ method: 'POST', url: '/memory/brain/pref', payload: { key: 'gone', value: 'x' } })
    return app.inject({ method: 'DELETE', url: '/memory/brain/pref', payload: { key: 'gone' } })
  },
  'POST /memory/brain/fact 200': (app) => app.inject({ method: 'POST', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } }),
  'DELETE /memory/brain/fact 200': (app) => app.inject({ method: 'DELETE', url: '/memory/brain/fact', payload: { fact: 'Likes tea' } }),
  'POST /memory/brain/pref 200': (app) =>
    app.inject({ method: 'POST', url: '/memory/brain/pref', payload: { key: 'toString', value: '' } }),
  'DELETE /memory/brain 200': (app) => app.inject({ method: 'DELETE', url: '/memory/brain' }),
  'GET /providers 200': (app) => app.inject('/providers'),
  'GET /models 200': (app) => app.inject('/models'),
  'POST /providers/test 200': (app) => app.inject({ method: 'POST', url: '/providers/test' }),
  'POST /mcp/connect 200': (app) => connect(app, everything('all', { env: { A_KEY: 'value' } })),
  'POST /mcp/connect 202': async (app) => connect(app, { name: 'web', url: (await startGuarded(t)).server.url }),
  'POST /mcp/import 200': (app) =>
    // eslint-disable-next-line no-template-curly-in-string
    app.inject({ method: 'POST', url: '/mcp/import', payload: { servers: { x: { command: '${input:y}' }, z: { url: 'z' } } } }),
  'GET /mcp/servers 200': (app) => app.inject('/mcp/servers'),
  'GET /mcp/prompts 200': async (app) => {
    await connect(app, everything('all'))
    return app.inject('/mcp/prompts')
  },
  'GET /mcp/resources 200': (app) => app.inject('/mcp/resources'),
  'GET /mcp/resources/read 200': async (app) => {
    const { resources: [{ uri }] } = (await app.inject('/mcp/resources?server=all')).json()
    return app.inject(`/mcp/resources/read?server=all&uri=${encodeURIComponent(uri)}`)
  },
  'GET /mcp/servers/:name 200': (app) => app.inject('/mcp/servers/all'),
  'POST /mcp/servers/:name/accept 200': (app) => app.inject({ method: 'POST', url: '/mcp/servers/all/accept', payload: {} }),
  'DELETE /mcp/servers/:name/accept 200': (app) => app.inject({ method: 'DELETE', url: '/mcp/servers/all/accept' }),
  'PUT /mcp/servers/:name 200': (app) => app.inject({ method: 'PUT', url: '/mcp/servers/all', payload: { tools: { deny: ['x'] } } }),
  'DELETE /mcp/:name 200': (app) => app.inject({ method: 'DELETE', url: '/mcp/all' }),
  'POST /providers/configure 200': (app) =>
    app.inject({ method: 'POST', url: '/providers/configure', payload: { model: 'openai/gpt-6-sol' } }),
  'POST /attachments 201': (app) => app.inject({ method: 'POST', url: '/attachments', payload: 'tea' }),
  'GET /attachments/:digest 200': async (app) => {
    const { digest } = (await app.inject({ method: 'POST', url: '/attachments', payload: 'tea' })).json()
    return app.inject(`/attachments/${digest}`)
  },
  'GET /export 200': (app) => app.inject({ url: '/export', headers: { 'x-export-passphrase': 'correct horse' } }),
  'GET /import 200': (app) => app.inject('/import'),
  'POST /import/check 200': async (app) => {
    const { rawPayload: payload } = await app.inject({ url: '/export', headers: { 'x-export-passphrase': 'correct horse' } })
    const headers = { 'x-export-passphrase': 'correct horse', 'content-type': 'application/octet-stream' }
    return app.inject({ method: 'POST', url: '/import/check', headers, payload })
  },
  // The last one: the service ends with it.
  'POST /import 200': async (app) => {
    await app.inject({ method: 'DELETE', url: '/threads' })
    for (const { id } of (await app.inject('/tasks?limit=500')).json().tasks) await app.inject({ method: 'DELETE', url: `/tasks/${id}` })
    const { rawPayload } = await app.inject({ url: '/export', headers: { 'x-export-passphrase': 'correct horse' } })
    return app.inject({
      method: 'POST',
      url: '/import',
      headers: { 'x-export-passphrase': 'correct horse', 'content-type': 'application/octet-stream' },
      payload: rawPayload
    })
  }
}

t.test('what GET /health answers is what its schema says', async (t) => {
  const { app } = await watched(t)
  t.ok(Value.Check(Type.Object(HealthSchema.properties, { additionalProperties: false }), (await app.inject('/health')).json()))
})

t.test('no answer loses a field on its way out', async (t) => {
  const { app, schemas, sent } = await watched(t, config)
  const answers = schemas.map(({ name }) => name).filter((name) => /^(GET|POST|PUT|PATCH|DELETE) \S+ 2\d\d$/.test(name))
  // The service ends with it, too: test/faults/erase-kill.test.ts.
  for (const name of answers.filter((each) => each !== 'DELETE /data 200')) {
    t.ok(calls[name], `${name} is called by this test`)
    await calls[name]?.(app)
    const answer = sent.findLast((each) => each.name === name)
    if (name.endsWith(' 204') || name.startsWith('GET /export') || name.startsWith('GET /attachments')) continue
    t.ok(answer, `${name} answered`)
    t.same(answer?.sent, answer?.given, name)
  }
})

t.test('no error loses a field on its way out', async (t) => {
  const { app, sent } = await watched(t)
  const failed = await connect(app, { name: 'none', command: 'no-such-program' })
  t.strictSame(failed.json(), sent.pop()?.given)
  t.match(failed.json(), { stderr: /no-such-program/ })
  await app.inject({ method: 'POST', url: '/run', payload: { messages: [] } })
  await app.inject({ method: 'POST', url: '/providers/configure', payload: { unknown: 1 } })
  await app.inject('/approvals?limit=0')
  t.equal(sent.length, 3)
  for (const { name, sent: text, given } of sent) {
    t.ok(isDeepStrictEqual(text, given), name)
    t.match(text, { error: String, code: 'ERR_INVALID_REQUEST', statusCode: 400, details: [{ path: String, message: String }] }, name)
  }
})
