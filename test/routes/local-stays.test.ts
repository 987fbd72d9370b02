import t, { type Test } from 'tap'
import type { App } from '../../app.ts'
import { gatewayFor } from '../harness/provider-routes.ts'
import { withDirect } from '../harness/with-direct.ts'

const CANARY = 'the safe opens with 4711'
const COMPLEX = { complexity: 'complex', goal: 'Answer', thinking: 'Hard.', qualityCriteria: ['a true answer'] }

/** A service with a model server on this machine and a key of the gateway, with all that asks a model turned on. */
async function withBoth (t: Test, config: object) {
  const { gateway, keys } = await gatewayFor(t)
  const asked: string[] = []
  const made = await withDirect(t, undefined, {
    ...keys,
    config: { analysis: true, brain: { extractAfter: false }, ...config },
    server: {
      reply ({ structured }) {
        if (structured === undefined) return { text: 'It is so.' }
        asked.push(structured)
        return structured === 'analysis' ? { object: COMPLEX } : structured === 'facts' ? { object: { pointers: [] } } : undefined
      }
    }
  })
  return { ...made, gateway, asked }
}

/** A conversation with a title, whose words the service then learns from. */
async function talk (app: App, options?: object) {
  const message = { role: 'user', content: CANARY }
  const { json } = await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [message], options } })
  await app.titles.idle()
  const extracted = await app.inject({ method: 'POST', url: '/threads/chat/extract' })
  return { run: json(), extracted }
}

t.test('what is said to a server of the user goes to no cloud that has a key, whoever asks a model about it', async (t) => {
  await t.test('as the active model', async (t) => {
    const { app, gateway, asked } = await withBoth(t, {})
    const { run, extracted } = await talk(app)
    t.match(run, { text: 'It is so.', evaluation: { satisfied: true } })
    t.equal(extracted.statusCode, 200)
    t.strictSame(asked.toSorted(), ['analysis', 'evaluation', 'facts', 'title'])
    t.notOk(JSON.stringify(gateway.requests).includes(CANARY))
    t.match((await app.inject('/providers')).json(), {
      roles: { fast: 'ollama/llama3', vision: 'ollama/llama3' },
      reach: { fast: 'machine', capable: 'machine', vision: 'machine' }
    })
  })

  await t.test('as the model of one run, while the active one is in the cloud', async (t) => {
    const { app, gateway, asked } = await withBoth(t, { model: 'anthropic/claude-sonnet-5.5' })
    const { run } = await talk(app, { model: 'ollama/llama3' })
    t.equal(run.text, 'It is so.')
    t.strictSame(asked.toSorted(), ['analysis', 'evaluation', 'facts', 'title'])
    t.notOk(JSON.stringify(gateway.requests).includes(CANARY))
    t.match((await app.inject('/providers')).json(), { reach: { fast: 'machine', capable: 'machine' } }, 'the fake gateway is here, too')
  })

  await t.test('also when its provider is gone meanwhile: nobody is asked then', async (t) => {
    const config = { brain: { extractAfter: false }, threads: { titles: false }, gateway: { baseURL: 'http://gateway.invalid/v4/ai' } }
    const { app, reload } = await withDirect(t, undefined, { gatewayKey: 'the-key', config })
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [{ role: 'user', content: CANARY }] } })
    const extract = () => app.inject({ method: 'POST', url: '/threads/chat/extract' })
    await reload({ ...config, model: 'openai/gpt-6-sol' })
    t.equal((await extract()).statusCode, 200, 'with a model asked, it fails: there is no such gateway')
    t.match((await app.inject('/providers')).json(), { reach: { fast: 'cloud', capable: 'cloud' } })
  })
})
