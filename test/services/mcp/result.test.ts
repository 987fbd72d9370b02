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
  t.throws(() => readResult(two, secrets), { message: /images .* larger than 5 MiB/ })
})
