import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { noBackground, noSandbox } from './helper.ts'
import { createRunCommand } from '../../../services/tools/shell/run-command.ts'
import { locateFolder } from '../../../services/tools/work-folder.ts'
import { layFolders } from '../../harness/folders.ts'
import { build } from './helper.ts'

function lay (t: Test) {
  const folders = layFolders(t.testdir())
  return { ...folders, ...build({ workspace: folders.a }) }
}

t.test('a folder is found through links in any part of its path', async (t) => {
  const { host, a, b, link, retarget } = lay(t)
  for (const folder of [a, b]) mkdirSync(`${folder}/sub`)
  const of = () => host.folders.of('writeFile', {}, `${link}/sub`)
  const shown = (await of())!
  t.match(shown, { path: `${a}/sub`, dev: /^\d+$/, ino: /^\d+$/ })
  const now = () => host.folders.whereabouts('writeFile', {}, `${link}/sub`, shown)
  t.same(await now(), { is: 'same' })
  retarget(b)
  t.same(await now(), { is: 'moved', to: await of() })
  rmSync(`${b}/sub`, { recursive: true })
  t.same(await now(), { is: 'gone' })
  t.equal(await of(), undefined)
  for (const path of [`${a}/none`, '\0', '/dev/null']) t.equal(await locateFolder(path), undefined, path)
})

t.test('the folder that the input of a command names counts, as long as it is there', async (t) => {
  const { host, a, b, link } = lay(t)
  t.match(await host.folders.of('runCommand', { command: 'x' }, link), { path: a })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: b }, link), { path: b, isStart: undefined })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: '../link' }, a), { path: a })
  t.match(await host.folders.of('runCommand', { command: 'x', cwd: 'later' }, link), { path: a, isStart: true })
  const shown = (await host.folders.of('runCommand', { command: 'x', cwd: b }, link))!
  rmSync(b, { recursive: true })
  t.same(await host.folders.whereabouts('runCommand', { command: 'x', cwd: b }, link, shown), { is: 'gone' })
})

t.test('a call that was approved for another folder does not run', async (t) => {
  const { host, execute, a, b, link, retarget } = lay(t)
  const input = { path: 'x.txt', content: 'x' }
  const folder = await host.folders.of('writeFile', input, link)
  t.match(await execute('writeFile', input, { cwd: link, folder }), { status: 'completed', output: { path: `${a}/x.txt` } })
  retarget(b)
  t.match(await execute('writeFile', input, { cwd: link, folder }), {
    status: 'error',
    errorText: /was moved or replaced, and the call was not run/
  })
})

t.test('a link that takes the place of the folder after it was checked gains nothing', async (t) => {
  const { paths, a, b } = lay(t)
  const shown = (await locateFolder(a))!
  renameSync(a, `${a}-old`)
  symlinkSync(b, a)
  await t.rejects(paths.resolve('x.txt', shown.path), /moved or replaced while it was used/)
})

t.test('a command starts in the very folder that was approved, also when that is replaced at the last moment', async (t) => {
  const { paths, a, replace } = lay(t)
  const { dev, ino } = (await locateFolder(a))!
  const command = createRunCommand({
    ...{ paths, clock: systemClock, environment: () => process.env },
    sandbox: noSandbox(),
    background: noBackground()
  })
  const run = () =>
    command.execute({ command: 'pwd' }, {
      signal: new AbortController().signal,
      runId: 'r',
      attempt: 1,
      callId: 'c',
      cwd: a,
      givenCwd: a,
      approvedFolder: { dev, ino }
    })
  t.match(await run(), { stdout: `${a}\n` })
  replace(a)
  await t.rejects(run(), /was replaced since the command was approved/)
})
