import { cpSync, readdirSync } from 'node:fs'
import type { Test } from 'tap'
import { startService } from '../harness/sidecar.ts'
import { exported, imported, post, until } from './backup.ts'

const KILLER = new URL('./kill-at-step.ts', import.meta.url).href

/** Kills a service at one step after the other of an import; what is there at the next start is the old data or the new, whole. */
export async function killImports (t: Test, isTried: (moment: number) => boolean) {
  const dir = t.testdir({ new: {}, old: {}, work: {} })
  const start = (home: string, at?: string) =>
    startService(t, { home: `${dir}/${home}`, cwd: `${dir}/work`, ...(at !== undefined && { preload: [KILLER], env: { KILL_AT: at } }) })

  const made = await start('new')
  for (const fact of ['New one', 'New two']) await post(made.url, '/memory/brain/fact', { fact })
  await post(made.url, '/providers/configure', { model: 'offline/scripted' })
  await post(made.url, '/threads', { id: 'new', messages: [{ role: 'user', content: 'hi' }] })
  const backup = await exported(made.url)
  await made.stop()
  const old = await start('old')
  for (const fact of ['Old one', 'Old two']) await post(old.url, '/memory/brain/fact', { fact })
  await post(old.url, '/threads', { id: 'old', messages: [{ role: 'user', content: 'hi' }] })
  await old.stop()

  cpSync(`${dir}/old`, `${dir}/counted`, { recursive: true })
  const counted = await start('counted', 'count')
  const steps = () => counted.log().split('\n').filter((line) => line.startsWith('step ')).length
  const first = steps()
  await imported(counted.url, backup)
  await until(counted.url, (facts) => facts[0] === 'New one')
  const last = steps()
  await counted.stop()
  t.ok(last - first > 10, `${last - first} steps`)

  const found = { old: 0, new: 0 }
  for (let moment = 2 * first; moment < 2 * last; moment++) {
    if (!isTried(moment - 2 * first)) continue
    const home = `at-${moment}`
    cpSync(`${dir}/old`, `${dir}/${home}`, { recursive: true })
    const service = await start(home, `${Math.floor(moment / 2)} ${moment % 2 ? 'after' : 'before'}`)
    await imported(service.url, backup)
    const ended = await service.exited
    if (ended.signal !== 'SIGKILL') t.fail(`moment ${moment} was not reached`)
    const next = await start(home)
    const { brain: { facts } } = await (await fetch(`${next.url}/memory/brain`)).json() as any
    const { threads } = await (await fetch(`${next.url}/threads`)).json() as any
    const { active_model: model } = await (await fetch(`${next.url}/providers`)).json() as any
    const { checks } = await (await fetch(`${next.url}/health`)).json() as any
    await next.stop()
    const isNew = facts[0] === 'New one'
    found[isNew ? 'new' : 'old']++
    t.same(
      [facts, threads.map(({ id }: any) => id), model, checks.store],
      isNew
        ? [['New one', 'New two'], ['new'], 'offline/scripted', 'ok']
        : [['Old one', 'Old two'], ['old'], 'offline/assistant', 'ok'],
      `${isNew ? 'new' : 'old'} at moment ${moment}`
    )
    const left = readdirSync(`${dir}/${home}`).filter((name) => /next|replace|import|data\./.test(name))
    if (left.length > 0) t.fail(`${left} at moment ${moment}`)
  }
  return found
}
