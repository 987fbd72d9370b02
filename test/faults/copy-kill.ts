import {
  cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync
} from 'node:fs'
import { dirname, join } from 'node:path'
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

/** A look at the files, the one that was deleted too. */
const AS_BEFORE = ['old', undefined, undefined, 'old', 'old']
const AS_IN_COPY = ['new', 'new', 'old', undefined, undefined]

/**
 * Kills the service at a step of an apply: each path is as before or as in the copy. The next start finishes it. The changes of the run
 * name it, it can be taken back (`isTakenBack`), and the same request again is through.
 */
export async function survivesApply (t: Test, prepared: string, killAt: string, { isTakenBack = false } = {}): Promise<void> {
  const { where, runId } = await applyUntil(t, prepared, killAt)
  const text = (name: string) => existsSync(`${where.cwd}/${name}`) ? readFileSync(`${where.cwd}/${name}`, 'utf8') : undefined
  t.ok(['old', 'new'].includes(text('changed')!), 'never half a file')
  t.ok([text('moved'), text('to/moved')].includes('old'), 'what moves is in one place, or in both')
  const all = () => ['changed', 'made/new', 'to/moved', 'deleted', 'moved'].map(text)
  const service = await startService(t, where)
  const applies = async () => {
    const { followUps }: any = await (await fetch(`${service.url}/runs/${runId}/changes`)).json()
    return followUps.filter(({ kind }: any) => kind === 'apply')
  }
  const [cut] = await applies()
  t.same(all(), cut === undefined ? AS_BEFORE : AS_IN_COPY, 'the start has finished what was begun, and named it')
  t.notOk(cut?.isCut)
  if (cut !== undefined && isTakenBack) {
    t.same((await post(service, `/runs/${cut.id}/undo`)).skipped, [], killAt)
    t.same(all(), AS_BEFORE, 'what was applied is taken back alone')
  }
  const { skipped, applyId } = await post(service, `/runs/${runId}/apply`)
  t.same(skipped, [], killAt)
  t.same(all(), AS_IN_COPY)
  t.same(readdirSync(where.cwd).sort(), ['changed', 'made', 'to'], 'and nothing is left over')
  const made = await applies()
  t.equal(made.length, cut !== undefined && isTakenBack ? 2 : 1)
  t.equal(applyId !== undefined, cut === undefined || isTakenBack, 'what is applied already is not applied again')
  t.same((await post(service, `/runs/${made.at(-1).id}/undo`)).skipped, [])
  t.same(all(), AS_BEFORE, 'and all is taken back together')
  t.same((await post(service, `/runs/${runId}/apply`)).skipped, [], 'and can be applied once more')
  t.same(all(), AS_IN_COPY)
  await service.stop()
}

const REFRESHED = { a: 'new', 'of/both': 'run', 'new/b': 'new', 'to/moved': 'old', 'of/run': 'run' }

/** Lets a conversation have a copy, changes both, and lets it work there again until the service dies at `killAt`. */
async function refreshUntil (t: Test, killAt: string) {
  const dir = await prepareDirectory(t, [{ text: 'done' }, { text: 'done' }, { text: 'done' }], { analysis: false })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const lay = (folder: string, files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
  }
  lay(where.cwd, { a: 'old', 'of/both': 'old', 'of/run': 'old', moved: 'old', 'gone/c': 'old' })
  const first = await startService(t, where)
  await say(first, 'chat')
  await first.stop()
  const [id] = readdirSync(`${where.home}-copies`)
  const copy = `${where.home}-copies/${id}/work`
  lay(copy, { 'of/both': 'run', 'of/run': 'run' })
  lay(where.cwd, { a: 'new', 'of/both': 'new', 'new/b': 'new', 'to/moved': 'old' })
  for (const path of ['moved', 'gone']) rmSync(join(where.cwd, path), { recursive: true })
  const before = stateOf(where.cwd)
  const dying = await startService(t, { ...where, preload: [KILLER], env: { KILL_AT: killAt } }).catch(() => undefined)
  const answer = dying && await say(dying, 'chat').catch(() => undefined)
  await dying?.stop()
  return { where, copy, before, answer, log: dying?.log() ?? '' }
}

const textsIn = (folder: string) =>
  Object.fromEntries((readdirSync(folder, { recursive: true }) as string[]).flatMap((path) =>
    lstatSync(join(folder, path)).isFile() ? [[path, readFileSync(join(folder, path), 'utf8')]] : []))

/** The steps of a start, a run whose copy is refreshed, and an end. */
export async function refreshSteps (t: Test): Promise<{ steps: number, renamed: number[] }> {
  const { answer, copy, log } = await refreshUntil(t, 'count')
  t.match(answer, { text: 'done' })
  t.same(textsIn(copy), REFRESHED)
  const steps = [...log.matchAll(/^step (\d+) (.*)/gm)].map(([, n, what]) => ({ n: Number(n), what }))
  return { steps: steps.length, renamed: steps.flatMap(({ n, what }) => /^rename .*-copies/.test(what) ? [n] : []) }
}

/** Kills the service at a step of a refresh: no file is half, the folder is as it was, and the next run has the whole refresh. */
export async function survivesRefresh (t: Test, killAt: string): Promise<void> {
  const { where, copy, before } = await refreshUntil(t, killAt)
  for (const text of Object.values(textsIn(copy))) t.ok(['old', 'new', 'run'].includes(text), 'never half a file')
  const service = await startService(t, where)
  t.same(readdirSync(dirname(copy)).sort(), ['base.json', 'work'], 'nothing is left over beside the copy')
  t.match(await say(service, 'chat'), { text: 'done' })
  t.same(textsIn(copy), REFRESHED, killAt)
  t.same(stateOf(where.cwd), before)
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
