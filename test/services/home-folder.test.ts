import { homedir } from 'node:os'
import { resolve } from 'node:path'
import t from 'tap'
import { homeFolder } from '../../services/lib/home-folder.ts'

t.test('the configuration directory is the chosen one, else one in the home of the user; without either a sentence says so', async (t) => {
  t.equal(homeFolder('some/folder'), resolve('some/folder'))
  t.equal(homeFolder(undefined), resolve(homedir(), '.local-agent'))
  const { HOME } = process.env
  t.teardown(() => {
    process.env.HOME = HOME
  })
  process.env.HOME = ''
  t.throws(() => homeFolder(undefined), { exitCode: 78, message: /set LOCAL_AGENT_HOME/ })
})
