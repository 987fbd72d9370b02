import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../harness/exercise.ts'
import { ask, call, node, read, work, type Step } from '../app.ts'

export const commands: Step[] = [
  ['a command line reaches cmd.exe as it was written, in its folder', async () => {
    const run = async (command: string, more: object = {}) => (await call('runCommand', { command, ...more })).text
    match(await run('echo "a b" ^& %CD%'), /\\"a b\\" & C:\\\\+test\\\\+work/)
    match(await run('echo häß日 & exit /b 3'), /"exitCode":3.*häß日/)
    match(await run('echo one\necho two'), /first line only/)
    match(await run('cd', { cwd: 'SRC' }), /C:\\\\+test\\\\+work\\\\+src/i)
    await call('runCommand', { command: 'echo made by a command> made.txt' })
    match(read('made.txt'), /made by a command/)
  }],

  ['a command that takes too long is ended with what it started', async () => {
    writeFileSync(join(work, 'child.cjs'), 'setInterval(() => require("fs").appendFileSync("beat.txt", "x"), 50)')
    const start = 'require("child_process").spawn(process.execPath, ["child.cjs"])'
    writeFileSync(join(work, 'parent.cjs'), `${start}; setInterval(() => {}, 1000)`)
    match((await call('runCommand', { command: `"${node}" parent.cjs`, timeoutMs: 5_000 })).text, /timedOut|ended after/)
    ok(existsSync(join(work, 'beat.txt')), 'it ran')
    const size = () => read('beat.txt').length
    const then = size()
    await wait(500)
    strictEqual(size(), then, 'the child of the command has ended, too')
  }],

  ['what a command changed is taken back', async () => {
    const { runId } = await call('runCommand', { command: 'echo changed> open.txt & del made.txt & md new & echo x> new\\y.txt' })
    match(read('open.txt'), /changed/)
    const undone = await ask(`/runs/${runId}/undo`, {})
    deepStrictEqual(undone.skipped, [], JSON.stringify(undone))
    strictEqual(read('open.txt'), 'new')
    match(read('made.txt'), /made by a command/)
    ok(!existsSync(join(work, 'new')))
  }],

  ['a command in the background stays until it is stopped', async () => {
    writeFileSync(join(work, 'stays.cjs'), 'setInterval(() => require("fs").appendFileSync("stays.txt", "x"), 50)')
    const { text } = await call('runCommand', { command: `"${node}" stays.cjs`, background: true })
    const commandId = /"commandId":"([^"]+)"/.exec(text)?.[1]
    strictEqual((await ask('/commands')).commands[0].commandId, commandId)
    await until(() => existsSync(join(work, 'stays.txt')))
    await ask(`/commands/${commandId}/stop`, {})
    const { length } = read('stays.txt')
    await wait(500)
    strictEqual(read('stays.txt').length, length)
  }]
]
