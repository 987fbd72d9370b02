import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { startService } from '../harness/sidecar.ts'
import { fill, isWhole, killEverywhere, rotate } from './rotate.ts'

t.test('the key is changed from a file to a passphrase and back; names still find what they found', async (t) => {
  const home = t.testdir({ 'data.damaged-2026': {}, 'data.v0-2026': {} })
  await fill(home)
  cpSync(`${home}/master.key`, `${home}/kept.key`)

  t.match(await rotate(home, { LOCAL_AGENT_NEW_PASSPHRASE: 'one' }), { code: 0, err: /251 records[^]*LOCAL_AGENT_PASSPHRASE/ })
  t.same([existsSync(`${home}/master.key`), readdirSync(home).filter((name) => name.startsWith('data'))], [false, ['data']])
  t.ok(await isWhole(home, 'one'))

  t.match(await rotate(home, { LOCAL_AGENT_PASSPHRASE: 'wrong', LOCAL_AGENT_NEW_PASSPHRASE: 'two' }), {
    code: 78,
    err: /not the passphrase/
  })
  t.ok(await isWhole(home, 'one'), 'nothing was changed')
  t.match(await rotate(home, { LOCAL_AGENT_PASSPHRASE: 'one' }), { code: 0, err: /master\.key/ })
  t.ok(await isWhole(home))
  t.notSame(readFileSync(`${home}/master.key`), readFileSync(`${home}/kept.key`))
})

t.test('a service that runs is not disturbed, arguments are refused, and where nothing is nothing is made', async (t) => {
  const dir = t.testdir({ home: {}, work: {}, empty: {} })
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  t.match(await rotate(`${dir}/home`), { code: 73, err: new RegExp(`process ${service.pid}`) })
  t.equal((await fetch(`${service.url}/memory/brain`)).status, 200)
  await service.stop()
  t.match(await rotate(`${dir}/empty`), { code: 0, err: /no data/ })
  t.notOk(existsSync(`${dir}/empty/data`) || existsSync(`${dir}/empty/master.key`))
  writeFileSync(`${dir}/home/master.key`, 'short')
  t.match(await rotate(`${dir}/home`), { code: 78, err: /not a key file/ })
})

t.test('an import that was decided and cut off is ended, and then the key is changed all the same', async (t) => {
  const home = t.testdir()
  await fill(home)
  const before = readFileSync(`${home}/master.key`)
  writeFileSync(`${home}/replace.json`, JSON.stringify({ key: 'keep', copies: false }))
  t.match(await rotate(home), { code: 0, err: /^251 records/ })
  t.notOk(readFileSync(`${home}/master.key`).equals(before))
  t.ok(await isWhole(home))
})

t.test('killed at a step it leaves the old data or the new, and run again it is through', async (t) => {
  // Those around the decision and the moves; all of them: test/faults/rotate.long.ts.
  const { before } = await killEverywhere(t, {}, (moment) => moment % 12 === 9)
  t.ok(before > 0)
})

t.test('a change that was decided and cut off is ended by the next start of the service', async (t) => {
  const dir = t.testdir({ work: {} })
  await fill(`${dir}/home`)
  cpSync(`${dir}/home`, `${dir}/counted`, { recursive: true })
  const { err } = await rotate(`${dir}/counted`, {}, 'count')
  const [, step] = /step (\d+) rename to .*replace\.json/.exec(err)!
  for (const when of ['before', 'after']) {
    const home = `${dir}/${when}`
    cpSync(`${dir}/home`, home, { recursive: true })
    t.match(await rotate(home, {}, `${step} ${when}`), { signal: 'SIGKILL' })
    const service = await startService(t, { home, cwd: `${dir}/work` })
    t.equal((await fetch(`${service.url}/memory/brain`)).status, 200)
    await service.stop()
    t.ok(await isWhole(home))
    t.same(readdirSync(home).filter((name) => /next|replace|data\./.test(name)), [])
    t.equal(
      readFileSync(`${home}/master.key`).equals(readFileSync(`${dir}/home/master.key`)),
      when === 'before',
      `the key ${when} the decision`
    )
  }
})
