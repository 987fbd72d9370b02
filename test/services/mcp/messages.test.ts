import t from 'tap'
import { readResult } from '../../../services/mcp/call-result.ts'
import { readPages } from '../../../services/mcp/entry-view.ts'
import { createRedactor } from '../../../services/lib/secrets.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { createStderrTail } from '../../../services/mcp/server-transport.ts'
import { createTransport } from '../../../services/mcp/guarded-transport.ts'
import { spawnGuarded, type GuardedChild } from '../../../services/process/spawn-guarded.ts'
import { alive } from '../process/alive.ts'
import { resolveValues, secretsIn, toReferences, valuesOfServer, valuesWithoutServer } from '../../../services/mcp/environment-values.ts'

const secret = 'a-secret-of-the-user'
const secrets = createRedactor([secret])

t.test('a secret is struck out of a result wherever it stands', async (t) => {
  const { content, structuredContent } = readResult({
    content: [{ type: 'text', text: `it is ${secret}` }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }],
    structuredContent: { [secret]: [{ deep: JSON.stringify({ secret }) }] }
  }, secrets) as any
  t.strictSame(content, [{ type: 'text', text: 'it is [secret]' }, { type: 'image', mimeType: 'image/png', data: 'AAAA' }])
  t.strictSame(structuredContent, { '[secret]': [{ deep: '{"secret":"[secret]"}' }] })
  t.throws(() => readResult({ content: [{ type: 'text', text: secret }], isError: true }, secrets), { message: '[secret]' })
})

t.test('a result of very many values is read at once, however many secrets there are', async (t) => {
  const many = createRedactor(Array.from({ length: 500 }, (_, n) => `secret-number-${n}`))
  const rows = Array.from({ length: 100_000 }, (_, n) => `${n}`)
  t.equal((readResult({ structuredContent: { rows } }, many) as any).structuredContent.rows, rows, 'and as it came')
})

t.test('a page of a list may have as many entries as a message has room for', async (t) => {
  const tools = Array.from({ length: 240_000 }, () => 0)
  const { all, isCut } = await readPages(async () => ({ tools }), 'tools', { pages: 32, most: 128 })
  t.match([all.length, isCut], [240_000, true])
})

t.test('an error holds nothing that is for the user alone, and no base64', async (t) => {
  const content = [{ type: 'text', text: 'it broke' }, { type: 'text', text: 'call Ann', annotations: { audience: ['user'] } }]
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' }
  t.throws(() => readResult({ content: [...content, image], isError: true }, secrets), { message: 'it broke\n[image]' })
})

t.test('a picture that the result holds twice counts once, and not as text', async (t) => {
  const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(3 * 1024 * 1024) }
  const result = { content: [image], structuredContent: { content: [image] } }
  t.strictSame(readResult(result, secrets), result)
  const two = { content: [image, { ...image, data: `B${image.data}` }] }
  t.match(readResult(two, secrets), { content: [image, { text: /is left out/ }], note: /images .* larger than 5 MiB.*The call was made/ })
})

t.test('a server whose message cannot be handled is ended, and not left unheard', async (t) => {
  const script = 'echo \'{"jsonrpc":"2.0","method":"notifications/odd"}\'; sleep 1000'
  const options = { cwd: t.testdir(), env: process.env, stdin: 'pipe' as const, clock: systemClock }
  const spawn = () => spawnGuarded('sh', ['-c', script], options)
  const transport = createTransport({ clock: systemClock, tail: createStderrTail(), spawn })
  transport.onmessage = () => {
    throw new Error('a fault of this service')
  }
  await transport.start()
  t.equal(await transport.ended, 'its output cannot be read any more')
})

t.test('who disconnects a server that is just being started finds nothing of it left', async (t) => {
  const asked = Promise.withResolvers<void>()
  let child: GuardedChild | undefined
  const transport = createTransport({
    clock: systemClock,
    tail: createStderrTail(),
    async spawn () {
      await asked.promise
      return (child = await spawnGuarded('sleep', ['1000'], { cwd: t.testdir(), env: process.env, stdin: 'pipe', clock: systemClock }))
    }
  })
  const started = transport.start()
  const closed = transport.close()
  asked.resolve()
  await closed
  t.notOk(alive(child!.pid))
  await started
})

const entry = (env: Record<string, string>) => ({ name: 's', command: 'c', env })

t.test('what is stored comes back under its name, and each server has its own', async (t) => {
  const { references, values } = toReferences('a.b', { TOKEN: 'x', constructor: 'y' })
  t.same(references, { TOKEN: 'secret:mcp/a.b/TOKEN', constructor: 'secret:mcp/a.b/constructor' })
  t.same(resolveValues(entry(references), values), { TOKEN: 'x', constructor: 'y' })
  const stored = { ...values, ...toReferences('a', { TOKEN: 'z' }).values }
  t.same(valuesOfServer(stored, 'a'), { 'mcp/a/TOKEN': 'z' })
  t.same(valuesWithoutServer(stored, 'a'), values)
})

t.test('what is missing is named', async (t) => {
  t.throws(() => resolveValues(entry({ X: 'secret:mcp/s/toString' }), {}), /nothing is stored for its variable X/)
  // eslint-disable-next-line no-template-curly-in-string
  t.throws(() => resolveValues(entry({ X: 'a${NONE}' }), {}), /X is to come from the environment variable NONE/)
  t.same(resolveValues(entry({ X: 'secret: not a reference', Y: '$HOME' }), {}), { X: 'secret: not a reference', Y: '$HOME' })
})

t.test('secrets are told from settings by name or by value, so that no harmless value is taken from other children', async (t) => {
  const settings = {
    HOME: '/home/ada',
    PATH: '/usr/bin:/bin',
    NODE_ENV: 'production',
    PORT: '8080',
    API_URL: 'http://localhost:3000/v1',
    LANG: 'en_US.UTF-8',
    NAME: 'Ada Lovelace'
  }
  const secrets = { GITHUB_TOKEN: 'short', apiKey: 'x', DATABASE: 'postgres://ada:pw@host/db', OTHER: 'ghp_16C7e42F292c6912E7' }
  t.same(secretsIn({ ...settings, ...secrets }), Object.values(secrets))
})
