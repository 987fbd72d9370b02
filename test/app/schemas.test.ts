import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import * as compilers from '../../plugins/core/compilers.ts'
import { HealthSchema } from '../../schemas/service.ts'
import { calling } from '../harness/effects.ts'
import { build } from '../harness/helper.ts'
import { connect } from '../harness/mcp.ts'
import { conversationsCalls } from './calls/conversations.ts'
import { serviceCalls } from './calls/service.ts'
import { tasksCalls } from './calls/tasks.ts'

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

/** A call of every route that answers JSON when all is well. Whoever adds such a route adds a call. */
const calls: Record<string, (app: App) => Promise<unknown>> = { ...serviceCalls, ...conversationsCalls, ...tasksCalls }

t.test('what GET /health answers is what its schema says', async (t) => {
  const { app } = await watched(t)
  t.ok(Value.Check(Type.Object(HealthSchema.properties, { additionalProperties: false }), (await app.inject('/health')).json()))
})

t.test('no answer loses a field on its way out', async (t) => {
  const { app, schemas, sent } = await watched(t, config)
  const answers = schemas.map(({ name }) => name).filter((name) => /^(GET|POST|PUT|PATCH|DELETE) \S+ 2\d\d$/.test(name))
  // The service ends with it, too: test/faults/store-kill.test.ts.
  for (const name of answers.filter((each) => each !== 'DELETE /data 200')) {
    t.ok(calls[name], `${name} is called in test/app/calls/`)
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
