import { setDefaultCACertificates } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import t from 'tap'
import { selfSigned } from '../../../fakes/certificate.ts'
import { as, redirect, startSite } from '../../../fakes/site.ts'
import { openWeb } from './helper.ts'

const WORDS = 'Some words, and more of them, for a reader. '
const ARTICLE = `<!doctype html><html><head><title>An &amp; article</title><base href="/docs/"><style>.x{}</style></head><body>
<nav><a href="/elsewhere">Elsewhere</a></nav>
<article><h1>Heading</h1><p>${WORDS.repeat(20)}</p><pre><code class="language-js">const a = 1
  const b</code></pre><table><thead><tr><th>Name</th><th>Size</th></tr></thead><tbody><tr><td>one</td><td>1|2</td></tr></tbody></table>
<script>evil()</script><p>${
  WORDS.repeat(10)
}<a href="next?a=1#part">onward</a> <a href="javascript:steal()">a trap</a> <img src="p.png" alt="a picture"><img src="spy.gif"></p>
</article></body></html>`

t.test('an article is read as markdown: without its frame and scripts, links absolute', async (t) => {
  const site = await startSite(t, { '/start/page': ARTICLE })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const { content, ...rest } = await fetch(`${site.url}/start/page#part`)
  t.strictSame(rest, { url: `${site.url}/start/page`, status: 200, contentType: 'text/html', title: 'An & article' })
  t.match(content, /^## Heading\n\nSome words/)
  t.match(content, '```js\nconst a = 1\n  const b\n```')
  t.match(content, '| Name | Size |\n| --- | --- |\n| one | 1\\|2 |')
  t.match(content, `[onward](${site.url}/docs/next?a=1#part)`)
  t.match(content, `![a picture](${site.url}/docs/p.png)`)
  t.notMatch(content, /evil|steal|spy|Elsewhere|\.x/)
})

t.test('a page that is no article is read whole', async (t) => {
  const site = await startSite(t, {
    '/': '<title>List</title><body><header>Top</header><ul><li><a href="/a">A</a><li>B</ul><noscript>no</noscript>',
    '/nav': '<nav><a href=/x>only this</a></nav>',
    '/none': ''
  })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const { title, content } = await fetch(site.url)
  t.equal(title, 'List')
  t.equal(content.replace(/-\s+/g, '- '), `- [A](${site.url}/a)\n- B`)
  t.match((await fetch(`${site.url}/nav`)).content, '[only this]')
  t.equal((await fetch(`${site.url}/none`)).content, '')
})

t.test('text and JSON come as they are, what is no text is named, and a vague type is looked into', async (t) => {
  const json = '{"a": "<b>&amp;</b>"}\n'
  const site = await startSite(t, {
    '/json': as('application/json', json),
    '/feed': as('application/atom+xml', '<feed/>'),
    '/md': as('text/markdown; charset=UTF-8', '# <b>'),
    '/png': as('image/png', Buffer.alloc(70), { headers: { 'content-length': '70' } }),
    '/zip': as('application/zip', 'PK'),
    '/vague-text': as('application/octet-stream', 'plain words'),
    '/vague-page': as(undefined, ' <!DOCTYPE html><p>x</p>'),
    '/vague-data': as(undefined, Buffer.from([1, 0, 2])),
    '/nothing': as(undefined, '', { status: 204 })
  })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const got = async (path: string) => {
    const { content, contentType, binary, size } = await fetch(site.url + path)
    return [content, contentType, binary, size]
  }
  t.strictSame(await got('/json'), [json, 'application/json', undefined, undefined])
  t.strictSame(await got('/feed'), ['<feed/>', 'application/atom+xml', undefined, undefined])
  t.strictSame(await got('/md'), ['# <b>', 'text/markdown', undefined, undefined])
  t.strictSame(await got('/png'), ['', 'image/png', true, 70])
  t.match(await got('/zip'), ['', 'application/zip', true])
  t.strictSame(await got('/vague-text'), ['plain words', 'application/octet-stream', undefined, undefined])
  t.strictSame(await got('/vague-page'), ['x', '', undefined, undefined])
  t.match(await got('/vague-data'), ['', '', true])
  t.strictSame(await got('/nothing'), ['', '', undefined, undefined])
})

t.test('every charset is read: of the byte order mark, the header, the page, or guessed', async (t) => {
  const sjis = Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67])
  const win = Buffer.from([0x93, 0x63, 0x61, 0x66, 0xe9, 0x94, 0x20, 0x80])
  const utf16 = Buffer.from('\uFEFFaé€', 'utf16le')
  const page = (head: string, body: Buffer) => Buffer.concat([Buffer.from(`<html><head>${head}</head><body>`), body])
  const site = await startSite(t, {
    '/header': as('text/plain; charset="Shift_JIS"', sjis),
    '/meta': as('text/html', page('<meta charset=shift_jis>', sjis)),
    '/meta-old': as('text/html', page('<meta http-equiv="Content-Type" content="text/html; charset=windows-1252">', win)),
    '/header-wins': as('text/html; charset=windows-1252', page('<meta charset="utf-8">', win)),
    '/bom': as('text/plain; charset=windows-1252', Buffer.from('\uFEFFé€')),
    '/utf-16': as('text/plain', utf16),
    '/utf-16be': as('text/plain; charset=utf-16be', Buffer.from('aé€', 'utf16le').swap16()),
    '/xml': as('application/xml', Buffer.concat([Buffer.from('<?xml version="1.0" encoding="windows-1252"?>'), win])),
    '/guessed': as('text/plain', win),
    '/utf-8': as('text/plain', 'é€'),
    '/stray': as('text/plain', Buffer.concat([Buffer.from('é€ü'), Buffer.from([0xff])])),
    '/unknown': as('text/plain; charset=klingon', 'é€')
  })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  const read = async (path: string) => (await fetch(site.url + path)).content
  for (const path of ['/header', '/meta']) t.equal(await read(path), 'テスト', path)
  for (const path of ['/meta-old', '/header-wins', '/guessed']) t.equal(await read(path), '“café” €', path)
  t.match(await read('/xml'), /“café” €$/)
  for (const path of ['/bom', '/utf-8', '/unknown']) t.equal(await read(path), 'é€', path)
  for (const path of ['/utf-16', '/utf-16be']) t.equal(await read(path), 'aé€', path)
  t.equal(await read('/stray'), 'é€ü\uFFFD')
})

t.test('compressed answers are read, and one that is cut off as far as it goes', async (t) => {
  const text = WORDS.repeat(2000)
  const packed = (coding: string, body: Buffer) => as('text/plain', body, { headers: { 'content-encoding': coding } })
  const site = await startSite(t, {
    '/gzip': packed('gzip', gzipSync(text)),
    '/twice': packed('gzip, GZIP', gzipSync(gzipSync(text))),
    '/none': packed('none', Buffer.from(text)),
    '/br': packed('br', brotliCompressSync(text)),
    '/cut': packed('gzip', gzipSync(text).subarray(0, -20)),
    '/no-gzip': packed('gzip', Buffer.from('plain')),
    '/unknown': packed('lzma', Buffer.from('x')),
    '/often': packed('gzip, gzip, gzip', Buffer.from('x'))
  })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port] })
  for (const path of ['/gzip', '/twice', '/none']) t.equal((await fetch(site.url + path)).content, text, path)
  t.ok(text.startsWith((await fetch(`${site.url}/cut`)).content))
  t.match(await failure(`${site.url}/no-gzip`), /its content is not compressed as it says/)
  t.match(await failure(`${site.url}/br`), /compressed in a way that was not asked for \(br\)/)
  t.match(await failure(`${site.url}/unknown`), /compressed in a way that was not asked for \(lzma\)/)
  t.match(await failure(`${site.url}/often`), /compressed too often/)
  await site.quiet()
})

t.test('five redirections are followed, credentials and fragments dropped; a sixth is one too many', async (t) => {
  const site = await startSite(t, {
    '/0': redirect('/1', 301),
    '/1': redirect('2', 302),
    '/2': redirect('?3', 303),
    '/3': redirect('/4#part', 307),
    '/4': redirect('/5', 308),
    '/5': as('text/plain', 'there'),
    '/loop': redirect('/loop'),
    '/user': (req, res) => redirect(`http://user:pass@${req.headers.host}/5`)(req, res),
    '/umlaut': redirect(Buffer.from('/ü').toString('latin1')),
    '/%C3%BC': as('text/plain', 'found'),
    '/nowhere': as('text/plain', 'no location', { status: 302 })
  })
  site.server.prependListener('request', (req) => {
    if (req.url === '/2?3') req.url = '/3'
  })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port] })
  t.match(await fetch(`${site.url}/0`), { url: `${site.url}/5`, status: 200, content: 'there' })
  t.match(await failure(`${site.url}/loop`), /redirects more than 5 times/)
  t.equal(site.requests.filter(({ path }) => path === '/loop').length, 6)
  t.equal((await fetch(`${site.url}/umlaut`)).content, 'found')
  t.match(await fetch(`${site.url}/nowhere`), { status: 302, content: 'no location' })
  t.equal((await fetch(`${site.url}/user`)).url, `${site.url}/5`)
  t.notOk('authorization' in site.requests.at(-1)!.headers)
  await site.quiet()
})

t.test('a request tells nothing of its user: no cookie, no credentials, no referrer, no proxy', async (t) => {
  const proxy = await startSite(t)
  for (const name of ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'NODE_USE_ENV_PROXY']) {
    const before = process.env[name]
    process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url
    t.teardown(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
  const site = await startSite(t, {
    '/': as(undefined, '', { status: 302, headers: { location: '/x', 'set-cookie': 'id=1' } }),
    '/x': as('text/plain', 'x')
  })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  await fetch(site.url)
  t.same(proxy.requests, [])
  t.equal(proxy.sockets.size, 0)
  t.same(
    site.requests.map(({ method, headers }) => [method, Object.keys(headers).sort()]),
    Array(2).fill(['GET', ['accept', 'accept-encoding', 'accept-language', 'connection', 'host', 'user-agent']])
  )
})

t.test('an error is an answer: its status, and what the server says of it', async (t) => {
  const site = await startSite(t, { '/gone': as('text/html', '<h1>Gone</h1>', { status: 410 }) })
  const { fetch } = openWeb(t, { publicPorts: [site.port] })
  t.match(await fetch(`${site.url}/gone`), { status: 410, content: '# Gone' })
  t.match(await fetch(`${site.url}/nowhere`), { status: 404, content: 'nothing here' })
})

t.test('https is only read from whom the machine trusts, and not left for http', async (t) => {
  const plain = await startSite(t, { '/': 'plain' })
  const site = await startSite(t, { '/': as('text/plain', 'kept secret'), '/down': redirect(`${plain.url}/`) }, { tls: selfSigned })
  const { fetch, failure } = openWeb(t, { publicPorts: [site.port, plain.port] })
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
  })
  t.match(await failure(site.url), /certificate cannot be trusted/)
  t.match(await failure(site.url.replace('https', 'http')), /connection was cut off|speak HTTP/)
  t.match(await failure(plain.url.replace('http', 'https')), /does not speak TLS as it should/)
  setDefaultCACertificates([selfSigned.cert])
  t.equal((await fetch(site.url)).content, 'kept secret')
  t.match(await failure(`${site.url}/down`), /redirects from https to http:.*Fetch that address if this is wanted/)
  t.same(plain.requests, [])
})

t.test('what cannot be reached is said', async (t) => {
  const site = await startSite(t, {
    '/cut': (_req, res) => {
      res.writeHead(200, { 'content-length': 10 }).write('abc', () => res.destroy())
    },
    '/none': (req) => {
      req.socket.destroy()
    }
  })
  const { failure } = openWeb(t, { publicPorts: [site.port, 9] })
  t.match(await failure('http://127.0.0.1:9/'), /nothing answers there/)
  for (const path of ['/cut', '/none']) t.match(await failure(site.url + path), /the connection was cut off/, path)
  t.match(await failure(`127.0.0.1:${site.port}`), /^https:.*does not speak TLS/, 'an address without a scheme is https')
})
