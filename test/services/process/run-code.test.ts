import { openSync, closeSync } from 'node:fs'
import t from 'tap'
import { runCode, runPacked } from '../../../services/process/run-code.ts'

const PARAMETERS = '(function (require, __filename, __dirname, __url, __runOther)'

t.test('a program of the pack knows its place, requires packages from there, and runs others of the pack', async (t) => {
  const first = `${PARAMETERS} { return { __filename, __dirname, __url, join: require('node:path').join, other: __runOther('b.cjs') } })`
  const second = `${PARAMETERS} { return 'the other' })`
  const dir = t.testdir({ pack: `head${first}${second}` })
  const fd = openSync(`${dir}/pack`, 'r')
  t.teardown(() => closeSync(fd))
  const index = { 'a.cjs': [4, first.length], 'b.cjs': [4 + first.length, second.length] } as const

  t.match(runPacked(runCode, fd, { 'a.cjs': [...index['a.cjs']], 'b.cjs': [...index['b.cjs']] }, '/an app', 'a.cjs'), {
    __filename: '/an app/a.cjs',
    __dirname: '/an app',
    __url: 'file:///an%20app/a.cjs',
    join: Function,
    other: 'the other'
  })
})
