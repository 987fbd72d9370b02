import { execSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Test } from 'tap'
import { systemClock } from '../../services/lib/clock.ts'
import { UNDO_OPEN } from '../../services/store/keys.ts'
import { openStore } from '../../services/store/open.ts'
import { LATE } from '../../services/undo/settle-entry.ts'
import { stateOf } from '../harness/folders.ts'
import { startService, type Sidecar } from '../harness/sidecar.ts'
import { postEvents } from '../harness/sse.ts'
import { UNASKED } from '../harness/undo.ts'
import { prepareDirectory } from './dying-service.ts'

const KILLER = new URL('./kill-at-step.ts', import.meta.url).href
const USER = { messages: [{ role: 'user', content: 'go' }], id: 'chat' }

/** A service that, told anything, writes one file and deletes another, and a folder with both. */
export async function prepareWrites (t: Test): Promise<string> {
  const call = (toolName: string, input: object) => ({ toolCalls: [{ toolName, input }] })
  const script = [call('writeFile', { path: 'written', content: 'new' }), call('deleteFile', { path: 'deleted' }), { text: 'done' }]
  const dir = await prepareDirectory(t, script, { permissions: { writeFile: 'allow', deleteFile: 'ask' }, analysis: false })
  for (const name of ['written', 'deleted']) writeFileSync(`${dir}/work/${name}`, 'old')
  return dir
}

/** Runs both calls, the second after its approval, until the service dies at `killAt`. Returns the id of the run, and what was logged. */
async function runUntil (t: Test, dir: string, killAt: string) {
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work`, preload: [KILLER], env: { KILL_AT: killAt } })
    .catch(() => undefined)
  if (service === undefined) return { log: '' }
  const { events } = await postEvents(`${service.url}/run`, USER).catch(() => ({ events: [] }))
  const approvalId = events.find(({ type }) => type === 'tool-approval-request')?.approvalId
  if (approvalId !== undefined) {
    const messages = [{ role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }]
    await postEvents(`${service.url}/run/approve`, { messages, id: 'chat' }).catch(() => {})
  }
  // A service that was not killed in the run may be killed as it ends.
  await service.stop()
  return { log: service.log(), runId: events[0]?.messageMetadata.runId as string | undefined }
}

/** A service that, told anything, runs one command, and the folder that it changes. */
export async function prepareCommand (t: Test): Promise<string> {
  const command = 'printf new > written; rm -r gone; mkdir made; mv moved made/here; chmod 600 closed'
  const script = [{ toolCalls: [{ toolName: 'runCommand', input: { command } }] }, { text: 'done' }]
  const dir = await prepareDirectory(t, script, { permissions: { runCommand: 'allow' }, analysis: false })
  mkdirSync(`${dir}/work/gone/deep`, { recursive: true })
  for (const name of ['written', 'gone/deep/file', 'moved', 'closed']) writeFileSync(`${dir}/work/${name}`, 'old')
  return dir
}

/** A service that, told anything, commits in a repository, which is its folder. */
export async function prepareCommit (t: Test): Promise<string> {
  const git = 'git -c user.name=n -c user.email=e@x -c gc.auto=0'
  const command = `echo new > written; ${git} add .; ${git} commit -qm second; ${git} tag made; ${git} gc -q`
  const script = [{ toolCalls: [{ toolName: 'runCommand', input: { command } }] }, { text: 'done' }]
  const settings = { permissions: { runCommand: 'allow' }, commands: { sandbox: 'off' }, analysis: false }
  const dir = await prepareDirectory(t, script, settings)
  writeFileSync(`${dir}/work/written`, 'old')
  execSync(`git init -q && ${git} add . && ${git} commit -qm first`, { cwd: `${dir}/work` })
  return dir
}

/** Kills the service at a step of an undo in a repository: the next start finishes it, and the repository is whole. */
export async function survivesCommitUndo (t: Test, prepared: string, killAt: string) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const work = `${dir}/work`
  const look = 'git fsck --full --no-dangling 2>&1; git for-each-ref; git ls-files -s; cat .git/HEAD written'
  const state = () => execSync(look, { cwd: work }).toString()
  const before = state()
  const { runId } = await runUntil(t, dir, 'never')
  const left = state()
  const where = { home: `${dir}/home`, cwd: work }
  const undo = async (service: Sidecar): Promise<any> => (await fetch(`${service.url}/runs/${runId}/undo`, { method: 'POST' })).json()
  const dying = await startService(t, { ...where, preload: [KILLER], env: { KILL_AT: killAt } }).catch(() => undefined)
  if (dying !== undefined) {
    await undo(dying).catch(() => {})
    await dying.stop()
  }
  const service = await startService(t, where)
  // The changes are told when what was cut off is finished.
  await fetch(`${service.url}/runs/${runId}/changes`)
  t.ok([before, left].includes(state()), `${killAt}: all of it or nothing`)
  t.match(await undo(service), { skipped: [] }, killAt)
  t.equal(state(), before, killAt)
  await service.stop()
}

/** Kills the service at a step of a run with a command: after the next start, an undo makes the folder what it was. */
export async function survivesCommand (t: Test, prepared: string, killAt: string) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const before = stateOf(`${dir}/work`)
  const { runId } = await runUntil(t, dir, killAt)
  const isLate = await isOpen(`${dir}/home`)
  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  if (runId !== undefined) {
    const left = stateOf(`${dir}/work`)
    const isFoundLate = isLate && !isDeepStrictEqual(left, before)
    const undo = async (payload: object) => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(`${service.url}/runs/${runId}/undo`, { method: 'POST', headers, body: JSON.stringify(payload) })
      return await response.json() as { skipped: Array<{ reason: string }>, notCovered: Array<{ reason: string }> }
    }
    if (isFoundLate) {
      const { skipped } = await undo({})
      t.ok(skipped.length > 0 && skipped.every(({ reason }) => reason === 'shared'), killAt)
      t.same(stateOf(`${dir}/work`), left, 'others may have changed it')
    }
    const { skipped, notCovered } = await undo(isFoundLate ? { paths: ['.'] } : {})
    t.same(skipped, [], killAt)
    t.same(notCovered.map(({ reason }) => reason), isFoundLate ? [LATE] : [], killAt)
  }
  t.same(stateOf(`${dir}/work`), before)
  await service.stop()
}

/** Whether a killed service left the record of a command that it had not compared yet. */
async function isOpen (dir: string): Promise<boolean> {
  const store = await openStore({ dir, clock: systemClock })
  const keys: string[] = []
  for await (const key of store.keys(UNDO_OPEN)) keys.push(key)
  await store.close()
  return keys.length > 0
}

/** The steps of the whole run that change the disk. */
export async function stepsOf (t: Test, prepared: string): Promise<number> {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  return (await runUntil(t, dir, 'count')).log.match(/^step \d+/gm)!.length
}

/** A service that was killed at a step of an undo: what is asked again is brought to its end, and nothing is lost. */
export async function survivesUndo (t: Test, prepared: string, killAt: string) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const { runId } = await runUntil(t, dir, 'never')
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const undo = async (service: Sidecar): Promise<any> => (await fetch(`${service.url}/runs/${runId}/undo`, { method: 'POST' })).json()
  const dying = await startService(t, { ...where, preload: [KILLER], env: { KILL_AT: killAt } }).catch(() => undefined)
  if (dying !== undefined) {
    await undo(dying).catch(() => {})
    await dying.stop()
  }
  const contentOf = (path: string) => existsSync(path) ? readFileSync(path, 'utf8') : ''
  const contents = () => ['written', 'deleted'].map((name) => contentOf(`${dir}/work/${name}`))
  t.ok(contents().every((content, at) => ['old', ['new', ''][at]].includes(content)), 'each is as before or as after')
  const service = await startService(t, where)
  t.match(await undo(service), { restored: { length: 2 }, skipped: [] })
  t.same(contents(), ['old', 'old'])
  t.same(readdirSync(`${dir}/work`).sort(), ['deleted', 'written'])
  await service.stop()
}

/** Kills the service at a step: after the next start, all that was changed can be had back, and nothing else is kept. */
export async function survivesWrite (t: Test, prepared: string, killAt: string) {
  const dir = mkdtempSync(`${prepared}-`)
  cpSync(prepared, dir, { recursive: true })
  const { runId } = await runUntil(t, dir, killAt)
  const contentOf = (name: string) => existsSync(`${dir}/work/${name}`) ? readFileSync(`${dir}/work/${name}`, 'utf8') : undefined
  // What only stands aside is put back by the next start.
  const isAside = readdirSync(`${dir}/work`).some((name) => name.endsWith('.old') && contentOf(name) === 'old')
  const changed = [contentOf('written') !== 'old', contentOf('deleted') === undefined && !isAside].filter(Boolean).length
  t.ok(['old', 'new'].includes(contentOf('written')!), 'never half a file')

  const service = await startService(t, { home: `${dir}/home`, cwd: `${dir}/work` })
  const folder = `${dir}/home/undo`
  const copies = () => existsSync(folder) ? readdirSync(folder).length : 0
  for (let n = 0; copies() !== changed && n < 100; n++) await wait(50)
  t.equal(copies(), changed, 'a copy for each change, and no other')
  if (runId !== undefined) {
    const { changes = [] } = await (await fetch(`${service.url}/runs/${runId}/changes`)).json() as { changes?: object[] }
    t.equal(changes.length, changed)
    if (changed > 0) {
      // What waits for an approval is withdrawn by the next message.
      await postEvents(`${service.url}/run`, { ...USER, messages: [...USER.messages, { role: 'user', content: 'more' }] })
      const response = await fetch(`${service.url}/runs/${runId}/undo`, { method: 'POST' })
      const undone = await response.json() as any
      t.match(undone, { restored: { length: changed }, skipped: [] }, killAt)
    }
    t.equal(contentOf('written'), 'old')
    t.equal(contentOf('deleted'), 'old')
  }
  await service.stop()
}

/**
 * Kills the service at a step of an edit that undoes the two turns of a conversation: the same request again leaves the folder as it was
 * before them.
 */
export async function survivesEdit (t: Test, killAt: string) {
  const config = JSON.stringify({ ...UNASKED, model: 'offline/assistant', analysis: false })
  const dir = t.testdir({ home: { 'config.json': config }, work: { written: 'old', deleted: 'old' } })
  const where = { home: `${dir}/home`, cwd: `${dir}/work` }
  const say = async (service: Sidecar, id: string, content: string) =>
    postEvents(`${service.url}/run`, { id: 'chat', message: { id, role: 'user', content } })
  const edit = (service: Sidecar) =>
    postEvents(`${service.url}/run`, { id: 'chat', messages: [{ id: 'first', role: 'user', content: 'hello' }], changes: 'undo' })
  const first = await startService(t, where)
  await say(first, 'first', 'write "new" to written, then delete deleted')
  await say(first, 'second', 'write "newer" to written')
  await first.stop()

  const dying = await startService(t, { ...where, preload: [KILLER], env: { KILL_AT: killAt } })
  await t.rejects(edit(dying))
  await dying.stop()

  const service = await startService(t, where)
  const messages = async () => (await (await fetch(`${service.url}/threads/chat`)).json() as { messages: object[] }).messages
  t.match(JSON.stringify(await messages()), /newer/, 'the message that was not answered replaces nothing')
  await edit(service)
  t.same(['written', 'deleted'].map((name) => readFileSync(`${dir}/work/${name}`, 'utf8')), ['old', 'old'])
  t.same(readdirSync(`${dir}/work`).sort(), ['deleted', 'written'])
  t.equal((await messages()).length, 2, 'the turns are replaced')
  await service.stop()
}
