import { existsSync } from 'node:fs'
import t from 'tap'
import { build } from '../harness/helper.ts'
import { listen, sendBytes } from '../harness/raw.ts'

const WRITE = '{"messages":[{"role":"user","content":"write \'x\' to marker.txt"}]}'
const statuses = (
  { status, body }: { status: number, body: string }
) => [status, ...[...body.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, each]) => Number(each))]

t.test('requests that share a connection are judged one by one', async (t) => {
  const app = await build(t, { config: { permissions: { writeFile: 'allow' } } })
  const port = await listen(app)
  const host = `Host: 127.0.0.1:${port}`
  const health = `GET /health HTTP/1.1\r\n${host}\r\n\r\n`
  const run = (...lines: string[]) =>
    ['POST /run HTTP/1.1', host, ...lines, 'Content-Type: application/json', `Content-Length: ${WRITE.length}`, '', WRITE].join('\r\n')

  const answers = await sendBytes(
    port,
    health,
    run('Origin: https://evil.example'),
    health,
    run('Sec-Fetch-Site: cross-site'),
    run('Origin: null'),
    health.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')
  )

  t.same(statuses(answers), [200, 403, 200, 403, 403, 200])
  t.notOk(existsSync(`${app.cwd}/marker.txt`))
})
