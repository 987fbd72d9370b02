import t from 'tap'
import { build } from '../helper.ts'
import { connect } from '../mcp.ts'

t.test('no more servers are connected, or being connected, than there may be', async (t) => {
  const app = await build(t)
  const connecting = Array.from({ length: 65 }, (_, n) => connect(app, { name: `s${n}`, command: 'sleep', args: ['1000'] }))
  t.match((await Promise.race(connecting)).json(), { statusCode: 409, code: 'ERR_TOO_MANY_TOOL_SERVERS', error: /64/ })
  await app.close()
  const statuses = (await Promise.all(connecting)).map(({ statusCode }) => statusCode)
  t.same([statuses.filter((status) => status === 409).length, statuses.filter((status) => status === 502).length], [1, 64])
})
