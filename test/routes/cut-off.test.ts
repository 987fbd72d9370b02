import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { answer, asked, say, sayAll } from '../harness/agent.ts'
import { openRun, userSays } from '../harness/reader.ts'
import { withGateway } from '../harness/with-gateway.ts'

const run = (command: string) => ({ toolCalls: [{ toolName: 'runCommand', input: { command } }] })
const refusal = { error: { status: 400, message: 'no' } }
const partsOf = (prompt: any[], role: string) => prompt.filter((message) => message.role === role).flatMap(({ content }) => content)

/** A run whose tool was approved and ran, and whose continuation then failed. */
async function failAfterTheTool (t: Test) {
  const service = await withGateway(t, (_request, nth) => [run('printf x >> effects.log'), refusal][nth] ?? { text: `answer ${nth}` })
  const [id] = asked((await say(service.app, 'go', { id: 'chat' })).events)
  t.match((await answer(service.app, { [id]: true })).events.at(-1), { finishReason: 'error' })
  return { ...service, id, effects: () => readFileSync(`${service.app.cwd}/effects.log`, 'utf8') }
}

t.test('the same answer again goes on with a run that failed after its tool had run, without running that again', async (t) => {
  const { app, id, effects } = await failAfterTheTool(t)
  t.match((await answer(app, { [id]: true })).events, [{ type: 'start' }, { type: 'tool-output-available' }])
  t.equal(effects(), 'x')
})

t.test('what an approved tool did is in the thread, and told to the model, also when its run failed afterwards', async (t) => {
  const { app, gateway } = await failAfterTheTool(t)
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  t.match(partsOf(gateway.requests.at(-1)!.body.prompt, 'tool'), [{
    type: 'tool-result',
    output: { type: 'json', value: { exitCode: 0 } }
  }])
})

t.test('a client that never saw the outcome is no reason to leave the model in the dark', async (t) => {
  const { app, systemOf } = await failAfterTheTool(t)
  await sayAll(app, [{ role: 'user', content: 'go' }, { role: 'user', content: 'and now?' }], { id: 'chat' })
  t.match(systemOf(2), /runCommand with .*effects\.log.* was carried out/)
  await say(app, 'once is enough', { id: 'chat' })
  t.notMatch(systemOf(3), /carried out/)
})

t.test('once the user has said something else the old run does not go on, and takes nothing out of the thread', async (t) => {
  const { app, gateway, id, effects } = await failAfterTheTool(t)
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  const thread = await app.threadRepository.messages('chat')
  const calls = gateway.requests.length

  t.match(await answer(app, { [id]: true }), { status: 409, body: { code: 'ERR_CONVERSATION_MOVED_ON' } })

  t.same(await app.threadRepository.messages('chat'), thread)
  t.equal(gateway.requests.length, calls)
  t.equal(effects(), 'x')
})

t.test('a permitted command that was cut off is told as such', async (t) => {
  const { app, gateway } = await withGateway(t, (_request, nth) => nth === 0 ? run('touch begun; sleep 60') : { text: 'ok' }, {
    config: { permissions: { runCommand: 'allow' } }
  })
  const cut = await openRun(app, { ...userSays('go'), id: 'chat', resumable: true })
  while (!existsSync(`${app.cwd}/begun`)) await new Promise(setImmediate)
  await app.inject({ method: 'POST', url: '/run/chat/stop' })
  await cut.ended
  const [failed, ...end] = cut.events.slice(-4)
  t.match(failed, { type: 'tool-output-error', errorText: /outcome unknown/i })
  t.match(end, [{ type: 'abort' }, { type: 'data-stopped' }, { type: 'finish' }])
  await app.inject({ method: 'POST', url: '/run', payload: { id: 'chat', message: { role: 'user', content: 'and now?' } } })
  t.match(partsOf(gateway.requests[1].body.prompt, 'tool'), [{ output: { type: 'error-text', value: /outcome unknown/i } }])
})

t.test('who hangs up and at once says something new is heard after what was said before', async (t) => {
  const { app, gateway } = await withGateway(
    t,
    (_request, nth) => nth === 0 ? { text: ['partly ', 'never'], ending: 'stall', after: 4 } : { text: 'ok' }
  )
  const cut = await openRun(app, { ...userSays('one'), id: 'chat' })
  await cut.says('partly')
  cut.hangUp()
  let status = 409
  while (status === 409) {
    ;({ statusCode: status } = await app.inject({
      method: 'POST',
      url: '/run',
      payload: { id: 'chat', message: { role: 'user', content: 'two' } }
    }))
  }
  t.equal(status, 200)
  t.match(gateway.requests[1].body.prompt.slice(1), [
    { role: 'user', content: [{ text: 'one' }] },
    { role: 'assistant', content: [{ text: 'partly ' }] },
    { role: 'user', content: [{ text: 'two' }] }
  ])
})
