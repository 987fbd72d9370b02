import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../../harness/exercise.ts'
import { ALLOWED, ask, call, configure, plan, planCall, read, WORK, work as folder, type Step } from '../app.ts'

/** Waits for a run's end, and returns it. */
const ended = (runId: string) => ask(`/runs/${runId}?waitMs=60000`)

export const work: Step[] = [
  ['a task runs by itself', async () => {
    planCall('writeFile', { path: 'by-a-task.txt', content: 'task' })
    const { id } = await ask('/tasks', { goal: 'write it', approval: { mode: 'never' }, cwd: WORK })
    await ask(`/tasks/${id}/start`, {})
    await until(() => existsSync(join(folder, 'by-a-task.txt')))
  }],

  ['a run works on a copy of its folder, and its changes are taken over', async () => {
    const { text, runId } = await call('writeFile', { path: 'new\\of-a-copy.txt', content: 'copy' }, { options: { workspace: 'copy' } })
    match(text, /C:\\\\test\\\\work\\\\new\\\\of-a-copy\.txt/)
    ok(!existsSync(join(folder, 'new')))
    deepStrictEqual((await ask(`/runs/${runId}/apply`, {})).skipped, [])
    strictEqual(read('new/of-a-copy.txt'), 'copy')
  }],

  ['files that change trigger a task', async () => {
    const triggers = [{ type: 'files', path: '.', glob: '*.CSV' }]
    const { id } = await ask('/tasks', { goal: 'look', approval: { mode: 'never' }, cwd: WORK, triggers })
    await ask(`/tasks/${id}/start`, {})
    for (let n = 0, seen = 0; seen === 0; n++) {
      writeFileSync(join(folder, 'new.csv'), String(n))
      await wait(1_000)
      seen = (await ask(`/tasks/${id}/firings`)).firings.length
      ok(n < 30, 'no firing')
    }
    await ask(`/tasks/${id}`, undefined, 'DELETE')
  }],

  ['a task runs at its time, once and again', async () => {
    planCall('writeFile', { path: 'in-a-second.txt', content: 'once' })
    await ask('/tasks', { goal: 'once', approval: { mode: 'never' }, cwd: WORK, schedule: { in: '1s' }, start: true })
    await until(() => existsSync(join(folder, 'in-a-second.txt')))
    const often = { interval: 'every 2 seconds' }
    const { id } = await ask('/tasks', { goal: 'often', approval: { mode: 'never' }, cwd: WORK, schedule: often, start: true })
    for (let ran = 0, n = 0; ran < 2; n++) {
      ok(n < 60, 'it does not run again')
      await wait(500)
      ran = (await ask(`/tasks/${id}/schedule`)).slots.filter(({ fate }: any) => fate === 'run').length
    }
    await ask(`/tasks/${id}`, undefined, 'DELETE')
  }],

  ['a rehearsal changes nothing, and what is accepted of it runs unasked', async () => {
    await configure({})
    const { id } = await ask('/tasks', { goal: 'keep notes', taskType: 'triggered', approval: { mode: 'granted' }, cwd: WORK })
    planCall('writeFile', { path: 'Notes\\today.md', content: 'rehearsed' })
    const { runId } = await ask(`/tasks/${id}/rehearse`, {})
    await ended(runId)
    const { lines } = await ask(`/runs/${runId}/sheet`)
    deepStrictEqual(lines.map(({ outcome, asks }: any) => [outcome, asks]), [['copied', true]], JSON.stringify(lines))
    match(lines[0].scopes[1].text, /\*\.md files in or below "C:\\\\test\\\\work\\\\Notes"/)
    ok(!existsSync(join(folder, 'Notes')))
    await ask('/grants', { sheet: runId, lines: [{ line: lines[0].line, scope: 'folder' }] })
    planCall('writeFile', { path: 'Notes/TODAY.md', content: 'for good' })
    await ended((await ask(`/tasks/${id}/run`, {})).runId)
    strictEqual(read('Notes/TODAY.md'), 'for good')
    await configure(ALLOWED)
  }],

  ['what was allowed for a folder runs unasked there, in any case, and nowhere else', async () => {
    await configure({})
    mkdirSync(join(folder, 'Docs'))
    const body = { messages: [{ role: 'user', content: 'write' }], context: { cwd: WORK } }
    planCall('writeFile', { path: 'Docs\\a.md', content: 'a' })
    const stream = await ask('/run', body)
    const [, approvalId] = /"approvalId":"([^"]+)"/.exec(stream)!
    const [, id] = /"threadId":"([^"]+)"/.exec(stream)!
    await ask(`/approvals/${approvalId}`, { approved: true, scope: 'folder' })
    const [, runId] = /"runId":"([^"]+)"/.exec(stream)!
    await ended(runId)
    ok(existsSync(join(folder, 'Docs/a.md')))
    const write = async (path: string) => {
      planCall('writeFile', { path, content: 'b' })
      return ask('/run', { id, messages: [{ role: 'user', content: `write ${path}` }], context: { cwd: WORK } })
    }
    await write('docs/B.md')
    ok(existsSync(join(folder, 'Docs/B.md')), 'the same folder in another case')
    match(await write('other\\b.md'), /approvalId/)
    ok(!existsSync(join(folder, 'other')))
    await configure(ALLOWED)
  }],

  ['skills of the folder are read, and one that has changed asks', async () => {
    const place = join(folder, '.agents/skills/notes')
    mkdirSync(place, { recursive: true })
    const text = (more: string) => `---\r\nname: notes\r\ndescription: For notes.\r\n---\r\nWrite short notes.${more}\r\n`
    writeFileSync(join(place, 'SKILL.md'), text(''))
    const states = async () => (await ask(`/skills?cwd=${encodeURIComponent(WORK)}`)).skills.map(({ name, state }: any) => [name, state])
    deepStrictEqual(await states(), [['notes', 'new']])
    match((await call('readSkill', { name: 'notes' })).text, /Write short notes/)
    deepStrictEqual(await states(), [['notes', 'known']])
    writeFileSync(join(place, 'SKILL.md'), text(' And obey.'))
    deepStrictEqual(await states(), [['notes', 'changed']])
    plan({ toolCalls: [{ toolName: 'readSkill', input: { name: 'notes' } }] })
    match(await ask('/run', { messages: [{ role: 'user', content: 'Use it.' }], context: { cwd: WORK } }), /approvalId/)
    await rm(join(folder, '.agents'), { recursive: true })
  }]
]
