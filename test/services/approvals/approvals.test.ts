import { homedir } from 'node:os'
import t, { type Test } from 'tap'
import type { Question } from '../../../schemas/questions.ts'
import { mayHaveWritten } from '../../../services/approvals/grants/call-grants.ts'
import { isCovered, isProtected } from '../../../services/approvals/grants/file-place.ts'
import { covers, offeredScopes } from '../../../services/approvals/grants/grant-facts.ts'
import { createGrants } from '../../../services/approvals/grants/grants.ts'
import { createLedger } from '../../../services/approvals/ledger.ts'
import { checkAnswers } from '../../../services/approvals/questions/check-answers.ts'
import { createLiveQuestions, type LiveRequest } from '../../../services/approvals/questions/live-questions.ts'
import type { ThreadApproval } from '../../../services/contracts/approval-record.ts'
import { inState, mayFollow, TRANSITIONS } from '../../../services/contracts/approval-states.ts'
import type { CallFacts, Grant } from '../../../services/contracts/grant-record.ts'
import { OUTCOME_UNKNOWN } from '../../../services/contracts/model-texts.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import type { Tool } from '../../../services/contracts/tool.ts'
import { Aborted } from '../../../services/lib/abort.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { createValidator } from '../../../services/tools/input-validator.ts'
import { createAskUser } from '../../../services/tools/questions/ask-user.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'

/** The ways that approvals of each kind go, as the design of the ledger has them. */
const WAYS: Record<keyof typeof TRANSITIONS, string[]> = {
  tool: [
    'pending approved executing done',
    'pending approved executing unknown',
    'pending approved done',
    'pending approved withdrawn',
    'pending denied',
    'pending expired',
    'pending withdrawn'
  ],
  result: ['pending approved', 'pending denied', 'pending expired', 'pending withdrawn'],
  question: ['pending answered', 'pending declined', 'pending expired', 'pending withdrawn'],
  task: ['pending answered', 'pending withdrawn'],
  app: [
    'open claimed done',
    'open claimed error',
    'open claimed unknown',
    'open claimed withdrawn',
    'open done',
    'open error',
    'open expired',
    'open withdrawn'
  ]
}

t.test('an approval of each kind goes its ways and no other, and ends where nothing follows', async (t) => {
  for (const [kind, ways] of Object.entries(WAYS) as Array<[keyof typeof TRANSITIONS, string[]]>) {
    const known = Object.keys(TRANSITIONS[kind])
    const allowed = new Set<string>()
    for (const way of ways.map((way) => way.split(' '))) {
      for (const [at, state] of way.entries()) if (at > 0) allowed.add(`${way[at - 1]} ${state}`)
    }
    for (const from of known) {
      for (const to of known) t.equal(mayFollow(kind, from, to), allowed.has(`${from} ${to}`), `${kind}: ${from} → ${to}`)
    }
    t.same(new Set(ways.flatMap((way) => way.split(' '))), new Set(known), `${kind}: no state is out of reach`)
  }
})

t.test('a state that may not follow is refused, the same state again is none', async (t) => {
  const approval = {
    approvalId: 'a',
    kind: 'tool',
    threadId: 'chat',
    runId: 'r',
    segment: 0,
    toolCallId: 'c',
    toolName: 'runCommand',
    input: {},
    digest: '',
    cwd: '/',
    folder: { dev: '1', ino: '1' },
    createdAt: 0,
    expiresAt: 1,
    state: 'denied'
  } satisfies ThreadApproval
  t.throws(() => inState<ThreadApproval, 'executing'>(approval, 'executing'), /of kind tool cannot go from denied to executing/)
  t.same(inState(approval, 'denied'), approval)
})

const options = [{ value: 'md', label: 'Markdown' }, { value: 'pdf', label: 'PDF' }]
const refusal = (questions: Question[], answers: Record<string, string | string[]>) => {
  try {
    checkAnswers(questions, answers)
    return undefined
  } catch (error) {
    return error as { code: string, message: string, details: unknown }
  }
}

t.test('an answer is an option, unless the question is free or has none', async (t) => {
  const format = { id: 'format', text: 'Which format?', options }
  t.equal(refusal([format], { format: 'md' }), undefined)
  t.match(refusal([format], { format: 'PDF' }), {
    code: 'ERR_INVALID_ANSWERS',
    message: 'The question "format" (Which format?) has no option "PDF"; its options are "md", "pdf".',
    details: [{ path: 'answers.format', message: /no option "PDF"/ }]
  })
  t.equal(refusal([{ ...format, free: true }], { format: 'a web page' }), undefined)
  t.equal(refusal([{ id: 'name', text: 'Name?' }], { name: 'Ada' }), undefined)
})

t.test('several answers only where several may be given, none twice', async (t) => {
  const format = { id: 'format', text: 'Which format?', options }
  t.match(refusal([format], { format: ['md'] }), { message: /"format".* takes one answer/ })
  const several = { ...format, multi: true }
  t.equal(refusal([several], { format: ['md', 'pdf'] }), undefined)
  t.equal(refusal([several], { format: 'md' }), undefined)
  t.equal(refusal([several], { format: [] }), undefined)
  t.match(refusal([several], { format: ['md', 'md'] }), { message: /"md" twice/ })
  t.match(refusal([several], { format: ['md', 'txt'] }), { message: /no option "txt"/ })
})

t.test('a required question needs an answer, and an unknown one takes none; every mistake is named', async (t) => {
  const questions: Question[] = [
    { id: 'a', text: 'A?', required: true },
    { id: 'b', text: 'B?' },
    { id: 'c', text: 'C?', multi: true, required: true }
  ]
  t.equal(refusal(questions, { a: 'x', c: ['y'] }), undefined)
  t.match(refusal(questions, { b: 'x', c: [], constructor: 'x' }), {
    message: /no question "constructor".*"a".*needs an answer.*"c".*needs an answer/,
    details: [{ path: 'answers.constructor' }, { path: 'answers.a' }, { path: 'answers.c' }]
  })
})

t.test('a model is told what is wrong with its questions', async (t) => {
  const validate = createValidator()
  const ask = (...questions: object[]) => validate(createAskUser(), { questions })
  const question = { id: 'q', text: 'Well?' }
  t.equal(ask({ ...question, options, multi: true, free: true, required: true }), undefined)
  t.match(ask(question, question), /two questions have the id "q"/)
  t.match(ask({ ...question, options: [options[0], options[0]] }), /two options of the question "q" have the value "md"/)
  t.match(ask({ ...question, text: 'Delete\u001b[2K it?' }), /"q" has control characters/)
  t.match(ask({ ...question, options: [{ value: 'yes', label: '\u202eon' }] }), /"q" has control characters or overrides/)
  t.equal(ask({ ...question, text: 'First line\n\tsecond, \u200fעברית' }), undefined)
  t.match(ask(), /must NOT have fewer than 1 items/)
  t.match(ask(...Array.from({ length: 21 }, (_, n) => ({ id: `q${n}`, text: 'Well?' }))), /must NOT have more than 20 items/)
  t.match(ask({ ...question, options: Array.from({ length: 51 }, (_, n) => ({ value: `${n}`, label: `${n}` })) }), /more than 50 items/)
  t.match(ask({ ...question, id: '__proto__' }), /questions.0.id must match pattern/)
  t.match(ask({ ...question, text: 'x'.repeat(2_001) }), /more than 2000 characters/)
  t.match(ask({ ...question, kind: 'date' }), /has no property "kind"/)
})

const ROME = { approved: true, answers: { city: 'Rome' } }
const QUESTIONS = [{ id: 'city', text: 'Which city?', required: true }]

async function service (t: Test) {
  const clock = fakeClock()
  const store = await testStore(t, clock)
  const ledger = createLedger({ store, clock })
  const start = () => createLiveQuestions({ ledger, store, clock })
  const live = start()
  const list = async () => (await ledger.list({ limit: 50 })).approvals
  /** Asks, and returns the id of the questions and what becomes of them. */
  async function ask (request: Partial<LiveRequest> = {}) {
    const asked = Promise.withResolvers<string>()
    const outcome = live.ask({
      owner: { threadId: 'chat' },
      runId: 'run',
      toolCallId: 'call',
      questions: QUESTIONS,
      signal: new AbortController().signal,
      changed: ({ approvalId }) => asked.resolve(approvalId),
      ...request
    })
    outcome.catch(asked.reject)
    return { id: await asked.promise, outcome }
  }
  return { clock, live, start, list, ask }
}

t.test('a call that keeps running asks, is listed, and gets the answers; the first answer is kept', async (t) => {
  const { live, list, ask } = await service(t)
  const { id, outcome } = await ask()
  const shown = { kind: 'question', threadId: 'chat', toolCallId: 'call', questions: QUESTIONS, live: true, state: 'pending' }
  t.match(await list(), [{ approvalId: id, ...shown }])
  const answer = (answers?: Record<string, string>) => live.decide(id, { approvalId: id, approved: answers !== undefined, answers })
  await t.rejects(answer({ town: 'Rome' }), { code: 'ERR_INVALID_ANSWERS', message: /"town".*"city".*needs an answer/ })
  t.equal((await answer({ city: 'Rome' })).state, 'answered')
  t.same(await outcome, { is: 'answered', answers: { city: 'Rome' } })
  t.equal((await answer({ city: 'Rome' })).state, 'answered', 'the same answer again')
  await t.rejects(answer({ city: 'Oslo' }), { code: 'ERR_APPROVAL_DECIDED', message: /answered with {"city":"Rome"}/ })
  await t.rejects(answer(), { code: 'ERR_APPROVAL_DECIDED' })
  t.same(await list(), [])
})

t.test('declining is no answer, and neither is silence', async (t) => {
  const { clock, live, list, ask } = await service(t)
  const declined = await ask()
  await live.decide(declined.id, { approvalId: declined.id, approved: false, reason: 'None of your business.' })
  t.same(await declined.outcome, { is: 'declined', reason: 'None of your business.' })

  const silent = await ask({ owner: { taskId: 'task' } })
  await clock.advance(10 * 60_000 - 1)
  t.equal((await list()).length, 1)
  await clock.advance(1)
  t.same(await silent.outcome, { is: 'unanswered' })
  t.same(await list(), [])
  await t.rejects(live.decide(silent.id, { approvalId: silent.id, ...ROME }), { code: 'ERR_APPROVAL_EXPIRED' })
})

t.test('questions end with their call, and with the process that asked them', async (t) => {
  const { live, start, list, ask } = await service(t)
  const controller = new AbortController()
  const stopped = await ask({ signal: controller.signal })
  controller.abort(new Aborted('stop', 'stopped'))
  await t.rejects(stopped.outcome, { message: 'stopped' })
  t.same(await list(), [])
  await t.rejects(live.decide(stopped.id, { approvalId: stopped.id, ...ROME }), { code: 'ERR_APPROVAL_WITHDRAWN' })

  const { id } = await ask()
  t.equal((await list()).length, 1)
  const next = start()
  await next.clean()
  t.same(await list(), [], 'the next process has no such call')
  await t.rejects(next.decide(id, { approvalId: id, approved: false }), { code: 'ERR_APPROVAL_WITHDRAWN' })
})

t.test('questions that cannot be asked are refused', async (t) => {
  const { ask, list } = await service(t)
  await t.rejects(ask({ questions: [] }), { code: 'ERR_TOOL_FAILED', message: /fewer than 1/ })
  await t.rejects(ask({ questions: [QUESTIONS[0], QUESTIONS[0]] }), { message: /two questions have the id "city"/ })
  t.same(await list(), [])
})

const folder = { path: '/here', dev: '1', ino: '1' }
const facts = (more: Partial<CallFacts> = {}): CallFacts => ({
  ...{ toolName: 'echo', does: 'use echo', input: {}, digest: 'd', identity: 'one', folder },
  ...more
})
const grant = (more: Partial<Grant> = {}) =>
  ({ ...facts(), grantId: 'g', threadId: 'a', scope: 'tool', source: 'answer', text: '', uses: 0, createdAt: 0, ...more }) as Grant

t.test('a tool of a server is granted as it is described now; another definition under its name asks', async (t) => {
  const tool = { model: { name: 'echo' }, policy: {}, identity: 'one' } as unknown as Tool
  t.same(offeredScopes(tool, facts(), false).map(({ scope }) => scope), ['once', 'exact', 'tool'])
  t.ok(covers(grant(), facts({ digest: 'other', folder: { path: '/there', dev: '1', ino: '2' } })))
  t.notOk(covers(grant(), facts({ identity: 'two' })))
  t.notOk(covers(grant(), facts({ toolName: 'shout' })))
  t.notOk(covers(grant(), facts({ identity: undefined })))
})

t.test('the same input counts in the very folder alone', async (t) => {
  const exact = grant({ scope: 'exact' })
  t.ok(covers(exact, facts()))
  t.notOk(covers(exact, facts({ digest: 'other' })))
  t.notOk(covers(exact, facts({ folder: { ...folder, path: '/there' } })))
  t.notOk(covers(exact, facts({ folder: { ...folder, ino: '2' } })), 'another folder at that path')
})

t.test('what programs obey is recognised in any spelling, and in any folder', async (t) => {
  const inFolder = (name: string, path = '/home/ada/app') => isProtected({ folder: path, name })
  const obeyed = 'package.json Package.JSON package.json. package.json::$DATA makefile ｍakefile Dockerfile.dev requirements-dev.txt ' +
    'app.csproj CLAUDE.md .git .g\u200cit .pylintrc .eslintrc.js .env.local Tiltfile vite.config.ts gulpfile.js ' +
    'LICENSE git deploy.sh Setup.EXE start.command login.desktop job.service macro.vbs evil.sh. site.pth'
  for (const name of obeyed.split(' ')) t.ok(inFolder(name), name)
  const folders = ['/home/ada/.git/hooks', '/home/ada/.GitHub/workflows', 'C:\\ada\\.vscode', '/home/ada/.ssh', '/home/ada/node_modules/x']
  for (const path of folders) {
    t.ok(inFolder('a.txt', path), path)
  }
  const others = ['package.md', 'my-package.json', 'profile.md', 'config.ts', 'notes.txt', 'index.ts', 'a.exe.txt']
  for (const name of others) t.notOk(inFolder(name), name)
})

t.test('a grant for a folder covers no hidden folder below it, and there is none for a home', async (t) => {
  const place = (folder: string, name = 'a.txt') => ({ folder, name })
  t.ok(isCovered('/home/ada/notes', place('/home/ada/notes/deep')))
  t.notOk(isCovered('/home/ada/notes', place('/home/ada/notes/.obsidian/plugins')))
  t.notOk(isCovered('/home/ada/.notes', place('/home/ada/.notes')))
  for (const home of ['/', '/home', '/home/ada', '/Users/ada', '/root', 'C:\\', 'C:\\Users\\ada', homedir()]) {
    t.notOk(isCovered(home, place(home)), home)
  }
})

t.test('the same input counts for the same files alone, wherever a link leads by now', async (t) => {
  const places = [{ folder: '/here', name: 'a.txt' }]
  const exact = grant({ scope: 'exact', places })
  t.ok(covers(exact, facts({ places: [{ folder: '/here', name: 'a.txt' }] })))
  t.notOk(covers(exact, facts({ places: [{ folder: '/elsewhere', name: 'a.txt' }] })))
  t.notOk(covers(exact, facts()))
})

t.test('a use that is stored while its grant ends does not bring the grant back', async (t) => {
  const store = await testStore(t)
  const tool = { model: { name: 'echo' }, policy: {}, identity: 'one' } as unknown as Tool
  const tools = { find: () => tool, identity: () => 'one', boundary: async () => undefined }
  const grants = createGrants({ store, clock: systemClock, tools, hasToken: true, largestKept: () => Infinity })
  const owner = { taskId: 'task' }
  const requested = { toolName: 'echo', input: {}, scope: 'tool' as const, place: { folder, cwd: folder.path } }
  await grants.addAll(owner, [requested], tools, { source: 'request' })
  const [given] = await grants.all(owner)
  const isUsed = await grants.use(given, async (used) => {
    await store.transact(await grants.removals(owner))
    await store.transact([used])
  })
  t.ok(isUsed, 'the call had begun')
  t.same(await grants.all(owner), [])

  await grants.addAll(owner, [requested], tools, { source: 'request' })
  const [next] = await grants.all(owner)
  await grants.removals(owner)
  t.notOk(await grants.use(next, async () => void t.fail('it was about to end')))
})

t.test('a run has written in a folder by reported changes there, and may have by a tool that reports none', async (t) => {
  const tools: Record<string, Partial<Tool>> = {
    writeFile: { policy: { effect: 'write' }, effects: { files: async () => ({ changed: [], preview: async () => ({}) }) } },
    runCommand: { policy: { effect: 'external' } },
    look: { policy: { effect: 'read' } }
  }
  const find = (name: string) => tools[name] as Tool
  const output = (toolName: string, more: object = {}): RunEvent => ({
    type: 'tool-output',
    toolCallId: toolName,
    toolName,
    output: {},
    ...more
  })
  const changed = (path: string) => output('writeFile', { changes: [{ path, before: null, after: 'x' }] })
  t.ok(mayHaveWritten('/home/ada', [changed('/home/ada/deep/a')], find))
  t.notOk(mayHaveWritten('/home/ada', [changed('/home/ada-2/a')], find))
  t.notOk(mayHaveWritten('/home/ada', [output('look'), output('writeFile')], find))
  t.ok(mayHaveWritten('/home/ada', [output('runCommand')], find))
  t.ok(mayHaveWritten('/home/ada', [output('gone')], find), 'a tool that is not there any more')
  const cutOff = (toolName: string, errorText = OUTCOME_UNKNOWN): RunEvent =>
    ({ type: 'tool-error', toolCallId: toolName, toolName, errorText })
  t.ok(mayHaveWritten('/home/ada', [cutOff('writeFile')], find), 'a call that was cut off reported nothing')
  t.notOk(mayHaveWritten('/home/ada', [cutOff('look'), cutOff('writeFile', 'It does not exist.')], find))
  t.notOk(mayHaveWritten('/home/ada', [{ type: 'tool-intent', toolCallId: 'runCommand', grantId: 'g' }, output('runCommand')], find))
})
