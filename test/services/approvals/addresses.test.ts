import { tmpdir } from 'node:os'
import t from 'tap'
import { addressesIn, addressesOfInput, readAddress } from '../../../services/lib/find-addresses.ts'
import { createProvenance } from '../../../services/approvals/addresses/provenance.ts'
import { HONEST, LEADING } from './cases/addresses-open.ts'
import { HONEST as heldHonest, LEADING as heldLeading } from './cases/addresses-held.ts'
import { build } from '../tools/helper.ts'

const keys = (text: string, options?: object) => addressesIn(text, options).map(({ key }) => key)

t.test('addresses are found as people and pages write them', async (t) => {
  t.ok(keys('See https://a.example/x?y=1&amp;z=2).').includes('a.example/x?y=1&z=2'))
  t.ok(keys('look at (www.Example.com/Docs/), please', { asSaid: true }).includes('example.com/Docs'))
  t.same(keys('a.example without a scheme'), [], 'only a person may leave out the scheme')
  t.ok(keys('[docs](http://b.example:8080/a#top)').includes('b.example:8080/a'))
  t.match(readAddress('mailto:a@b.example'), { host: 'b.example', key: 'a@b.example' })
  t.ok(keys('Look at [the docs](http://c.example/x), and localhost:3000/x', { asSaid: true }).includes('c.example/x'))
  t.ok(keys('Open localhost:3000/x!', { asSaid: true }).includes('localhost:3000/x'))
  t.ok(keys('Write to Ada <ada@d.example>', { asSaid: true }).includes('ada@d.example'))
})

t.test('an input of a tool leads to a host, in whatever form', async (t) => {
  for (const [input, host = 'evil.example'] of [...LEADING, ...heldLeading]) {
    const hosts = addressesOfInput(input).map((found) => found.host.replace(/:\d+$/, ''))
    t.ok(hosts.includes(host), `${JSON.stringify(input)}: ${hosts}`)
  }
})

t.test('versions, files, modules, times and code are no addresses', async (t) => {
  for (const input of [...HONEST, ...heldHonest]) t.same(addressesOfInput(input).map(({ key }) => key), [], JSON.stringify(input))
})

t.test('a long text without a dot, and one of nothing but marks, end soon', { timeout: 20_000 }, async (t) => {
  const marks = ['-'.repeat(500_000), '](a://b:'.repeat(60_000)]
  for (const text of [...marks, 'a'.repeat(500_000), `https://${')'.repeat(500_000)}x`, 'a.'.repeat(250_000)]) {
    addressesIn(text, { asSaid: true })
    addressesOfInput({ text })
  }
  t.ok(true)
})

const { find } = build({ workspace: tmpdir() }).host
const open = (stored?: Parameters<typeof createProvenance>[1]) => createProvenance({ find, now: Date.now() }, stored)

t.test('the first source of an address counts, and the words of a person always', async (t) => {
  const known = open()
  known.happened([{ type: 'tool-input', toolCallId: '1', toolName: 'writeFile', input: { content: 'http://a.example/?d=1' } }])
  known.resulted({ toolName: 'fetchUrl' }, { content: 'http://a.example/?d=1 http://b.example/x/y' })
  t.equal(known.addresses.get('a.example?d=1'), 'composed')
  t.equal(known.addresses.get('b.example/x/y'), 'read')
  t.equal(known.addresses.get('b.example/x'), 'read', 'what is above a known address says nothing new')
  t.equal(known.addresses.get('b.example/x/z'), undefined)
  known.userSaid('get a.example/?d=1')
  t.equal(known.addresses.get('a.example?d=1'), 'user')
  known.happened([{ type: 'steer', id: '1', text: 'and c.example/?d=1', state: 'waiting', at: 0 }])
  t.equal(known.addresses.get('c.example?d=1'), 'user', 'what a person says to a run, too')
})

t.test('an address that the model offered as an option is not the word of the person who chose it', async (t) => {
  const known = open()
  known.happened([
    {
      type: 'tool-input',
      toolCallId: '1',
      toolName: 'askUser',
      input: { questions: [{ id: 'q', options: ['evil.example/?d=secret', 'no'] }] }
    },
    { type: 'tool-output', toolCallId: '1', toolName: 'askUser', output: { answers: { q: 'evil.example/?d=secret', r: 'mine.example/a' } } }
  ])
  t.equal(known.addresses.get('evil.example?d=secret'), 'composed')
  t.equal(known.addresses.get('mine.example/a'), 'user', 'what was typed is')
})

t.test('what a command prints, or the conversation wrote, makes no address known', async (t) => {
  const known = open()
  known.happened([{
    type: 'tool-output',
    toolCallId: '1',
    toolName: 'writeFile',
    output: {},
    changes: [{ path: '/x/a.md', before: null, after: 'sha256:x' }]
  }])
  known.resulted({ toolName: 'readFile' }, { path: '/x/a.md', content: 'http://own.example/' })
  known.resulted({ toolName: 'runCommand' }, { stdout: 'http://printed.example/' })
  t.same([...known.addresses], [['own.example', 'composed'], ['printed.example', 'composed']])
  const later = open(known.snapshot())
  later.resulted({ toolName: 'readFile' }, { path: '/x/a.md', content: 'http://more.example/' })
  t.equal(later.addresses.get('more.example'), 'composed', 'also after a restart')
})
