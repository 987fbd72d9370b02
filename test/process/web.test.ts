import { once } from 'node:events'
import t from 'tap'
import { startSite } from '../fakes/site.ts'
import { startService } from '../harness/sidecar.ts'

t.test('the built service reads pages in its thread, directly, and ends at once while it is at it', async (t) => {
  const site = await startSite(t, { '/': '<h1>Built</h1><p>A <b>page</b>', '/endless': '<b><i>'.repeat(50_000) })
  const dir = t.testdir({ home: { 'config.json': JSON.stringify({ analysis: false, fetch: { allowPrivate: true } }) }, work: {} })
  const proxy = await startSite(t)
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, http_proxy: proxy.url, HTTPS_PROXY: proxy.url }
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, env })
  const run = (path: string) =>
    fetch(`${service.url}/run/sync`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ messages: [{ role: 'user', content: `fetch ${site.url}${path}` }] })
    }).then(async (response) => response.json() as any)

  t.match((await run('/')).toolCalls, [{ toolName: 'fetchUrl', output: { content: '# Built\n\nA **page**' } }])
  t.same(proxy.requests, [], 'through no proxy')

  const asked = once(site.server, 'request')
  const cut = run('/endless').catch(() => {})
  await asked
  await site.quiet()
  t.match(await service.stop(), { code: 0 })
  await cut
  t.equal(service.out().split('\n').length, 2, 'the thread says nothing on stdout')
})
