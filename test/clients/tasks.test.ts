import t from 'tap'
import { runAgent } from '../../client/index.ts'
import { build } from '../harness/helper.ts'
import { listen } from '../harness/raw.ts'
import { withGateway } from '../harness/with-gateway.ts'
import { openChat } from './chat.ts'
import { versions } from './versions.ts'

const analysis = {
  complexity: 'long_running',
  goal: 'list the files here',
  thinking: 'Again and again.',
  qualityCriteria: [],
  interval: 'daily'
}

for (const version of versions) {
  t.test(`a chat of ${version.name} learns of the task in words and as data, and its next turn goes on`, async (t) => {
    let analyses = 0
    const { app, gateway } = await withGateway(t, () => ({ text: 'You are welcome.' }), {
      config: { analysis: true },
      structured: (name) => name === 'analysis' && analyses++ === 0 ? { object: analysis } : {}
    })
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
    t.match(chat.parts, [{ type: 'reasoning' }, { type: 'step-start' }, part, { type: 'text', text: new RegExp(task.id), state: 'done' }])
    t.match(
      (await app.inject('/threads/chat')).json().messages[1].parts,
      chat.parts.map(({ id, ...part }) => part),
      'the thread holds it as the chat does'
    )

    await chat.say('thank you')
    t.equal(chat.text, 'You are welcome.')
    const { prompt } = gateway.requests.at(-1)!.body
    t.match(prompt.slice(1), [{ role: 'user' }, { role: 'assistant', content: [{ type: 'text', text: new RegExp(task.id) }] }, {
      role: 'user'
    }])
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
  t.match(messages, [{ role: 'assistant', content: [{ type: 'text', text }] }])
})
