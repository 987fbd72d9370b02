import t from 'tap'
import type { App } from '../../../app.ts'
import { startGuarded } from '../../harness/mcp-guarded.ts'
import { connect, everything } from '../../harness/mcp.ts'
import { aFact, learned, post } from './parts.ts'

/** A call of every route of the service, its memory, models and tool servers. */
export const serviceCalls: Record<string, (app: App) => Promise<unknown>> = {
  'GET / 200': (app) => app.inject('/'),
  'GET /ready 200': async (app) => fetch(`${await app.listen({ port: 0, host: '127.0.0.1' })}/ready`),
  'GET /config 200': (app) => app.inject('/config'),
  'POST /config/reload 200': (app) => app.inject({ method: 'POST', url: '/config/reload' }),
  'GET /usage 200': async (app) => {
    await post(app, '/run/sync', { messages: [{ role: 'user', content: 'system info' }] })
    await app.inject('/usage?by=model')
  },
  'PATCH /config 200': (app) => app.inject({ method: 'PATCH', url: '/config', payload: { limits: { liveRuns: 100 } } }),
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
