import t from 'tap'
import { fakeClock } from '../harness/clock.ts'
import { withDirect } from '../harness/with-direct.ts'
import { gatewayFor, test } from '../harness/provider-routes.ts'

t.test('a test makes a small real call to the active model', async (t) => {
  const { app, server } = await withDirect(t)
  const answer = await test(app)
  t.equal(answer.statusCode, 200)
  t.match(answer.json(), { ok: true, model: 'ollama/llama3', latencyMs: Number })
  t.notOk('error' in answer.json())
  t.equal(server.calls.length, 1)
  t.match(server.calls[0].body, { model: 'llama3', stream: true, max_tokens: 16 })
  t.equal(server.calls[0].body.messages.length, 1)
})

t.test('a test takes another model, of any provider', async (t) => {
  const { gateway, keys } = await gatewayFor(t)
  const { app, server } = await withDirect(t, undefined, keys)
  for (const model of ['ollama/other', 'test/model', 'offline/assistant']) t.match((await test(app, { model })).json(), { ok: true, model })
  t.strictSame([...server.calls, ...gateway.requests].map(({ modelId }) => modelId), ['other', 'test/model'])
})

t.test('a test that fails says what to do', async (t) => {
  const { app, server } = await withDirect(t, () => ({ error: { status: 401, message: 'Bad key secret-key-1' } }), {
    provider: { apiKey: 'secret-key-1' }
  })
  const refused = await test(app)
  t.equal(refused.statusCode, 200)
  t.match(refused.json(), { ok: false, model: 'ollama/llama3', latencyMs: Number, error: /the key is not valid.*in the settings/ })
  t.notMatch(refused.body, 'secret-key-1')
  t.match((await test(app, { model: 'anthropic/claude-haiku-5.5' })).json(), { ok: false, error: /in the settings/ })
  await server.close()
  t.match((await test(app)).json(), { ok: false, error: /ECONNREFUSED/ })
})

t.test('a test is given up after fifteen seconds', async (t) => {
  const clock = fakeClock()
  const { app, server } = await withDirect(t, () => ({ text: 'hm', ending: 'stall' }), { clock })
  const answer = test(app)
  await clock.sleeper(15_000)
  while (server.calls.length === 0) await new Promise(setImmediate)
  await clock.advance(15_000)
  t.match((await answer).json(), { ok: false, latencyMs: 15_000, error: /did not answer in time/ })
  t.equal(await server.calls[0].ended, 'aborted')
})

t.test('an answer that breaks off fails a test', async (t) => {
  const { app } = await withDirect(t, () => ({ text: 'o k', ending: 'no-finish' }))
  t.match((await test(app)).json(), { ok: false, error: /broke off/ })
})

t.test('what is no model id is refused with 400, and nothing is called', async (t) => {
  const { app, server } = await withDirect(t)
  for (
    const payload of [{ model: 'llama3' }, { model: 'offline/gpt' }, { model: '' }, { model: 7 }, { other: 1 }, {
      model: `a/${'b'.repeat(300)}`
    }]
  ) {
    t.match((await test(app, payload)).json(), { statusCode: 400, error: String, code: /^ERR_INVALID/ }, JSON.stringify(payload))
  }
  t.equal(server.requests.length, 0)
})
