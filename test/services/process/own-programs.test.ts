import { execFileSync } from 'node:child_process'
import { readlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { childProgram, workerProgram } from '../../../services/process/own-programs.ts'

const linux = process.platform !== 'linux' && 'reads /proc'

/** Gives the process a property until the test ends. */
function replace (t: Test, name: 'execPath' | 'versions', value: unknown) {
  const original = Object.getOwnPropertyDescriptor(process, name)!
  Object.defineProperty(process, name, { value, configurable: true })
  t.teardown(() => Object.defineProperty(process, name, original))
}

t.test('children run the program that this process executes, whatever execPath says', { skip: linux }, async (t) => {
  const running = readlinkSync('/proc/self/exe')
  replace(t, 'execPath', '/a/launcher/that/must/not/run')
  const { command, args, env } = childProgram('salvage', ['--help'])
  t.equal(command, running)
  t.same(env, {}, 'and get nothing of Electron')
  t.match(args, [/workers\/salvage\.ts$/, '--help'])
  t.equal(execFileSync(command, ['-p', '1 + 1'], { encoding: 'utf8' }), '2\n')
})

t.test('children of an Electron app run its executable as Node', async (t) => {
  replace(t, 'versions', { ...process.versions, electron: '45.4.1' })
  t.same(childProgram('desktop').env, { ELECTRON_RUN_AS_NODE: '1' })
})

t.test('elsewhere than on Linux, children run execPath', async (t) => {
  const original = Object.getOwnPropertyDescriptor(process, 'platform')!
  Object.defineProperty(process, 'platform', { value: 'darwin', configurable: true })
  t.teardown(() => Object.defineProperty(process, 'platform', original))
  t.equal(childProgram('desktop').command, process.execPath)
})

t.test('without a build, workers run their source', async (t) => {
  const { program, eval: isText } = workerProgram('task')
  t.match(String(program), /workers\/task\.ts$/)
  t.equal(isText, false)
})
