import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { deviceOf, newKey, send } from '../harness/reach.ts'
import { serviceEnv, startService } from '../harness/sidecar.ts'

const SERVER = fileURLToPath(new URL('../../dist/server.js', import.meta.url))
const TOKEN = 'the-token-of-this-test'

t.test('local-agent reach opens the port, shows a code, lists and revokes devices, and closes the port', async (t) => {
  t.teardown(() => {})
  const home = t.testdir({ 'config.json': '{"mine": 1}' })
  /** Runs the command; `env` is added to that of the service. */
  async function reach (args: string[] = [], env: NodeJS.ProcessEnv = { LOCAL_AGENT_TOKEN: TOKEN }) {
    const child = spawn(process.execPath, [SERVER, 'reach', ...args], {
      env: { ...serviceEnv(home), ...env },
      stdio: ['ignore', 'pipe', 'pipe']
    })
    const closed = once(child, 'close')
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
    return { out, err, code }
  }
  t.match(await reach(), { code: 69, err: /No service runs here/ })
  const service = await startService(t, { home, cwd: home, env: { LOCAL_AGENT_TOKEN: TOKEN } })
  t.match(await reach([], {}), { code: 69, err: /set LOCAL_AGENT_TOKEN/ })
  t.equal(readFileSync(`${home}/config.json`, 'utf8'), '{"mine": 1}', 'what is refused changes nothing')

  const opened = await reach(['--port', '0'])
  t.match(opened, { code: 0, err: '' })
  const [link, url, secret] = /^(http:\/\/127\.0\.0\.1:\d+)\/#pair=([\w-]{22})$/m.exec(opened.out)!
  t.match(opened.out, /only this computer reaches/i)
  const rows = opened.out.split('\n').filter((line) => /^[█▀▄ ]{20,}$/.test(line))
  t.ok(rows.length >= 15 && rows.every(({ length }) => length === rows[0].length), `a code stands above ${link}`)
  t.same(JSON.parse(readFileSync(`${home}/config.json`, 'utf8')), { mine: 1, reach: { port: 0 } })
  if (process.platform !== 'win32') t.equal(statSync(`${home}/reach-pairing.json`).mode & 0o777, 0o600)
  const key = newKey()
  const { body: { deviceId } } = await send(url, 'POST', '/pair', { body: { secret, key, name: 'my phone' } })
  const phone = deviceOf(() => url, key, deviceId)
  t.same(await phone.list(), [])
  t.match(await reach(['list']), { code: 0, out: new RegExp(`${deviceId}  my phone  paired 20`) })
  t.match(await reach(['revoke', 'another']), { code: 64, err: /No device is called "another"/ })
  t.match(await reach(['revoke', 'my phone']), { code: 0, out: /my phone is no longer paired/ })
  t.equal((await phone.get('/requests')).status, 401)

  const second = await reach(['--address', 'https://agent.example.org/'])
  t.match(second.out, /^https:\/\/agent\.example\.org\/#pair=[\w-]{22}$/m)
  t.notMatch(second.out, /only this computer reaches/i)
  t.match(await reach(['--address', 'http://agent.example.org']), { code: 69, err: /reach\.address/ })
  t.match(await reach(['revoke']), { code: 64, err: /reach revoke <device>/ })
  t.match(await reach(['off']), { code: 0, out: /closed/ })
  t.same(JSON.parse(readFileSync(`${home}/config.json`, 'utf8')), { mine: 1 })
  await t.rejects(phone.get('/requests'), 'nothing listens any more')
  t.match(await reach(['list']), { code: 0, out: /is closed[^]*No device is paired/ })
  t.match(await reach(['--host', '0.0.0.0']), { code: 69, err: /needs HTTPS in front/ })
  t.same(JSON.parse(readFileSync(`${home}/config.json`, 'utf8')), { mine: 1 })
  await service.stop()
})
