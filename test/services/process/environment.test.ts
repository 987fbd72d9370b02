import t from 'tap'
import { childEnvironment } from '../../../services/process/child-environment.ts'

t.test('a child gets the environment without what is ours', async (t) => {
  const given = childEnvironment({
    PATH: '/bin',
    LOCAL_AGENT_TOKEN: 'a',
    local_agent_passphrase: 'b',
    AI_GATEWAY_API_KEY: 'c',
    AI_GATEWAY_BASE_URL: 'd',
    GONE: undefined
  })
  t.strictSame(given, { PATH: '/bin' })
})

t.test('a secret is dropped whatever the variable is called, and inside another value', async (t) => {
  const environment = { COPY: 'key-of-the-gateway', HEADER: 'Bearer key-of-the-gateway', PIN: '12', YEAR: '2012', EMPTY: '' }
  t.strictSame(childEnvironment(environment, ['key-of-the-gateway', '12', '']), { YEAR: '2012', EMPTY: '' })
  t.equal(environment.COPY, 'key-of-the-gateway', 'the environment itself is left alone')
})
