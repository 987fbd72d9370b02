import t from 'tap'
import { readOptions } from '../../settings.ts'

const nothing = async () => ({})
const ENV = { LOCAL_AGENT_TOKEN: 'env-token', LOCAL_AGENT_PASSPHRASE: 'env-passphrase', AI_GATEWAY_API_KEY: 'env-key' }

t.test('what standard input hands over wins over the environment, field by field', async (t) => {
  const given = { token: 'given-token', gatewayKey: 'given-key', keys: { openai: 'k' } }
  t.match(await readOptions(['--stdin'], ENV, async () => given), { ...given, passphrase: 'env-passphrase' })
  t.match(await readOptions(['--stdin'], ENV, async () => ({ passphrase: 'given-passphrase' })), {
    token: 'env-token',
    passphrase: 'given-passphrase',
    gatewayKey: 'env-key',
    keys: undefined
  })
})

t.test('standard input is read only when --stdin says so, and not for help or senseless arguments', async (t) => {
  const never = async () => {
    throw new Error('it was read')
  }
  t.match(await readOptions([], ENV, never), { token: 'env-token' })
  t.type(await readOptions(['--stdin', '--help'], {}, never), 'string')
  for (const args of [['--stdin', '--port', 'x'], ['--stdin', '--parent-pid', 'x'], ['--stdin', '--nonsense'], ['--stdin=x']]) {
    await t.rejects(readOptions(args, {}, never), { message: /^(?!it was read)/ })
  }
})

t.test('a token from standard input lets the service listen elsewhere, and is checked like that of the environment', async (t) => {
  t.match(await readOptions(['--stdin', '--host', '0.0.0.0'], {}, async () => ({ token: 'x' })), { host: '0.0.0.0', token: 'x' })
  await t.rejects(readOptions(['--stdin', '--host', '0.0.0.0'], {}, nothing), {
    message: /--host 0\.0\.0\.0 would allow access from other machines/
  })
  for (const token of ['hidden\n', ' hidden', '\u0000hidden']) {
    const error = await readOptions(['--stdin'], {}, async () => ({ token })).catch((error) => error)
    t.match(error, { exitCode: 64, message: /^The token on standard input begins or ends with a space/ })
    t.notMatch(error.message, /hidden/)
  }
})

t.test('--parent-pid is the id of a process', async (t) => {
  t.match(await readOptions(['--parent-pid', '4711'], {}, nothing), { parentPid: 4711 })
  t.match(await readOptions([], {}, nothing), { parentPid: undefined })
  for (const text of ['', '0', '-1', '1.5', '0x10', '1e3', ' 1', 'shell', '99999999999']) {
    await t.rejects(readOptions([`--parent-pid=${text}`], {}, nothing), { message: /--parent-pid must be the id of a process/ }, text)
  }
})
