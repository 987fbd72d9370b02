import t from 'tap'
import { createAgent, runAgent, type ServiceEvent } from '../../client/index.ts'
import { fakeService, json, stream } from '../harness/fake-service.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

const making = { toolCalls: [{ toolName: 'createTask', input: { goal: 'list the files here', when: { every: 'daily' } } }] }

for (const version of versions) {
  t.test(`a chat of ${version.name} learns of the task in words and as data, and its next turn goes on`, async (t) => {
    const replies = [making, { text: 'It is a task now.' }, { text: 'You are welcome.' }]
    const { app, gateway } = await withGateway(t, (_request, nth) => replies[nth], { structured: () => ({}) })
    const chat = await openChat(app, version, { id: 'chat', path: version.approvals ? '/run' : '/run?protocol=ui5' })
    await chat.say('every day, list the files here')

    const [task] = (await app.inject('/tasks')).json().tasks
    const part = {
      type: 'data-task',
      id: task.id,
      data: {
        taskId: task.id,
        goal: 'list the files here',
        taskType: 'recurring',
        status: 'scheduled',
        interval: 'daily',
        nextRunAt: task.nextRunAt
      }
    }
    const call = { type: 'tool-createTask', state: 'output-available' }
    const said = { type: 'text', text: 'It is a task now.', state: 'done' }
    t.match(chat.parts, [{ type: 'step-start' }, call, part, { type: 'step-start' }, said])
    t.match(
      (await app.inject('/threads/chat')).json().messages[1].parts,
      chat.parts.map(({ id, ...part }) => part),
      'the thread holds it as the chat does'
    )

    await chat.say('thank you')
    t.equal(chat.text, 'You are welcome.')
    const { prompt } = gateway.requests.at(-1)!.body
    t.match(JSON.stringify(prompt), new RegExp(`createTask.*${task.id}.*It is a task now`))
    t.same(chat.errors, [])
    t.equal((await app.inject('/tasks')).json().tasks.length, 1)
  })
}

t.test('runAgent tells of the task', async (t) => {
  const app = await build(t)
  const { task, text, messages } = await runAgent({
    baseUrl: `http://127.0.0.1:${await listen(app)}`,
    messages: [{ role: 'user', content: 'list the files here every monday' }],
    approve: () => {
      throw new Error('nothing should be asked')
    }
  })
  t.match(task, { goal: 'list the files here', interval: 'every monday', status: 'scheduled' })
  t.match(text, task!.taskId)
  t.match(messages.at(-1), { role: 'assistant', content: [{ type: 'text', text }] })
})

const frame = (type: string, id?: string) => `${id ? `id: ${id}\n` : ''}event: ${type}\ndata: {"type":"${type}"}\n\n`

t.test('events come back after every cut, with the id of the last one, and each is read once', async (t) => {
  const { url, received } = await fakeService(t, (_request, response, nth) => {
    switch (nth) {
      case 0:
        return stream(response, ': ping\n\n' + frame('run:start', 's-1') + 'id: s-2\nevent: run:end\nda')
          .write('', () => response.socket!.end())
      case 1:
        return json(response, { error: 'The service is shutting down.', code: 'ERR_DRAINING', statusCode: 503 }, 503)
      case 2:
        return response.destroy()
      case 3:
        return stream(response, frame('run:end', 's-2')).end()
      default:
        return stream(response, frame('reset', 't-0') + frame('approval:open', 't-1'))
    }
  })
  const controller = new AbortController()
  const seen: ServiceEvent[] = []
  const query = { types: ['run:start', 'approval:open'], threadId: 'a b', signal: controller.signal }
  for await (const event of createAgent({ url, token: 'the-token' }).events(query)) {
    seen.push(event)
    if (event.type === 'approval:open') controller.abort()
  }
  t.same(seen.map(({ type, id }) => [type, id]), [
    ['run:start', 's-1'],
    ['run:end', 's-2'],
    ['reset', 't-0'],
    ['approval:open', 't-1']
  ])
  t.same(received.map(({ headers }) => headers['last-event-id']), [undefined, 's-1', 's-1', 's-1', 's-2'])
  t.same(new Set(received.map(({ line }) => line)), new Set(['GET /events?threadId=a%20b&types=run%3Astart%2Capproval%3Aopen']))
  t.ok(received.every(({ headers }) => headers.authorization === 'Bearer the-token'))
})

t.test('events begin after a given id, end with the signal, and throw what would be refused again', async (t) => {
  const { url, received } = await fakeService(t, ({ headers }, response) =>
    headers['last-event-id'] === 'x'
      ? json(response, { error: 'This service needs a token.', code: 'ERR_UNAUTHORIZED', statusCode: 401 }, 401)
      : stream(response, frame('run:start', 'y')))
  await t.rejects(createAgent({ url }).events({ after: 'x' }).next(), { name: 'AgentError', code: 'ERR_UNAUTHORIZED', statusCode: 401 })
  t.equal(received.length, 1)

  const controller = new AbortController()
  const events = createAgent({ url }).events({ signal: controller.signal })
  t.match(await events.next(), { value: { type: 'run:start', id: 'y' } })
  const waiting = events.next()
  controller.abort()
  t.match(await waiting, { done: true })
})

t.test('a cut before the first event loses nothing: the stream says at its begin where to resume', async (t) => {
  const { url, received } = await fakeService(t, (_request, response, nth) =>
    nth === 0 ? stream(response, ': connected\nid: s-7\n\n').end() : stream(response, frame('run:start', 's-8')))
  t.match(await createAgent({ url }).events().next(), { value: { type: 'run:start', id: 's-8' } })
  t.same(received.map(({ headers }) => headers['last-event-id']), [undefined, 's-7'])
})

t.test('a page of another server is not taken for an answer of the service', async (t) => {
  const page = { 'content-type': 'text/html' }
  const { url } = await fakeService(t, (_request, response) => void response.writeHead(200, page).end('<p>Hi</p>'))
  const agent = createAgent({ url })
  const other = { name: 'AgentError', code: 'ERR_NO_SERVICE', statusCode: 200 }
  await t.rejects(agent.decide('a', true), other)
  await t.rejects(agent.events().next(), other)
  await t.rejects(agent.run({ prompt: 'go' }).result(), other)
})

t.test('nor is an empty one, where the service answers with something', async (t) => {
  const { url } = await fakeService(t, (_request, response) => void response.writeHead(204).end())
  const agent = createAgent({ url })
  const other = { name: 'AgentError', code: 'ERR_NO_SERVICE', statusCode: 204 }
  await t.rejects(agent.run({ prompt: 'go' }).result(), other)
  await t.rejects(agent.events().next(), other)
  await t.rejects(agent.decide('a', true), other)
  await t.rejects(runAgent({ baseUrl: url, messages: [{ role: 'user', content: 'go' }], approve: () => true }), other)
})
