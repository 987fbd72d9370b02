import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { filesIn, found } from '../harness/canaries.ts'
import { startService } from '../harness/sidecar.ts'
import { post, until } from './backup.ts'

const KILLER = new URL('./kill-at-step.ts', import.meta.url).href
const CANARIES = {
  fact: 'The canary Zazu lives here',
  message: 'canary-in-a-thread-7731',
  attached: 'canary-in-an-attachment-81',
  file: 'canary-in-a-copy-9932',
  stray: 'canary-in-an-old-copy-55'
}
const erase = (url: string) =>
  fetch(`${url}/data`, {
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ confirm: 'erase everything' })
  })

/** Plants canaries in all that the service keeps: its store, copies for undo, copies of older data, logs. */
async function plant (start: (home: string) => ReturnType<typeof startService>, home: string, work: string) {
  const service = await start('old')
  await post(service.url, '/memory/brain/fact', { fact: CANARIES.fact })
  await post(service.url, '/threads', { id: 'old', messages: [{ role: 'user', content: CANARIES.message }] })
  await fetch(`${service.url}/attachments`, { method: 'POST', body: CANARIES.attached })
  writeFileSync(`${work}/a.txt`, CANARIES.file)
  await post(service.url, '/run/sync', { messages: [{ role: 'user', content: 'write "new" to a.txt' }] })
  const { approvals: [{ approvalId, runId }] } = await (await fetch(`${service.url}/approvals`)).json() as any
  await post(service.url, `/approvals/${approvalId}`, { approved: true })
  await fetch(`${service.url}/runs/${runId}?waitMs=20000`)
  await service.stop()
  cpSync(`${home}/data`, `${home}/data.damaged-1`, { recursive: true })
  writeFileSync(`${home}/data.damaged-1/plain.log`, CANARIES.stray)
}

/** Kills a service at one step after the other of an erasure; the next start has all data, when it was not yet promised, or none. */
export async function killErasures (t: Test, isTried: (moment: number) => boolean) {
  const dir = t.testdir({ old: { 'config.json': JSON.stringify({ log: { file: true, level: 'debug' } }) }, work: {} })
  const start = (home: string, at?: string) =>
    startService(t, { home: `${dir}/${home}`, cwd: `${dir}/work`, ...(at !== undefined && { preload: [KILLER], env: { KILL_AT: at } }) })
  await plant(start, `${dir}/old`, `${dir}/work`)
  t.ok(readdirSync(`${dir}/old/undo`).length > 0)
  t.equal(readdirSync(`${dir}/old/attachments`).length, 1)

  cpSync(`${dir}/old`, `${dir}/counted`, { recursive: true })
  const counted = await start('counted', 'count')
  const steps = () => counted.log().split('\n').filter((line) => line.startsWith('step ')).length
  const first = steps()
  const refused = await fetch(`${counted.url}/data`, {
    method: 'DELETE',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ confirm: 'yes' })
  })
  t.equal(refused.status, 400, 'nothing is erased by a slip')
  const answer = await erase(counted.url)
  t.match(await answer.json(), { status: 'erased', stays: ['config.json'] })
  await until(counted.url, (facts) => facts.length === 0)
  const last = steps()
  await counted.stop()
  t.same(found(CANARIES, filesIn(`${dir}/counted`)), [])
  t.notOk(existsSync(`${dir}/counted/attachments`))
  t.ok(last - first > 5, `${last - first} steps`)

  const ends = { whole: 0, erased: 0 }
  for (let moment = 2 * first; moment < 2 * last; moment++) {
    if (!isTried(moment - 2 * first)) continue
    const home = `at-${moment}`
    cpSync(`${dir}/old`, `${dir}/${home}`, { recursive: true })
    const service = await start(home, `${Math.floor(moment / 2)} ${moment % 2 ? 'after' : 'before'}`)
    await erase(service.url).catch(() => {})
    const ended = await service.exited
    if (ended.signal !== 'SIGKILL') t.fail(`moment ${moment} was not reached`)
    const isPromised = existsSync(`${dir}/${home}/erase.json`) || !existsSync(`${dir}/${home}/data.damaged-1`)
    const next = await start(home)
    const { brain: { facts } } = await (await fetch(`${next.url}/memory/brain`)).json() as any
    await next.stop()
    ends[isPromised ? 'erased' : 'whole']++
    t.same(facts, isPromised ? [] : [CANARIES.fact], `moment ${moment}`)
    if (isPromised) t.same(found(CANARIES, filesIn(`${dir}/${home}`)), [], `nothing is left at moment ${moment}`)
    t.match(JSON.parse(readFileSync(`${dir}/${home}/config.json`, 'utf8')), { log: { file: true } }, 'config.json stays')
    t.notOk(existsSync(`${dir}/${home}/erase.json`))
  }
  return ends
}
