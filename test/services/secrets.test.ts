import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { createSecrets, createRedactor, redacted } from '../../services/lib/secrets.ts'
import { build } from '../harness/helper.ts'

t.test('secrets are those of all who hold some, asked anew each time', async (t) => {
  const secrets = createSecrets('token', undefined)
  const held = ['one']
  secrets.add(() => held)
  held.push('two', 'token', '')
  t.same(secrets.all(), ['token', 'one', 'two'])
})

t.test('a text loses every secret, also as JSON writes it; what is too short to tell stays', async (t) => {
  t.equal(
    redacted('a long-secret-2, long-secret, say \\"it\\\\', ['long-secret', 'long-secret-2', 'say "it\\', 'a']),
    'a [secret], [secret], [secret]'
  )
})

t.test('one striker does for any number of texts, and knows whether there is anything to do', async (t) => {
  const { redact, isIn } = createRedactor(['say "it\\', 'long-secret'])
  t.same(['long-secret', 'short', 'a say "it\\'].map(redact), ['[secret]', 'short', 'a [secret]'])
  t.same(
    [{ 'a long-secret': 1 }, ['say "it\\'], [Buffer.from('long-secret').toString('base64')], ['nothing']].map((value) =>
      isIn(JSON.stringify(value))
    ),
    [true, true, true, false]
  )
})

t.test('half a character in a secret is no obstacle', async (t) => {
  t.equal(
    redacted('of half-\ud800-secret, JSON "half-\\ud800-secret" and %68', ['half-\ud800-secret']),
    'of [secret], JSON "[secret]" and %68'
  )
})

t.test('no line of the log holds a secret', async (t) => {
  const log = new PassThrough()
  const app = await build(t, { token: 'the-"quoted"-token', log })
  app.secrets.add(() => ['held-by-another'])
  app.log.error({ err: new Error('refused the-"quoted"-token') }, 'with held-by-another in it')
  log.end()
  const written = await text(log)
  t.match(written, /refused \[secret\].*with \[secret\] in it/)
  t.notMatch(written, /quoted|held-by/)
})
