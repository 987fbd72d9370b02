import t from 'tap'
import { startModelServer } from '../fakes/model-server.ts'
import type { Plan } from '../fakes/gateway.ts'
import { NATIVE_ANSWERS, SIGNED } from '../harness/native-answers.ts'
import { startService } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'

const look = { toolName: 'listDirectory', input: { path: '.' } }
const run = { toolName: 'runCommand', input: { command: 'echo hi' } }

for (const way of NATIVE_ANSWERS) {
  t.test(`${way.name}: goes back when the service was killed before the approval, and in the turn after`, async (t) => {
    const asks = way.plan({ reasoning: 'One\n\nTwo', signature: `asks ${SIGNED}`, text: 'May I?', toolCalls: [look, run] })
    const last = way.plan({ reasoning: 'Now I know', signature: SIGNED, text: 'It is done.' })
    const plans: Plan[] = [asks, last]
    const server = await startModelServer(way.native.wire, {
      reply: ({ streaming }) => streaming ? plans.shift() ?? { text: 'ok' } : undefined
    })
    t.teardown(() => server.close())
    const { kind, model } = way.native
    const config = {
      model: `${kind}/${model}`,
      analysis: false,
      threads: { titles: false },
      providers: { [kind]: { kind, baseURL: server.url, apiKey: 'a-key' } },
      ...way.config
    }
    const dir = t.testdir({ home: { 'config.json': JSON.stringify(config) }, work: {} })
    const start = () => startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })

    const service = await start()
    const { events } = await postEvents(`${service.url}/run`, { id: 'chat', messages: [{ role: 'user', content: 'go' }] })
    const { approvalId } = events.find(({ type }) => type === 'tool-approval-request')!
    await service.stop('SIGKILL')
    const later = await start()
    const response = { type: 'tool-approval-response', approvalId, approved: true }
    await postEvents(`${later.url}/run/approve`, { messages: [{ role: 'tool', content: [response] }] })
    await postEvents(`${later.url}/run`, { id: 'chat', message: { role: 'user', content: 'and?' } })

    const calls = server.calls.filter(({ streaming }) => streaming)
    t.match(way.sent(calls[1].body), way.returned(asks))
    t.match(way.sent(calls[2].body), [...way.returned(asks), ...way.returned(last)])
    await later.stop()
  })
}
