import { spawnSync } from 'node:child_process'
import { existsSync, openSync, readFileSync } from 'node:fs'
import t from 'tap'
import { ROOT } from '../harness/source-tree.ts'

const folder = `${ROOT}test/recordings`

t.test('recordings are replayed by the built command, without a home, a key or a network', async (t) => {
  const lines = readFileSync(`${folder}/denied.jsonl`, 'utf8')
  const dir = t.testdir({ 'other.jsonl': lines.replaceAll('"approved":false', '"approved":true'), 'none.jsonl': 'hello', home: {} })
  const test = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [`${ROOT}dist/server.js`, 'test', ...args], {
      env: { PATH: process.env.PATH, HOME: `${dir}/home` },
      encoding: 'utf8',
      timeout: 60_000
    })
    return { status, stdout, stderr }
  }
  t.match(test(`${folder}/denied.jsonl`, `${folder}/task-with-approvals.jsonl`), {
    status: 0,
    stdout: /^✓ .*denied\.jsonl {2}2 steps, 1 call, 1 approval .*\n✓ .*task-with-.*\n2 recordings replayed, no difference\.\n$/
  })
  const different = test(`${dir}/other.jsonl`, '--json')
  t.equal(different.status, 1)
  t.match(JSON.parse(different.stdout), { ok: false, differences: [{ step: 1, what: /writeFile runs, and did not/ }] })
  t.match(test(`${dir}/none.jsonl`), { status: 64, stderr: /none\.jsonl is no recording: line 1/ })
  for (const option of ['--model', '--judge', '--approve', '--usd', '--tokens']) {
    t.match(test(`${folder}/denied.jsonl`, option), { status: 64, stderr: /Unknown option/ })
  }
  t.match(test(), { status: 64, stderr: /Name at least one recording/ })
  t.notOk(existsSync(`${dir}/home/.local-agent`))
})

const noFullDevice = process.platform !== 'linux' && 'there is no /dev/full'

t.test('help of a command is printed, and what cannot be written is no success', { skip: noFullDevice }, (t) => {
  const env = { PATH: process.env.PATH, HOME: t.testdir() }
  const local = (args: string[], stdout: 'pipe' | number) =>
    spawnSync(process.execPath, [`${ROOT}dist/server.js`, ...args], { env, encoding: 'utf8', stdio: ['ignore', stdout, 'pipe'] })
  for (const command of ['acp', 'rotate-key']) t.match(local([command, '--help'], 'pipe'), { status: 0, stdout: /local-agent rotate-key/ })
  const full = openSync('/dev/full', 'w')
  t.match(local(['test', `${folder}/denied.jsonl`], full), { status: 74, stderr: /cannot be written/ })
  t.end()
})
