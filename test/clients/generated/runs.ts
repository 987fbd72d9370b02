import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import * as sdk from '../../../client/index.ts'
import { build } from '../../harness/helper.ts'
import { UNASKED } from '../../harness/undo.ts'
import { withGateway } from '../../harness/with-gateway.ts'
import { clientOf, ID, is, NO_OPTIONS, said, USAGE } from './client.ts'

const ID_OF_CALL = /./
const SCOPES = (['once', 'exact', 'folder'] as const).map((scope) => ({ scope, text: /./ }))
const complex = { complexity: 'complex' as const, timeWords: '', thinking: 'hm' }

/** What is said of a new text file beside its path. */
const OF_FILE = {
  ...{ from: undefined, what: 'file' as const, mode: undefined, link: undefined, inner: undefined, withContents: undefined },
  ...{ replaces: undefined, diff: /\+/ }
}

t.test('a run as one object', async (t) => {
  const write = { toolName: 'writeFile', input: { path: 'a.txt', content: 'A' } }
  const { app } = await withGateway(t, (_request, nth) =>
    [
      { toolCalls: [{ toolName: 'systemInfo', input: {} }, { toolName: 'readFile', input: { path: 'missing' } }, write] },
      { text: 'Both.' }
    ][nth], {
    config: { analysis: true },
    structured: (name) => ({
      object: name === 'analysis' ? complex : { outcome: 'done', claims: [], satisfied: true, score: 0.9, issues: ['a detail'] }
    })
  })
  const options = await clientOf(app)

  const { data } = await sdk.runSync({ ...options, body: { ...said('compare them'), options: { effort: 'high', budget: { minutes: 5 } } } })
  is(t, data, {
    text: '',
    otherText: undefined,
    messages: [{ role: 'assistant' }, { role: 'tool' }],
    steps: 1,
    toolCalls: [
      {
        toolCallId: /./,
        toolName: 'systemInfo',
        input: {},
        output: { platform: process.platform },
        errorText: undefined,
        status: 'completed'
      },
      {
        toolCallId: /./,
        toolName: 'readFile',
        input: { path: 'missing' },
        output: undefined,
        errorText: /does not exist/,
        status: 'error'
      },
      { toolCallId: /./, ...write, output: undefined, errorText: undefined, status: 'pending' }
    ],
    usage: { ...USAGE, costUsd: undefined },
    finishReason: 'tool-calls',
    pendingApprovals: [
      {
        ...{ approvalId: ID, toolCallId: /./, ...write, cwd: /work$/, reason: undefined, boundary: undefined, toolServer: undefined },
        ...{ reasons: [{ policy: 'toolPermission', text: /./ }], scopes: SCOPES, expiresAt: Number }
      }
    ],
    stopped: undefined,
    steering: undefined,
    undone: undefined,
    pendingQuestions: [],
    pendingToolCalls: [],
    analysis: complex,
    compactions: undefined,
    evaluation: undefined,
    task: undefined,
    object: undefined,
    options: { ...NO_OPTIONS, effort: 'high', budget: { usd: undefined, tokens: undefined, minutes: 5 } },
    threadId: ID,
    runId: ID
  }, 'runSync')

  const decision = { type: 'tool-approval-response', approvalId: data.pendingApprovals[0].approvalId, approved: true }
  const { data: { text, evaluation } } = await sdk.runSync({ ...options, body: { messages: [{ role: 'tool', content: [decision] }] } })
  is(t, { text, evaluation }, {
    text: 'Both.',
    evaluation: {
      satisfied: true,
      score: 0.6,
      issues: ['a detail', 'Calls of this run can have changed something, and no claim of the report about it was checked.'],
      outcome: 'done' as const,
      verified: false,
      claims: [],
      evidence: 'not_needed' as const,
      judge: 'model' as const
    }
  }, 'its evaluation')
})

t.test('a command that stays', async (t) => {
  const options = await clientOf(await build(t, { config: { permissions: { runCommand: 'allow' } } }))
  const { data: { threadId, runId } } = await sdk.runSync({ ...options, body: said('run `sleep 1000` and keep it running') })
  const { data } = await sdk.listCommands(options)
  is(t, data, {
    commands: [{ commandId: ID, command: 'sleep 1000', runId, threadId, taskId: undefined, ports: [], startedAt: Number }]
  }, 'listCommands')
  is(t, (await sdk.stopCommand({ ...options, path: { id: data.commands[0].commandId } })).data, { ok: true }, 'stopCommand')
})

t.test('the skills of a folder', async (t) => {
  const app = await build(t)
  mkdirSync(`${app.cwd}/.claude/skills/notes`, { recursive: true })
  writeFileSync(`${app.cwd}/.claude/skills/notes/SKILL.md`, '---\ndescription: Writes notes.\n---\n')
  const options = await clientOf(app)
  const { data } = await sdk.listSkills({ ...options, query: { cwd: app.cwd } })
  is(t, data, {
    cwd: app.cwd,
    skills: [{
      digest: /./,
      name: 'notes',
      description: 'Writes notes.',
      path: `${app.cwd}/.claude/skills/notes`,
      source: 'folder',
      state: 'new',
      files: 0,
      reason: undefined,
      changed: undefined,
      allowedTools: undefined,
      unread: undefined,
      forUser: undefined,
      leadOut: undefined
    }]
  }, 'listSkills')
  const { digest = '' } = data.skills[0]
  const accepted = await sdk.acceptSkill({ ...options, body: { name: 'notes', cwd: app.cwd, digest } })
  t.match(accepted.data, { name: 'notes', state: 'known', digest }, 'acceptSkill')
})

t.test('folders, for a person who chooses one', async (t) => {
  const app = await build(t)
  mkdirSync(`${app.cwd}/notes`)
  const options = await clientOf(app)
  const { data } = await sdk.getFolder({ ...options, query: { path: app.cwd } })
  is(t, data, {
    path: app.cwd,
    parts: Array,
    problem: undefined,
    folders: [{ name: 'notes', path: `${app.cwd}/notes`, link: undefined, problem: undefined }],
    leftOut: 0,
    hidden: 0,
    isCut: undefined
  }, 'getFolder')
  is(t, data.parts.at(-1), { name: /./, path: app.cwd }, 'a part of its path')
  const places = { home: /./, workspace: app.cwd, roots: [], drives: [], recent: [] }
  is(t, (await sdk.listFolderPlaces(options)).data, places, 'listFolderPlaces')
})

t.test('a file with changes that are not saved in an editor', async (t) => {
  const app = await build(t)
  writeFileSync(`${app.cwd}/notes.txt`, 'Buy tea')
  const options = await clientOf(app)
  const path = { id: 'edited' }
  const ask = (waitMs: number) => sdk.listBufferRequests({ ...options, path, query: { editor: 'desk', waitMs } })
  is(t, (await ask(0)).data, { requests: [] }, 'listBufferRequests')
  const reading = sdk.runSync({ ...options, body: { ...said('read notes.txt'), ...path } })
  const { data } = await ask(10_000)
  is(t, data, { requests: [{ requestId: ID, path: `${app.cwd}/notes.txt` }] }, 'with a file')
  const answer = { ...options, path: { ...path, requestId: data.requests[0].requestId }, body: { text: 'Buy coffee' } }
  is(t, (await sdk.answerBufferRequest(answer)).data, { taken: true }, 'answerBufferRequest')
  t.match((await reading).data.text, 'Buy coffee')
  is(t, (await sdk.answerBufferRequest(answer)).data, { taken: false }, 'too late')
})

t.test('a run that makes a background task', async (t) => {
  const options = await clientOf(await build(t))
  const { data: { task } } = await sdk.runSync({ ...options, body: said('every day at 9, system info') })
  is(t, task!, {
    taskId: ID,
    goal: 'system info',
    taskType: 'recurring',
    status: 'scheduled',
    interval: 'every day at 9',
    words: 'every day at 09:00',
    nextRunAt: Number,
    isNew: true,
    zone: /./,
    next: [Number, Number, Number, Number, Number]
  }, 'its task')
})

t.test('a run under way', async (t) => {
  const { app } = await withGateway(t, () => ({ text: ['first ', 'never'], ending: 'stall', after: 4 }))
  const options = await clientOf(app)
  const reached = { ok: true as const, threadId: 'chat', runId: ID, taskId: undefined }
  const { stream } = await sdk.run({ ...options, body: { ...said('go'), id: 'chat' }, query: { protocol: 'documented' } })
  const first = await stream.next()
  t.match(first.value, { type: 'start', messageMetadata: { threadId: 'chat' } })
  const steered = await sdk.steerRun({ ...options, path: { id: 'chat' }, body: { message: 'hurry' } })
  is(t, steered.data, { ...reached, id: ID, state: 'waiting' }, 'steerRun')
  is(t, (await sdk.stopRun({ ...options, path: { id: 'chat' } })).data, reached, 'stopRun')
})

t.test('the changes of a run, and its undo', async (t) => {
  const app = await build(t, { config: UNASKED })
  const options = await clientOf(app)
  const { data: run } = await sdk.runSync({ ...options, body: said('write "x" to a.txt, then write "y" to b.txt, then run `true`') })
  const { runId } = run!
  const { data } = await sdk.listChanges({ ...options, path: { runId }, query: { limit: 1 } })
  const named = { toolName: 'runCommand', target: 'true', server: undefined, app: undefined, reason: /elsewhere/ }
  const command = { toolCallId: /./, at: Number, ...named }
  is(t, data!, {
    changes: [{
      path: /a\.txt$/,
      kind: 'created',
      ...OF_FILE,
      toolCallId: /./,
      toolName: 'writeFile',
      at: Number,
      canUndo: true,
      why: undefined
    }],
    notCovered: [command],
    followUps: [],
    nextCursor: '1'
  }, 'listChanges')
  writeFileSync(data!.changes[0].path, 'by hand')
  is(t, (await sdk.undoRun({ ...options, path: { runId }, body: { dryRun: false } })).data!, {
    undoId: ID,
    restored: [/b\.txt$/],
    planned: undefined,
    skipped: [{ path: data!.changes[0].path, reason: 'changed_since' }],
    notCovered: [command]
  }, 'undoRun')
})

t.test('a run on a copy, and what is taken over of it', async (t) => {
  const app = await build(t)
  const options = await clientOf(app)
  writeFileSync(`${app.cwd}/a.txt`, 'a')
  const body = { ...said('write "x" to b.txt'), id: 'copied', options: { workspace: 'copy' as const } }
  const { data: run } = await sdk.runSync({ ...options, body })
  const apply = async (dryRun: boolean) => (await sdk.applyRun({ ...options, path: { runId: run!.runId }, body: { dryRun } })).data!
  const planned = [{ ...OF_FILE, path: `${app.cwd}/b.txt`, kind: 'created' as const }]
  const dry = { applyId: undefined, applied: [`${app.cwd}/b.txt`], discarded: undefined, planned, skipped: [] }
  is(t, await apply(true), dry, 'applyRun, dry')
  writeFileSync(`${app.cwd}/b.txt`, 'by hand')
  const skipped = [{ path: `${app.cwd}/b.txt`, reason: 'changed_since' as const }]
  is(t, await apply(false), { applyId: undefined, applied: [], discarded: undefined, planned: undefined, skipped }, 'a conflict')
  rmSync(`${app.cwd}/b.txt`)
  const done = await apply(false)
  is(t, done, { ...dry, applyId: ID, planned: undefined }, 'applyRun')
  const { data } = await sdk.listChanges({ ...options, path: { runId: run!.runId } })
  is(t, data!.followUps, [{ id: done.applyId!, kind: 'apply', at: Number, paths: 1, isCut: undefined }], 'listChanges, followUps')
})

t.test('a rehearsal, its sheet, and what is accepted of it', async (t) => {
  const app = await build(t)
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const options = await clientOf(app)
  const { data: { id } } = await sdk.createTask({ ...options, body: { goal: 'write "x" to b.txt', taskType: 'triggered' } })
  const path = { id }
  const { data: begun } = await sdk.rehearseTask({ ...options, path })
  is(t, begun, { ok: true, taskId: id, runId: ID }, 'rehearseTask')
  const { runId } = begun
  await sdk.getRun({ ...options, path: { runId }, query: { waitMs: 60_000 } })
  const { data: sheet } = await sdk.getSheet({ ...options, path: { runId } })
  is(t, sheet, {
    ...{ runId, taskId: id, threadId: undefined, status: 'completed', startedAt: Number, durationMs: Number, output: /b\.txt/ },
    error: undefined,
    facts: /1 made/,
    usage: USAGE,
    lines: [{
      ...{ line: 1, toolCallId: /./, toolName: 'writeFile', input: { path: 'b.txt', content: 'x' }, count: 1, asks: true },
      outcome: 'copied',
      ...{ guess: undefined, reason: undefined, toolServer: undefined, boundary: undefined, accepted: undefined, void: undefined },
      scopes: Array
    }],
    void: undefined
  }, 'getSheet')
  const { data: accepted } = await sdk.addGrant({ ...options, body: { sheet: runId, lines: [{ line: 1, scope: 'folder' }] } })
  t.match(accepted, { grants: [{ taskId: id, source: 'rehearsal', sheet: runId }] }, 'addGrant, of a sheet')
  is(t, (await sdk.listRehearsals({ ...options, path })).data, {
    rehearsals: [{ runId, status: 'completed', startedAt: Number, completedAt: Number, lines: 1, accepted: 1, void: undefined }]
  }, 'listRehearsals')
})

t.test('the recording of a run, as a file', async (t) => {
  const app = await build(t, { config: UNASKED })
  const options = await clientOf(app)
  const { data: run } = await sdk.runSync({ ...options, body: said('write "x" to a.txt') })
  const { data } = await sdk.recordRun({ ...options, path: { runId: run!.runId }, parseAs: 'text' })
  const [header, request] = String(data).split('\n').map((line) => line && JSON.parse(line))
  t.match({ header, request }, { header: { type: 'recording', version: 1 }, request: { type: 'request' } }, 'recordRun')
})

t.test('what model calls used', async (t) => {
  const options = await clientOf(await build(t))
  await sdk.runSync({ ...options, body: { ...said('system info'), id: 'chat' } })
  const { data: { from, to, groups } } = await sdk.getUsage({ ...options, query: { by: 'thread' } })
  is(t, { from, to }, { from: /^\d{4}-\d{2}-\d{2}$/, to: /^\d{4}-\d{2}-\d{2}$/ }, 'getUsage')
  is(t, groups, [{ key: 'chat', calls: Number, ...USAGE, unpricedCalls: 0 }], 'its groups')
})

t.test('the runs, and the events that tell of them', async (t) => {
  const options = await clientOf(await build(t))
  const ended = new AbortController()
  const { stream } = await sdk.events({ ...options, query: { types: 'run:end' }, signal: ended.signal, sseMaxRetryAttempts: 1 })
  const next = stream.next()
  const { data: { runId, threadId } } = await sdk.runSync({ ...options, body: said('system info') })
  t.match((await next).value, { type: 'run:end', runId, threadId, status: 'completed' })
  ended.abort()
  const { data } = await sdk.getRun({ ...options, path: { runId }, query: { waitMs: 1_000 } })
  is(t, data, {
    runId,
    threadId,
    taskId: undefined,
    input: undefined,
    inputBytes: undefined,
    review: undefined,
    steered: undefined,
    runNumber: undefined,
    phases: undefined,
    trigger: 'message',
    status: 'completed',
    queuedAt: Number,
    startedAt: Number,
    completedAt: Number,
    durationMs: Number,
    output: /platform/,
    otherOutput: undefined,
    object: undefined,
    error: undefined,
    toolCalls: [{
      toolCallId: ID_OF_CALL,
      toolName: 'systemInfo',
      input: {},
      output: { platform: process.platform },
      error: undefined,
      status: 'completed',
      durationMs: Number,
      begun: undefined,
      grantId: undefined
    }],
    toolCount: 1,
    qualityScore: undefined,
    evaluation: undefined,
    verified: undefined,
    facts: /^1 call: 1 read/,
    steering: [],
    questions: [],
    usage: USAGE,
    answeredBy: { model: 'offline/assistant', effort: undefined },
    options: undefined,
    attempts: 1,
    plannedAt: undefined,
    causes: undefined,
    standsFor: undefined,
    failure: undefined,
    retryAt: undefined,
    stopped: undefined
  }, 'getRun')
  is(t, (await sdk.listRuns({ ...options, query: { threadId, limit: 1 } })).data, {
    runs: Array,
    nextCursor: undefined
  }, 'listRuns')
})
