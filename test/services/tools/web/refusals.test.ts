import t from 'tap'
import { isThisMachine, nonPublicKind } from '../../../../services/tools/web/fetch/address-policy.ts'
import { redirect, startSite } from '../../../fakes/site.ts'
import { openWeb } from './helper.ts'

const PRIVATE = [
  '127.0.0.1',
  '127.255.255.254',
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '169.254.169.254',
  '169.254.0.1',
  '100.64.0.1',
  '100.127.255.255',
  '192.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a9fe:a9fe',
  '::127.0.0.1',
  '::ffff:0:127.0.0.1',
  'fe80::1',
  'fec0::1',
  'fc00::1',
  'fd00:ec2::254',
  'ff02::1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::8.8.8.8',
  '2002:7f00:1::',
  '2002:808:808::',
  '2001::1',
  '2001:db8::1',
  '3fff::1',
  '5f00::1',
  '100::1',
  '2001:2::1',
  '4000::1'
]
const PUBLIC = [
  '1.1.1.1',
  '8.8.8.8',
  '172.15.0.1',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '192.167.0.1',
  '2606:4700:4700::1111',
  '2a00:1450::1',
  '64:ff9b::8.8.8.8',
  '::ffff:8.8.8.8'
]

t.test('every kind of address that is not on the public internet is known as such', async (t) => {
  for (const address of PRIVATE) t.type(nonPublicKind(address), 'string', address)
  for (const address of PUBLIC) t.equal(nonPublicKind(address), undefined, address)
  t.throws(() => nonPublicKind('localhost'))
})

t.test('all addresses of this machine are its own', async (t) => {
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', '192.168.7.7', 'fe80::7']) {
    t.ok(isThisMachine(address, ['127.0.0.1', '192.168.7.7', 'fe80:0:0:0::7']), address)
  }
  for (const address of ['192.168.7.8', 'fe80::8', '8.8.8.8']) t.notOk(isThisMachine(address, ['192.168.7.7', 'fe80::7']), address)
})

t.test('no spelling of a private address is fetched from', async (t) => {
  const site = await startSite(t, { '/': 'secret' })
  const { failure } = openWeb(t)
  for (
    const host of [
      '127.0.0.1',
      '127.0.0.1.',
      '127.1',
      '127.0.1',
      '2130706433',
      '0x7f000001',
      '0x7f.1',
      '017700000001',
      '0177.0.0.1',
      '127.0.0.0x1',
      '0',
      '0.0.0.0',
      '[::1]',
      '[::]',
      '[::ffff:127.0.0.1]',
      '[::ffff:7f00:1]',
      '[0:0:0:0:0:ffff:127.0.0.1]',
      '[64:ff9b::7f00:1]',
      '[2002:7f00:1::]',
      '１２７.０.０.１',
      '①②⑦.⓪.⓪.①',
      '127。0。0。1',
      '%31%32%37.0.0.1',
      'localhost',
      'LOCALHOST',
      'localhost.',
      'site.localhost'
    ]
  ) {
    t.match(await failure(`http://${host}:${site.port}/`), /is not on the public internet/, host)
  }
  for (const address of PRIVATE) {
    t.match(await failure(`http://${address.includes(':') ? `[${address}]` : address}/`), /is not on the public internet/, address)
  }
  t.same(site.requests, [])
  t.equal(site.sockets.size, 0)
})

t.test('a name is refused when one of its addresses is', async (t) => {
  const site = await startSite(t, { '/': 'secret' })
  const { failure } = openWeb(t, {
    publicPorts: [site.port],
    names: {
      'meta.test': [['169.254.169.254']],
      'mixed.test': [['127.0.0.1', '10.0.0.1']],
      'mapped.test': [['::ffff:10.1.1.1']],
      'empty.test': [[]]
    }
  })
  for (const host of ['meta.test', 'mixed.test', 'mapped.test']) {
    t.match(await failure(`http://${host}:${site.port}/`), /is not on the public internet/, host)
  }
  t.match(await failure('http://empty.test/'), /no host named empty\.test/)
  t.match(await failure('http://unknown.test/'), /there is no host of that name/)
  t.same(site.requests, [])
})

t.test('a name that means something else a moment later does not get through', {
  skip: process.platform !== 'linux' && 'there is no 127.0.0.2'
}, async (t) => {
  const pages = { '/': 'the page', '/again': redirect('/inner'), '/inner': 'secret' }
  const outer = await startSite(t, pages)
  const { port } = outer
  // The same port of another address of this machine: it stands for what lies within.
  const inner = await startSite(t, pages, { port, host: '127.0.0.2' })
  const open = () => openWeb(t, { publicPorts: [port], names: { 'rebind.test': [['127.0.0.1'], ['127.0.0.2']] } })

  const first = open()
  t.equal((await first.fetch(`http://rebind.test:${port}/`)).content, 'the page')
  t.same(first.lookups, ['rebind.test'], 'what was checked is what was connected to')
  t.equal(outer.requests[0].headers.host, `rebind.test:${port}`)
  t.match(await open().failure(`http://rebind.test:${port}/again`), /is not on the public internet/, 'each redirection is checked anew')
  t.same(outer.requests.map(({ path }) => path), ['/', '/again'])
  t.same(inner.requests, [])
})

t.test('redirections to what may not be fetched are refused', async (t) => {
  const inner = await startSite(t, { '/': 'secret' })
  const site = await startSite(t, {
    '/': (req, res) => redirect(decodeURIComponent(new URL(req.url!, 'http://x').search.slice(1)))(req, res)
  })
  const { failure } = openWeb(t, { publicPorts: [site.port] })
  const via = (target: string) => failure(`${site.url}/?${encodeURIComponent(target)}`)
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', 'user:pass@127.0.0.1']) {
    t.match(await via(`http://${host}:${inner.port}/`), /is not on the public internet/, host)
    t.match(await via(`//${host}:${inner.port}/`), /is not on the public internet/, host)
  }
  t.match(await via('http://169.254.169.254/latest/meta-data/'), /linkLocal/)
  for (const target of ['file:///etc/passwd', 'data:text/plain,x', 'javascript:1', 'ftp://example.com/', 'gopher://127.0.0.1/']) {
    t.match(await via(target), /not on the web/, target)
  }
  t.match(await via('http://['), /no address/)
  t.same(inner.requests, [])
})

t.test('the service itself is never fetched from, not even where private addresses are', async (t) => {
  const own = await startSite(t, { '/': 'secret' })
  const other = await startSite(t, { '/': 'a page', '/to-own': redirect(`http://127.0.0.1:${own.port}/`) })
  const { failure, fetch } = openWeb(t, { allowPrivate: true, ownPorts: [own.port] })
  for (const host of ['127.0.0.1', 'localhost', '127.0.0.2', '127.1', '0.0.0.0', '[::1]', '[::]', '[::ffff:127.0.0.1]']) {
    t.match(await failure(`http://${host}:${own.port}/`), /is this service itself/, host)
  }
  t.match(await failure(`${other.url}/to-own`), /is this service itself/)
  t.equal((await fetch(`${other.url}/`)).content, 'a page')
  t.same(own.requests, [])
})

t.test('only web addresses without a user are fetched', async (t) => {
  const site = await startSite(t, { '/': 'secret' })
  const { failure } = openWeb(t, { publicPorts: [site.port] })
  for (
    const url of [
      'file:///etc/passwd',
      'ftp://example.com/',
      'data:text/html,x',
      'javascript:alert(1)',
      'blob:http://x/y',
      'about:blank',
      'ws://127.0.0.1/'
    ]
  ) {
    t.match(await failure(url), /Only http and https/, url)
  }
  for (
    const url of [
      '',
      ' ',
      'http://',
      'http://[',
      'https://exa mple.com',
      'http://1.2.3.4.5',
      'http://x:99999',
      `http://x/${'a'.repeat(10_000)}`
    ]
  ) t.match(await failure(url), /is not an address such as/, url.slice(0, 30))
  for (const user of ['user', 'user:pass', ':pass', 'public.example.com']) {
    t.match(await failure(`http://${user}@127.0.0.1:${site.port}/`), /user name or password/, user)
  }
  t.same(site.requests, [])
})
