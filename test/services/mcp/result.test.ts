import t from 'tap'
import { readResult } from '../../../services/mcp/call-result.ts'
import { createRedactor } from '../../../services/lib/secrets.ts'

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
