import t from 'tap'
import { createOAuthFetch } from '../../../services/mcp/oauth/oauth-fetch.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { as, redirect, startSite } from '../../fakes/site.ts'

const { signal } = new AbortController()
const fetchFor = (server: string, ownPorts: number[] = []) => {
  const rules = { allowPrivate: () => false, ownPorts: () => ownPorts }
  return createOAuthFetch({ server: new URL(server), rules, clock: systemClock, signal })
}

t.test('a server on the internet leads to no address of this machine or its network', async (t) => {
  const site = await startSite(t, { '/': 'here' })
  const { fetch, refused } = fetchFor('https://mcp.example.com/mcp')
  for (const host of [new URL(site.url).host, '127.0.0.1', 'localhost', '10.0.0.1', '[::1]', '169.254.169.254']) {
    await t.rejects(fetch(`https://${host}/`), /is not on the public internet/, host)
  }
  t.match(refused()?.message, /127\.0\.0\.1/, 'the first one is remembered')
  await t.rejects(fetch('http://93.184.215.14/'), /is not https/)
  await t.rejects(fetch('https://ada:secret@93.184.215.14/'), { message: /^93\.184\.215\.14 is named with a password\.$/ })
  t.same(site.requests, [])
})

t.test('a server on this machine may lead to others on this machine, but to nothing else and not to this service', async (t) => {
  const server = await startSite(t, { '/': 'server' })
  const other = await startSite(t, { '/': 'other', '/away': redirect('https://x.example/') })
  const { fetch } = fetchFor(`${server.url}/mcp`)
  t.equal(await (await fetch(server.url)).text(), 'server')
  t.equal(await (await fetch(other.url)).text(), 'other')
  t.equal((await fetch(`${other.url}/away`)).status, 302, 'a redirect is not followed')
  await t.rejects(fetch('https://10.0.0.1/'), /private address/)
  await t.rejects(fetchFor(server.url, [other.port]).fetch(other.url), /is this service itself/)
})

t.test('documents are bounded', async (t) => {
  const site = await startSite(t, {
    '/large': as('application/json', `"${'x'.repeat(300_000)}"`),
    '/deep': as('application/json', `${'['.repeat(1_000)}${']'.repeat(1_000)}`)
  })
  const { fetch } = fetchFor(site.url)
  await t.rejects(fetch(`${site.url}/large`), /too large/)
  await t.rejects(fetch(`${site.url}/deep`), /nested too deep/)
})
