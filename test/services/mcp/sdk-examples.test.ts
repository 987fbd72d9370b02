import t from 'tap'
import { build } from '../../harness/helper.ts'
import { connect, statuses, until } from '../../harness/mcp.ts'
import { browse } from '../../harness/mcp-guarded.ts'
import { run } from '../../harness/mcp-calls.ts'
import { startEverything, startExample, startGuardedExample } from '../../harness/sdk-examples.ts'

t.test("the SDK's own servers over HTTP are connected and called", async (t) => {
  const app = await build(t)
  const started = {
    json: startExample(t, 'jsonResponseStreamableHttp'),
    stateless: startExample(t, 'simpleStatelessStreamableHttp'),
    polling: startExample(t, 'ssePollingExample'),
    guarded: startGuardedExample(t),
    everything: startEverything(t)
  }
  for (const [name, url] of Object.entries(started)) {
    const { status, authorizationUrl, error } = (await connect(app, { name, url: await url, approval: 'never' })).json()
    t.equal(status, name === 'guarded' ? 'authorizing' : 'connected', error)
    if (authorizationUrl !== undefined) t.match(await browse(authorizationUrl), { status: 200, text: /^Authorized/ })
  }
  await until(app, 'guarded', 'connected')
  t.ok(Object.values(await statuses(app)).every((status) => status === 'connected'))

  /** Calls a tool of a server, by the server's name of it. */
  const call = async (server: string, tool: string, input: object = {}) => {
    const { toolDetails } = (await app.inject(`/mcp/servers/${server}`)).json()
    const { agentName } = toolDetails.find(({ name }: { name: string }) => name === tool)
    const result = await app.tools.execute(run(app, agentName, input)) as any
    return result.output?.content[0].text ?? result.errorText
  }
  const answers = await Promise.all([
    call('json', 'greet', { name: 'Ada' }),
    call('stateless', 'start-notification-stream', { interval: 10, count: 3 }),
    call('polling', 'long-task'),
    call('guarded', 'multi-greet', { name: 'Ada' }),
    call('everything', 'echo', { message: 'Ada' })
  ])
  t.match(answers, [/Hello, Ada/, /notifications/, /Long task completed successfully/, /Good morning, Ada/, /Ada/], 'streams are resumed')
})
