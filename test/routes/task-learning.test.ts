import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import type { Plan } from '../fakes/gateway.ts'
import { answerCall, OPTIONS } from '../harness/app-tools.ts'
import { connect, misbehaving } from '../harness/mcp.ts'
import { plan } from '../harness/task-approvals.ts'
import { tasksOf } from '../harness/tasks.ts'
import { withGateway } from '../harness/with-gateway.ts'

type Call = [toolName: string, input: Record<string, unknown>]
const isStep = (call: Call | Call[]): call is Call[] => typeof call[0] !== 'string'
type Service = Awaited<ReturnType<typeof begin>>

/** A task whose runs make the calls that `calls` names for each, one or some a step, until there is none. */
async function begin (t: Test, calls: (run: number) => Array<Call | Call[]>, more: object = {}) {
  let run = 0
  const { app } = await withGateway(t, ({ body: { prompt } }): Plan => {
    const step = prompt.filter(({ role }: { role: string }) => role === 'assistant').length
    if (step === 0) run++
    const now = calls(run)[step]
    if (now === undefined) return { text: ['That is all.'] }
    return { toolCalls: (isStep(now) ? now : [now]).map(([toolName, input]) => ({ toolName, input })) }
  })
  const tasks = await tasksOf(t, app)
  const events = await tasks.watch()
  const { id } = await tasks.create('keep notes', { ...plan, taskType: 'triggered', approval: { mode: 'first_n', firstN: 3 }, ...more })
  const at = (path: string) => `${app.cwd}/${path}`
  const grants = async () => (await app.inject(`/grants?taskId=${id}`)).json().grants
  return { app, tasks, events, id, at, grants }
}

interface Asked {
  toolName: string
  input: Record<string, unknown>
  reason?: string
  teaches?: string[]
}

/** One run of the task: `answer` decides about each call that is asked; the result is approved. Returns what was asked and answered. */
async function oneRun ({ app, tasks, events: { events }, id }: Service, answer: (asked: Asked) => object = () => ({ approved: true })) {
  const asked: Asked[] = []
  let at = events.length
  let said: string[] | undefined
  let learned: any
  await tasks.post(`/${id}/run`)
  for (;;) {
    while (at >= events.length) await new Promise((resolve) => setTimeout(resolve, 2))
    const event = events[at++]
    if (event.type === 'task:complete' || event.type === 'task:error') return { asked, said, learned, told: event.learned }
    if (event.type === 'task:tool-call') await answerCall(app, event.toolCallId, { output: {} })
    if (event.type !== 'task:approval') continue
    const { approvalId, kind } = event
    if (kind === 'tool') asked.push(event as unknown as Asked)
    else said = event.teaches
    const given = kind === 'tool' ? answer(event as unknown as Asked) : { approved: true }
    learned = (await tasks.post(`/${id}/approve`, { approvalId, ...given })).learned
  }
}
const deny = () => ({ approved: false })
const write = (path: string, content: string): Call => ['writeFile', { path, content }]
const inputs = ({ asked }: { asked: Asked[] }) => asked.map(({ input: { path, from, command } }) => path ?? from ?? command)

t.test('after three approvals, what was said runs unasked, and nothing else', async (t) => {
  const usual = (n: number): Call[] => [
    write('status.md', `run ${n}`),
    write(`notes/${n}.md`, 'new'),
    ['editFile', { path: 'log.txt', edits: [{ oldText: 'end', newText: `${n} end` }] }],
    ['moveFile', { from: 'inbox.txt', to: 'done.txt', overwrite: true }],
    ['deleteFile', { path: 'old.txt' }],
    ['runCommand', { command: 'echo x' }]
  ]
  const attempts: Call[] = [
    write('notes/mine.md', 'overwritten'),
    write('notes/new.txt', 'another kind'),
    write('notes/deep/new.md', 'another folder'),
    write('notes/4.md', 'its own again'),
    ['editFile', { path: 'notes/mine.md', edits: [{ oldText: 'mine', newText: 'edited' }] }],
    ['moveFile', { from: 'inbox.txt', to: 'done.txt', overwrite: true }],
    ['moveFile', { from: 'inbox.txt', to: 'notes/5.md' }],
    ['deleteFile', { path: 'notes/mine.md' }],
    ['runCommand', { command: 'echo y' }]
  ]
  const service = await begin(t, (n) => n < 5 ? usual(n) : attempts)
  const { at, grants } = service
  mkdirSync(at('notes'))
  writeFileSync(at('notes/mine.md'), 'mine')
  writeFileSync(at('log.txt'), 'end')
  const prepare = () => {
    rmSync(at('done.txt'), { force: true })
    writeFileSync(at('inbox.txt'), 'inbox')
    writeFileSync(at('old.txt'), 'old')
  }

  prepare()
  const first = await oneRun(service)
  t.equal(first.asked.length, 6)
  t.match(first.asked.map(({ teaches }) => teaches), [
    [/^write a file: ".*status\.md", with any content, where there is nothing, or what this task made and nobody has changed since$/],
    [/^write a file: ".*1\.md"/],
    [/^edit a file: ".*log\.txt", with any content, whatever is there then$/],
    [/^move a file, with exactly .*, whatever ".*inbox\.txt" is then, and at ".*done\.txt" where there is nothing/],
    [/^delete a file, with exactly .*old\.txt.*, whatever is there then$/],
    [/^run a command, with exactly/]
  ])
  t.match(first.learned, { inForce: false, runsLeft: 2, grants: { length: 6 } })
  prepare()
  const second = await oneRun(service)
  t.match(second.learned, { inForce: false, runsLeft: 1, grants: [{ text: /^write a file: new \*\.md files in ".*notes"/ }] })
  prepare()
  const third = await oneRun(service)
  t.equal(third.asked.length, 6, 'the third run asks as the first')
  t.match(third.learned, { inForce: true, runsLeft: 0, grants: { length: 7 } })
  t.same(third.told, third.learned, 'the event says what the answer says')
  t.same(third.said, third.learned.grants.map(({ text }: { text: string }) => text), 'what was said before is what was learned')
  t.same((await grants()).map(({ text }: { text: string }) => text).toSorted(), third.said?.toSorted(), 'and what the list of grants says')

  prepare()
  t.same(inputs(await oneRun(service)), [], 'all that was learned goes unasked')
  t.equal(readFileSync(at('status.md'), 'utf8'), 'run 4')
  t.match(readFileSync(at('log.txt'), 'utf8'), '1 2 3 4 end')

  writeFileSync(at('inbox.txt'), 'inbox')
  writeFileSync(at('done.txt'), 'of a person')
  const others = await oneRun(service, deny)
  t.same(inputs(others), [
    'notes/mine.md', 'notes/new.txt', 'notes/deep/new.md', 'notes/mine.md', 'inbox.txt', 'inbox.txt', 'notes/mine.md', 'echo y'
  ])
  t.match(others.asked[0], { reason: /notes\/mine\.md" was not made by this task, or was changed since it wrote it/ })
  t.equal(readFileSync(at('notes/4.md'), 'utf8'), 'its own again')
  t.equal(readFileSync(at('notes/mine.md'), 'utf8'), 'mine')
  t.equal(readFileSync(at('done.txt'), 'utf8'), 'of a person')
})

const approval = { mode: 'first_n', firstN: 1 }

t.test('a task rewrites its own file unasked until a person changes it, removes it or puts another in its place', async (t) => {
  let attempt: Call[] = []
  const service = await begin(t, (n) => n === 1 ? [[write('status.md', 'one'), write('status.md', 'two')]] : attempt, { approval })
  const { at, app, grants } = service
  const first = await oneRun(service)
  t.equal(first.asked.length, 2)
  t.match(first.learned, { grants: [{ text: /status\.md", with any content, where there is nothing, or what this task made/ }] })
  t.equal(first.learned.grants.length, 1, 'what the first call of a step leaves is no file of others to the second')

  const unasked = async (content: string) => {
    attempt = [write('status.md', content)]
    const { asked } = await oneRun(service, deny)
    return asked.length === 0 && readFileSync(at('status.md'), 'utf8') === content
  }
  t.ok(await unasked('three'))
  t.ok(await unasked('four'), 'again and again')
  writeFileSync(at('status.md'), 'my notes')
  t.notOk(await unasked('five'), 'a person changed it')
  t.equal(readFileSync(at('status.md'), 'utf8'), 'my notes')
  writeFileSync(at('status.md'), 'four')
  t.ok(await unasked('six'), 'a person put back what the task had left')
  rmSync(at('status.md'))
  t.ok(await unasked('seven'), 'nothing is there')
  writeFileSync(at('mine.md'), 'seven')
  rmSync(at('status.md'))
  symlinkSync('mine.md', at('status.md'))
  t.notOk(await unasked('eight'), 'it leads to another file')
  t.equal(readFileSync(at('mine.md'), 'utf8'), 'seven')

  rmSync(at('status.md'))
  const [{ grantId }] = await grants()
  await app.inject({ method: 'DELETE', url: `/grants/${grantId}` })
  t.notOk(await unasked('nine'), 'what was learned was taken back')
})

t.test('an answer with a scope, once included, teaches nothing, and the answer says so', async (t) => {
  const usual: Call[] = [write('once.md', 'x'), write('till.md', 'x'), ['runCommand', { command: 'echo x' }]]
  const service = await begin(t, () => usual, { approval })
  const answers = [{ approved: true, scope: 'once' }, { approved: true, scope: 'exact', until: { uses: 1 } }, { approved: true }]
  const { learned } = await oneRun(service, () => answers.shift()!)
  t.match(learned, { inForce: true, grants: [{ toolName: 'runCommand' }] })
  t.equal(learned.grants.length, 1)
  const { asked } = await oneRun(service, deny)
  t.same(inputs({ asked }), ['once.md'], 'the second one has a grant for one use')
  t.same(inputs(await oneRun(service, deny)), ['once.md', 'till.md'])
})

t.test('what programs obey is learned with the same content alone, and a file of others where a person let it be changed', async (t) => {
  let attempt: Call[] = [write('Makefile', 'all:'), write('list.md', 'of the task')]
  const service = await begin(t, () => attempt, { approval })
  writeFileSync(service.at('list.md'), 'of a person')
  const { learned } = await oneRun(service)
  t.match(learned.grants.map(({ text }: { text: string }) => text), [
    /^write a file, with exactly .*all:/,
    /^write a file: ".*list\.md", with any content, whatever is there then$/
  ])
  writeFileSync(service.at('list.md'), 'of a person again')
  attempt = [write('Makefile', 'all:'), write('Makefile', 'all: ; curl evil'), write('list.md', 'of the task again')]
  t.same((await oneRun(service, deny)).asked.map(({ input }) => input.content), ['all: ; curl evil'])
  t.equal(readFileSync(service.at('list.md'), 'utf8'), 'of the task again')
})

t.test('a file that comes or changes between the check and the write stays as it is', async (t) => {
  let attempt: Call[] = [write('notes/1.md', 'x'), write('notes/2.md', 'x')]
  const service = await begin(t, () => attempt, { approval })
  const { at, app } = service
  await oneRun(service)
  const swap = (content: string) => {
    const { keep } = app.undo
    t.capture(app.undo, 'keep', async (call: Parameters<typeof keep>[0]) => {
      const kept = await keep(call)
      for (const { path } of call.places ?? []) {
        writeFileSync(`${path}.tmp`, content)
        renameSync(`${path}.tmp`, path)
      }
      return kept
    })
  }
  swap('of a person')
  attempt = [write('notes/3.md', 'y')]
  t.same(inputs(await oneRun(service, deny)), ['notes/3.md'])
  attempt = [write('notes/1.md', 'y')]
  t.same(inputs(await oneRun(service, deny)), ['notes/1.md'])
  t.same(['notes/3.md', 'notes/1.md'].map((path) => readFileSync(at(path), 'utf8')), ['of a person', 'of a person'])
})

t.test('of tools of servers and applications, equal inputs are learned', async (t) => {
  let attempt: Call[] = [['echo', { message: 'x' }], ['saveDocument', { name: 'Budget' }]]
  const service = await begin(t, () => attempt, { approval, options: OPTIONS })
  await connect(service.app, misbehaving('odd', [], { approval: 'always' }))
  const { asked, learned } = await oneRun(service)
  t.equal(asked.length, 2)
  t.match(learned.grants.map(({ text }: { text: string }) => text), [/^use echo, with exactly “message: x”/, /^use saveDocument/])
  attempt = [...attempt, ['echo', { message: 'y' }], ['saveDocument', { name: 'Salaries' }]]
  t.same((await oneRun(service, deny)).asked.map(({ input }) => input), [{ message: 'y' }, { name: 'Salaries' }])
})
