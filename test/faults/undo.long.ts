import { createReadStream, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createHash, randomBytes } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import t from 'tap'
import { openUndo } from '../services/undo/helper.ts'
import {
  prepareCommand,
  prepareCommit,
  prepareWrites,
  stepsOf,
  survivesCommand,
  survivesCommitUndo,
  survivesUndo,
  survivesWrite
} from './undo-kill.ts'

const MIB = 1024 * 1024

t.test('killed at any step of a run that writes and deletes', async (t) => {
  const prepared = await prepareWrites(t)
  const steps = await stepsOf(t, prepared)
  for (let n = 0; n < steps; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} step ${n}`, (t) => survivesWrite(t, prepared, `${n} ${when}`))
  }
})

t.test('killed at any step of a run with a command', async (t) => {
  const prepared = await prepareCommand(t)
  const steps = await stepsOf(t, prepared)
  for (let n = 0; n < steps; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} step ${n}`, (t) => survivesCommand(t, prepared, `${n} ${when}`))
  }
})

t.test('killed at any step of an undo', async (t) => {
  const prepared = await prepareWrites(t)
  for (let n = 0; n < 7; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} step ${n}`, (t) => survivesUndo(t, prepared, `${n} ${when}`))
  }
})

t.test('killed at any step of an undo in a repository', async (t) => {
  const prepared = await prepareCommit(t)
  for (let n = 0; n < 24; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} step ${n}`, (t) => survivesCommitUndo(t, prepared, `${n} ${when}`))
  }
})

t.test('600 MB of changed files: 500 MiB are kept, in little memory, and the newest come back whole', async (t) => {
  const { at, change, files, home, undo } = await openUndo(t, { settings: { maxTotalMb: 500 } })
  const digest = async (path: string) => {
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    return hash.digest('hex')
  }
  const block = randomBytes(MIB)
  const runs: Array<{ runId: string, before: string }> = []
  global.gc?.()
  const before = process.memoryUsage().rss
  let most = 0
  for (let n = 0; n < 32; n++) {
    const path = at(`file-${n}`)
    for (let part = 0; part < 19; part++) writeFileSync(path, block.fill(n, 0, 10), { flag: part === 0 ? 'w' : 'a' })
    const was = await digest(path)
    runs.push({ runId: await change([`file-${n}`], () => rmSync(path)), before: was })
    most = Math.max(most, process.memoryUsage().rss - before)
  }
  const kept = files().reduce((sum, name) => sum + statSync(`${home}/undo/${name}`).size, 0)
  t.ok(kept <= 500 * MIB && kept > 400 * MIB, `${Math.round(kept / MIB)} MiB`)
  t.ok(most < 150 * MIB, `${Math.round(most / MIB)} MiB of memory`)
  t.match(await undo.takeBack(runs[0].runId, {}), { skipped: [{ reason: 'gone' }] })
  for (const n of [31, 30, 20]) {
    t.match(await undo.takeBack(runs[n].runId, {}), { restored: [at(`file-${n}`)] })
    t.equal(await digest(at(`file-${n}`)), runs[n].before)
  }
})

t.test('a tree of 15,000 files that was deleted comes back', async (t) => {
  const { at, change, undo } = await openUndo(t)
  for (let folder = 0; folder < 150; folder++) {
    mkdirSync(at(`tree/${folder}`), { recursive: true })
    for (let n = 0; n < 100; n++) writeFileSync(at(`tree/${folder}/${n}`), `${folder} ${n}`)
  }
  const started = performance.now()
  const runId = await change([{ path: 'tree', withContents: true }], () => rmSync(at('tree'), { recursive: true }))
  t.comment(`kept in ${Math.round(performance.now() - started)} ms`)
  const again = performance.now()
  t.match(await undo.takeBack(runId, {}), { skipped: [] })
  t.comment(`undone in ${Math.round(performance.now() - again)} ms`)
  t.equal(readdirSync(at('tree')).length, 150)
  t.equal(readdirSync(at('tree'), { recursive: true }).length, 15_150)
})
