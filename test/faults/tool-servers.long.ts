import t from 'tap'
import { build } from '../harness/helper.ts'
import { connect, misbehaving } from '../harness/mcp.ts'

t.test('no more servers are connected, or being connected, than there may be', async (t) => {
  const app = await build(t)
  const connecting = Array.from({ length: 65 }, (_, n) => connect(app, { name: `s${n}`, command: 'sleep', args: ['1000'] }))
  t.match((await Promise.race(connecting)).json(), { statusCode: 409, code: 'ERR_TOO_MANY_TOOL_SERVERS', error: /64/ })
  await app.close()
  const statuses = (await Promise.all(connecting)).map(({ statusCode }) => statusCode)
  t.same([statuses.filter((status) => status === 409).length, statuses.filter((status) => status === 502).length], [1, 64])
})

t.test('answers that are too large and that nobody asked for are noise as well', async (t) => {
  const app = await build(t)
  await connect(app, misbehaving())
  const call = {
    name: 'answers',
    input: { bytes: 9_000_000 },
    runId: 'r',
    attempt: app.fence.enter('r'),
    callId: 'c',
    cwd: '/',
    signal: new AbortController().signal
  }
  t.match(await app.tools.execute(call), { status: 'error', errorText: /it wrote more than 64 MiB in a minute without being asked/ })
})
