import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Test } from 'tap'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { stateOf } from '../harness/folders.ts'
import { prepareDirectory } from './dying-service.ts'

const KILLER = new URL('./kill-at-step.ts', import.meta.url).href

const post = async (service: Sidecar, path: string, payload: object = {}): Promise<any> =>
  (await fetch(service.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(payload)
  })).json()

const say = (service: Sidecar, id: string) =>
  post(service, '/run/sync', { id, message: { role: 'user', content: 'go' }, options: { workspace: 'copy' } })

/** A service that, told anything, changes, makes, moves and deletes files. */
export async function prepareApply (t: Test): Promise<string> {
  const call = (toolName: string, input: object) => ({ toolName, input })
  const calls = [
    call('writeFile', { path: 'changed', content: 'new' }),
    call('writeFile', { path: 'made/new', content: 'new' }),
    call('deleteFile', { path: 'deleted' }),
    call('moveFile', { from: 'moved', to: 'to/moved' })
  ]
  const prepared = await prepareDirectory(t, [{ toolCalls: calls }, { text: 'done' }], { analysis: false })
  for (const name of ['changed', 'deleted', 'moved']) writeFileSync(`${prepared}/work/${name}`, 'old')
  return prepared
}

/** Lets a run work on a copy, and applies it until the service dies at `killAt`. */
async function applyUntil (t: Test, prepared: string, killAt: string) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const first = await startService(t, where)
  const { runId } = await say(first, 'chat')
  await first.stop()
  const dying = await startService(t, { ...where, preload: [KILLER], env: { KILL_AT: killAt } }).catch(() => undefined)
  const answer = dying && await post(dying, `/runs/${runId}/apply`).catch(() => undefined)
  await dying?.stop()
  return { where, runId, answer, log: dying?.log() ?? '' }
}

/** The steps of a start, an apply and an end that change the disk. */
export async function applySteps (t: Test, prepared: string): Promise<number> {
  const { answer, log } = await applyUntil(t, prepared, 'count')
  t.match(answer, { applied: { length: 7 }, skipped: [] })
  return log.match(/^step \d+/gm)!.length
}

/** Kills the service at a step of an apply: each path is as before or as in the copy, and the same request again is through. */
export async function survivesApply (t: Test, prepared: string, killAt: string): Promise<void> {
  const { where, runId, answer } = await applyUntil(t, prepared, killAt)
  const text = (name: string) => existsSync(`${where.cwd}/${name}`) ? readFileSync(`${where.cwd}/${name}`, 'utf8') : undefined
  t.ok(['old', 'new'].includes(text('changed')!), 'never half a file')
  t.ok([text('moved'), text('to/moved')].includes('old'), 'what moves is in one place, or in both')
  const service = await startService(t, where)
  t.same((await post(service, `/runs/${runId}/apply`)).skipped, [], killAt)
  t.same(['changed', 'made/new', 'to/moved', 'deleted', 'moved'].map(text), ['new', 'new', 'old', undefined, undefined])
  t.same(readdirSync(where.cwd).sort(), ['changed', 'made', 'to'], 'and nothing is left over')
  if (answer?.applyId !== undefined) {
    t.same((await post(service, `/runs/${answer.applyId}/undo`)).skipped, [])
    t.same(['changed', 'made/new', 'to/moved', 'deleted', 'moved'].map(text), ['old', undefined, undefined, 'old', 'old'])
  }
  await service.stop()
}

/** Kills the service while it copies a folder: the folder is as it was, no part of a copy is left, and the next run has a whole one. */
export async function survivesCopy (t: Test, files: number) {
  const write = { toolName: 'writeFile', input: { path: 'new', content: 'new' } }
  const dir = await prepareDirectory(t, [{ toolCalls: [write] }, { text: 'done' }], { analysis: false })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  for (let n = 0; n < files; n++) {
    if (n % 100 === 0) mkdirSync(`${where.cwd}/${n / 100}`)
    writeFileSync(`${where.cwd}/${Math.floor(n / 100)}/${n}`, `${n}`.repeat(500))
  }
  const before = stateOf(where.cwd)
  const copies = `${where.home}-copies`
  const inCopies = () => existsSync(copies) ? readdirSync(copies) : []
  const dying = await startService(t, where)
  const asked = say(dying, 'chat').catch(() => undefined)
  while (!inCopies().some((name) => name.endsWith('.partial'))) await wait(1)
  await dying.stop('SIGKILL')
  await asked
  t.ok(inCopies().length > 0, 'it was killed while it copied')
  const service = await startService(t, where)
  t.same(inCopies(), [], 'what it had copied is gone')
  t.same(stateOf(where.cwd), before)
  const { runId } = await say(service, 'chat')
  t.match(await post(service, `/runs/${runId}/apply`, { dryRun: true }), { applied: [`${where.cwd}/new`], skipped: [] })
  await service.stop()
}
