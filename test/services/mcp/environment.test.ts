import t from 'tap'
import {
  resolveValues,
  secretsIn,
  toReferences,
  valuesOfServer,
  valuesWithoutServer
} from '../../../services/mcp/environment-values.ts'

const entry = (env: Record<string, string>) => ({ name: 's', command: 'c', env })

t.test('what is stored comes back under its name, and each server has its own', async (t) => {
  const { references, values } = toReferences('a.b', { TOKEN: 'x', constructor: 'y' })
  t.same(references, { TOKEN: 'secret:mcp/a.b/TOKEN', constructor: 'secret:mcp/a.b/constructor' })
  t.same(resolveValues(entry(references), values, {}), { TOKEN: 'x', constructor: 'y' })
  const stored = { ...values, ...toReferences('a', { TOKEN: 'z' }).values }
  t.same(valuesOfServer(stored, 'a'), { 'mcp/a/TOKEN': 'z' })
  t.same(valuesWithoutServer(stored, 'a'), values)
})

t.test('what is missing is named', async (t) => {
  t.throws(() => resolveValues(entry({ X: 'secret:mcp/s/toString' }), {}, {}), /nothing is stored for its variable X/)
  // eslint-disable-next-line no-template-curly-in-string
  t.throws(() => resolveValues(entry({ X: 'a${NONE}' }), {}, {}), /X is to come from the environment variable NONE/)
  t.same(resolveValues(entry({ X: 'secret: not a reference', Y: '$HOME' }), {}, {}), { X: 'secret: not a reference', Y: '$HOME' })
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
