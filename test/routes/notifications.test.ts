import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { fakeClock } from '../harness/clock.ts'
import { readEvents } from '../harness/event-reader.ts'
import { build } from '../harness/helper.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

const DAY = 24 * 60 * 60 * 1000
const SECRET = 'whsec_' + Buffer.from('a secret of more than eighteen bytes').toString('base64')
const WRITES = { goal: "write 'Buy tea' to notes.txt", approval: { mode: 'always' } }

const list = async (app: App, query = '') => (await app.inject(`/notifications${query}`)).json()
const show = async (app: App, id: string) =>
  (await app.inject({ method: 'POST', url: `/notifications/${id}`, payload: { shown: true } })).json()
const approve = (app: App, id: string, approved = true) =>
  app.inject({ method: 'POST', url: `/approvals/${id}`, payload: { approved } })

interface Reply {
  status: number
  headers?: Record<string, string>
}
interface Message {
  headers: IncomingHttpHeaders
  body: string
}

/** A receiver of webhooks: answers each message as `answer` says, by its number; undefined never answers. */
async function receiver (t: Test, answer: (n: number) => Reply | undefined = () => ({ status: 204 })) {
  const messages: Message[] = []
  let moved = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk) => {
      body += chunk
    }).on('end', () => {
      const reply = answer(messages.length)
      messages.push({ headers: request.headers, body })
      if (reply !== undefined) response.writeHead(reply.status, reply.headers).end()
      moved.resolve()
      moved = Promise.withResolvers()
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    messages,
    async has (count: number) {
      while (messages.length < count) await moved.promise
    }
  }
}

/** A service whose task waits for its first approval. */
async function waiting (t: Test, settings: { clock: ReturnType<typeof fakeClock>, config?: object, home?: string }) {
  const app = await build(t, settings)
  const tasks = await tasksOf(t, app)
  const events = await readEvents(t, tasks.url, { query: '?types=notification,notification:closed' })
  await events.connected()
  const task = await tasks.create(WRITES.goal, WRITES)
  await tasks.post(`/${task.id}/run`)
  const told = await events.until('notification')
  return { app, tasks, events, task, told }
}

/** Resolves to the newest notification once so many deliveries of it are recorded. */
async function delivered (app: App, count: number) {
  for (;;) {
    const { notifications: [newest] } = await list(app)
    if (newest.deliveries.length >= count) return newest
    await new Promise(setImmediate)
  }
}

/** Lets a day pass, until the newest notification has its reminder. */
async function reminded (app: App, clock: ReturnType<typeof fakeClock>, ms = DAY) {
  await clock.advance(ms)
  while (!(await list(app)).notifications[0].reminder) await new Promise((resolve) => setTimeout(resolve, 2))
}

t.test('what waits is told once, shown by the first who says so, and over when it is decided', async (t) => {
  const { app, events, task, told } = await waiting(t, { clock: fakeClock() })
  t.match(told, {
    kind: 'waiting',
    taskId: task.id,
    title: 'A task waits for the approval of a call',
    text: `${WRITES.goal}: write the file “notes.txt”`,
    reminder: false,
    count: 1
  })
  const [{ approvalId }] = told.waitsFor
  t.match(await list(app), { count: 1, notifications: [{ notificationId: told.notificationId, needsShowing: true, deliveries: [] }] })

  const { notificationId } = told
  t.match(await show(app, ':id'), { statusCode: 400, error: /notificationId/ }, 'a pattern is no path')
  t.match(await show(app, notificationId), { notificationId, first: true, shownAt: Number })
  t.match(await show(app, notificationId), { first: false, shownAt: Number }, 'the second is told that it is shown')
  t.match(await list(app), { notifications: [{ needsShowing: false, shownAt: Number }] })

  await approve(app, approvalId)
  t.match(await events.until('notification:closed', { notificationId }), { taskId: task.id, count: 0 })
  t.match(await show(app, notificationId), { first: false, closedAt: Number })
  // The result of the run waits next.
  t.match(await events.until('notification'), { title: 'A task waits for your word on its result', count: 1 })
  t.match(await list(app, '?state=closed'), { notifications: [{ notificationId }] })
  t.match(await show(app, '00000000-0000-7000-8000-000000000000'), { code: 'ERR_NOTIFICATION_NOT_FOUND' })
})

t.test('a person is reminded once, after a day', async (t) => {
  const clock = fakeClock()
  const { app, events, told: { notificationId } } = await waiting(t, { clock })
  events.hangUp()
  await show(app, notificationId)
  t.match(await show(app, notificationId), { first: false })
  await reminded(app, clock)
  t.match(await show(app, notificationId), { first: true }, 'the reminder is shown, too')
  await clock.advance(2 * DAY)
  t.match(await show(app, notificationId), { first: false }, 'there is no other')
})

const WEBHOOK = (url: string, text = false) => ({ notify: { webhook: { url, secret: SECRET, text } } })

/** Checks a signature as a receiver does. */
function isSigned ({ headers, body }: Message): boolean {
  const key = Buffer.from(SECRET.slice('whsec_'.length), 'base64')
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(text).digest('base64')}`
}

t.test('the webhook gets, signed and without words, what nobody shows within five seconds', async (t) => {
  const clock = fakeClock()
  const { url, messages, has } = await receiver(t)
  const { app, events, told, task } = await waiting(t, { clock, config: WEBHOOK(url) })
  events.hangUp()
  await clock.advance(4_999)
  t.same(messages, [])
  await clock.advance(1)
  await has(1)
  const [message] = messages
  t.ok(isSigned(message))
  t.equal(message.headers['webhook-id'], told.notificationId)
  t.equal(message.headers['webhook-timestamp'], String(Math.floor(clock.now() / 1000)))
  t.match(JSON.parse(message.body), { type: 'notification', data: { kind: 'waiting', taskId: task.id, count: 1, text: undefined } })
  t.notMatch(message.body, /tea|notes\.txt|write/)
  t.match(await delivered(app, 1), { deliveries: [{ ok: true, status: 204, reminder: false }] })

  await approve(app, told.waitsFor[0].approvalId)
  while ((await list(app)).notifications[0]?.waitsFor[0].kind !== 'result') await new Promise((resolve) => setTimeout(resolve, 2))
  const [result] = (await list(app)).notifications
  await show(app, result.notificationId)
  await reminded(app, clock)
  await clock.advance(5_000)
  await has(2)
  t.equal(messages[1].headers['webhook-id'], `${result.notificationId}-reminder`, 'what is shown is not sent, its reminder is')
})

t.test('the secret of the webhook moves to the store, and words leave only when the user says so', async (t) => {
  const clock = fakeClock()
  const { url, messages, has } = await receiver(t)
  const { app, events } = await waiting(t, { clock, config: WEBHOOK(url, true) })
  events.hangUp()
  const file = () => JSON.parse(readFileSync(`${app.home}/config.json`, 'utf8')).notify.webhook
  while (file().secret === SECRET) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal(file().secret, 'secret:notify/webhook')
  const shown = (await app.inject('/config')).body
  t.notMatch(shown, SECRET)
  t.ok(app.secrets.all().includes(SECRET))
  await clock.advance(5_000)
  await has(1)
  t.ok(isSigned(messages[0]), 'it is found there')
  t.equal(JSON.parse(messages[0].body).data.text, `${WRITES.goal}: write the file “notes.txt”`)
})

t.test('a receiver that is dead for a day gets each message again, under one id, also over a restart', async (t) => {
  const clock = fakeClock()
  const { url, messages, has } = await receiver(t, () => ({ status: 503 }))
  const { app, events, told } = await waiting(t, { clock, config: WEBHOOK(url) })
  events.hangUp()
  await clock.advance(5_000)
  await has(1)
  await delivered(app, 1)
  await app.close()

  const next = await build(t, { home: app.home, cwd: app.cwd, clock })
  await next.listen({ port: 0, host: '127.0.0.1' })
  const waits = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800]
  for (const [n, seconds] of waits.entries()) {
    await clock.advance(seconds * 1000)
    await has(n + 2)
    await delivered(next, n + 2)
  }
  t.same([...new Set(messages.map(({ headers }) => headers['webhook-id']))], [told.notificationId])
  t.ok(messages.every(isSigned))
  await reminded(next, clock, DAY - (clock.now() - told.createdAt))
  await clock.advance(5_000)
  await has(waits.length + 2)
  t.equal(messages.at(-1)!.headers['webhook-id'], `${told.notificationId}-reminder`)
  t.match((await delivered(next, waits.length + 2)).deliveries.at(-1), { ok: false, status: 503, error: 'it answers 503', reminder: true })
})

t.test('a redirect is not followed, and a receiver that never answers is given up after ten seconds', async (t) => {
  const clock = fakeClock()
  const elsewhere = await receiver(t)
  const { url, has } = await receiver(t, (n) => n === 0 ? { status: 307, headers: { location: elsewhere.url } } : undefined)
  const { app, events } = await waiting(t, { clock, config: WEBHOOK(url) })
  events.hangUp()
  await clock.advance(5_000)
  t.match((await delivered(app, 1)).deliveries, [{ ok: false, status: 307, error: /redirect/ }])
  await clock.advance(5_000)
  await has(2)
  await clock.advance(10_000)
  t.match((await delivered(app, 2)).deliveries[1], { ok: false, error: 'it does not answer' })
  t.same(elsewhere.messages, [])
})

t.test('the webhook is never the service itself', async (t) => {
  const clock = fakeClock()
  const { app, events, tasks } = await waiting(t, { clock })
  events.hangUp()
  await app.config.update((config) => ({ ...config, ...WEBHOOK(`${tasks.url}/tasks`) }))
  await clock.advance(5_000)
  t.match((await delivered(app, 1)).deliveries, [{ ok: false, error: /this service itself/ }])
})

t.test('a task tells its person what it was asked to tell, bounded, and its words leave only where that is allowed', async (t) => {
  const clock = fakeClock()
  const hook = await receiver(t)
  const texts = ['The price fell to 12 euros.', 'The price fell to 12 euros.', 'It is 11 now.', 'And 10.', 'And 9.']
  const { app, gateway } = await withGateway(t, ({ body }) => {
    const results = body.prompt.filter(({ role }: { role: string }) => role === 'tool').length
    return results < texts.length
      ? { toolCalls: [{ toolName: 'notifyUser', input: { text: texts[results] } }] }
      : { text: `Done. ${JSON.stringify(body.prompt.at(-1).content)}` }
  }, {
    clock,
    structured: (name) => name === 'plan' ? { object: { phases: [{ description: 'look' }], qualityCriteria: [] } } : {},
    config: { notify: { webhook: { url: hook.url, secret: SECRET } } }
  })
  const tasks = await tasksOf(t, app)
  const events = await readEvents(t, tasks.url, { query: '?types=notification,task:complete' })
  await events.connected()
  const task = await tasks.create('tell me when the price falls', { approval: undefined })
  await tasks.post(`/${task.id}/run`)
  t.match(await events.until('notification'), { kind: 'told', taskId: task.id, title: /has something to tell you/, text: /12 euros/ })
  t.match(await events.until('task:complete'), { output: /told the user 3 things already/ }, 'who was told is not asked about it, too')
  const told = (await list(app)).notifications.map(({ text }: { text: string }) => text)
  t.same(told.sort(), ['And 10.', 'It is 11 now.', 'The price fell to 12 euros.'].map((text) => `${task.goal}: ${text}`))
  await clock.advance(5_000)
  await hook.has(3)
  t.notMatch(hook.messages.map(({ body }) => body).join(), /euros/, 'its words stay here')

  const names = ({ body }: { body: any }) => body.tools.map(({ name }: { name: string }) => name)
  t.ok(names(gateway.requests.findLast(({ body }) => body.tools?.length > 0)!).includes('notifyUser'))
  await app.inject({ method: 'POST', url: '/run/sync', payload: { messages: [{ role: 'user', content: 'hello' }] } })
  t.notOk(names(gateway.requests.findLast(({ body }) => body.tools?.length > 0)!).includes('notifyUser'), 'a conversation says it itself')
})
