import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { setImmediate as turn } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { Aborted } from '../../../../services/lib/abort.ts'
import { fakeClock } from '../../../harness/clock.ts'
import { as, startSite } from '../../../fakes/site.ts'
import { openWeb } from './helper.ts'

const MIB = 1024 * 1024

/** Sends a piece again and again, as fast as it is taken, until the reader leaves. */
async function endless (res: ServerResponse, piece: Buffer | string, headers: Record<string, string> = {}) {
  res.writeHead(res.statusCode, { 'content-type': 'text/plain', ...headers })
  await pipeline(function * () {
    for (;;) yield piece
  }, res).catch(() => {})
}

t.test('of an endless body five megabytes are read, and the connection is closed', async (t) => {
  const site = await startSite(t, { '/': (_req, res) => endless(res, 'x'.repeat(64 * 1024)) })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const { content, cut } = await fetch(site.url)
  t.equal(content.length, 5 * MIB)
  t.equal(cut, true)
  await site.quiet()
})

t.test('a bomb goes off no further than five megabytes, whatever it is packed in', async (t) => {
  const nothing = Buffer.alloc(64 * MIB)
  const inner = gzipSync(nothing)
  const bombs: Record<string, [string, Buffer]> = {
    '/gzip': ['gzip', inner],
    '/twice': ['gzip, gzip', gzipSync(inner)]
  }
  const site = await startSite(
    t,
    Object.fromEntries(
      Object.entries(bombs).map(([path, [coding, body]]) => [path, as('text/plain', body, { headers: { 'content-encoding': coding } })])
    )
  )
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  for (const path of Object.keys(bombs)) {
    const { content, cut } = await fetch(site.url + path)
    t.same([content.length, cut], [5 * MIB, true], path)
  }
  await site.quiet()
})

t.test('a body that nobody reads is not waited for', async (t) => {
  const site = await startSite(t, {
    '/packed': (_req, res) => endless(res, 'x'.repeat(64 * 1024), { 'content-encoding': 'lzma' }),
    '/film': (_req, res) => endless(res, 'x'.repeat(64 * 1024), { 'content-type': 'video/mp4' }),
    '/moved': (_req, res) => endless(Object.assign(res, { statusCode: 302 }), 'x'.repeat(64 * 1024), { location: 'http://10.0.0.1/' })
  })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port] })
  t.match(await failure(`${site.url}/packed`), /lzma/)
  t.match(await fetch(`${site.url}/film`), { binary: true })
  t.match(await failure(`${site.url}/moved`), /not on the public internet/)
  await site.quiet()
})

t.test('six pages are fetched at once, the others in turn', async (t) => {
  let open = 0
  const held: Array<() => void> = []
  const site = await startSite(t, {
    '/': async (_req, res) => {
      open++
      await new Promise<void>((resolve) => held.push(resolve))
      open--
      res.writeHead(200, { 'content-type': 'text/plain' }).end('x')
    }
  })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port] })
  const stop = new AbortController()
  const fetches = Array.from(
    { length: 70 },
    (_, n) => fetch(site.url, n < 60 ? undefined : stop.signal).then(({ content }) => content, (error) => error)
  )
  t.match(await failure(site.url), /Too many pages are being fetched at once/)
  stop.abort(new Aborted('stop'))
  for (let done = 0; done < 60; done++) {
    while (held.length === 0) await turn()
    t.ok(open <= 6)
    held.shift()!()
  }
  t.same(await Promise.all(fetches), [...Array(60).fill('x'), ...Array(10).fill(stop.signal.reason)])
})

t.test('packing that never unpacks to anything ends as well', async (t) => {
  const empty = Buffer.concat(Array(3000).fill(gzipSync('')))
  const site = await startSite(t, { '/': (_req, res) => endless(res, empty, { 'content-encoding': 'gzip' }) })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  t.match(await fetch(site.url), { content: '', cut: true })
  await site.quiet()
})

t.test('headers that are too large or never end are given up', async (t) => {
  const site = await startSite(t, {
    '/large': (req) => {
      req.socket.write(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(70_000)}\r\n\r\n`)
    },
    '/fits': as('text/plain', 'x', { headers: { 'x-policy': 'x'.repeat(40_000) } }),
    '/odd': (req) => {
      req.socket.end('SSH-2.0-OpenSSH\r\n')
    },
    '/switch': (req) => {
      req.socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n')
    }
  })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port] })
  t.match(await failure(`${site.url}/large`), /its headers are too large/)
  t.equal((await fetch(`${site.url}/fits`)).content, 'x')
  t.match(await failure(`${site.url}/odd`), /does not speak HTTP as it should/)
  t.match(await failure(`${site.url}/switch`), /the connection was cut off/)
  await site.quiet()
})

for (
  const [what, pages] of Object.entries<Parameters<typeof startSite>[1]>({
    'does not answer': { '/': () => {} },
    'drips its headers': {
      '/': (req: any) => {
        req.socket.write('HTTP/1.1 200 OK\r\nx: ')
      }
    },
    'drips its body': {
      '/': (_req: any, res: ServerResponse) => {
        res.writeHead(200, { 'content-type': 'text/plain' }).write('a')
      }
    },
    'drips its redirections': {
      '/': (_req: any, res: ServerResponse) => {
        res.writeHead(302, { location: '/next' }).end()
      },
      '/next': () => {}
    }
  })
) {
  t.test(`a server that ${what} is left after fifteen seconds, and at once when the run ends`, async (t) => {
    const site = await startSite(t, pages)
    const clock = fakeClock()
    const { failure, web } = openWeb(t, { publicPorts: [site.port], clock })
    const asked = once(site.server, 'request')
    const late = failure(site.url)
    await asked
    await clock.advance(14_999)
    t.equal(site.sockets.size > 0, true)
    await clock.advance(1)
    t.match(await late, /did not give its whole answer within 15 s/)
    await site.quiet()

    const stop = new AbortController()
    const again = once(site.server, 'request')
    const stopped = web.fetch(site.url, stop.signal).catch((error) => error)
    await again
    stop.abort(new Aborted('stop'))
    t.equal(await stopped, stop.signal.reason)
    await site.quiet()
  })
}

t.test('a name whose lookup never ends is given up', async (t) => {
  const clock = fakeClock()
  const { transform } = openWeb(t, { clock })
  const { createWeb } = await import('../../../../services/tools/web/fetch/fetch.ts')
  const web = createWeb({ policy: { addresses: () => new Promise(() => {}) }, transform, clock })
  const late = web.fetch('https://slow.test', new AbortController().signal).catch((error) => error.message)
  await clock.sleeper(15_000)
  await clock.advance(15_000)
  t.match(await late, /within 15 s/)
})

t.test('five megabytes of hostile HTML end as text', async (t) => {
  const pages = {
    nested: '<div>'.repeat(MIB),
    attributes: `<p ${'a=b '.repeat(1.24 * MIB)}>after`,
    unclosed: '<a<b<c'.repeat(MIB * 5 / 6),
    quotes: '<a b="'.repeat(MIB * 5 / 6),
    scripts: '<script>'.repeat(MIB * 5 / 8),
    comments: '<!--'.repeat(1.25 * MIB),
    entities: '&#x1F600;'.repeat(MIB / 2),
    blanks: 'a' + ' '.repeat(4.9 * MIB) + 'b'
  }
  const site = await startSite(t, Object.fromEntries(Object.entries(pages).map(([name, html]) => [`/${name}`, as('text/html', html)])))
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const read: Record<string, string> = {}
  for (const name of Object.keys(pages)) {
    const { content, plain } = await fetch(`${site.url}/${name}`)
    read[name] = content
    t.equal(plain, true, name)
  }
  t.match(read, { blanks: 'a b', attributes: 'after' })
  t.equal(read.nested, '')
})

t.test('a page that takes ten seconds to read is given as text', async (t) => {
  const site = await startSite(t, { '/': `<title>Deep</title><p>before${'<b><i>'.repeat(20_000)}` })
  const clock = fakeClock()
  const { fetch, transform } = openWeb(t, { publicPorts: [site.port], clock })
  const answer = fetch(site.url)
  while (!transform.running) await turn()
  await clock.advance(10_000)
  t.match(await answer, { title: 'Deep', content: 'before', plain: true })
  t.equal(transform.running, true, 'in another thread')
})
