import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from 'node:fs'
import t from 'tap'
import type { App } from '../../app.ts'
import { say } from '../harness/agent.ts'
import { calling } from '../harness/effects.ts'
import { taskWaiting } from '../harness/approval-doors.ts'
import { build } from '../harness/helper.ts'

type Test = Parameters<typeof build>[0]
type Calls = Parameters<typeof calling>

const open = async (app: App) => (await app.inject('/approvals')).json().approvals
const decide = async (app: App, approvalId: string, payload: object = { approved: true }) =>
  (await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload })).json()
const write = (path: string, content: string) => ({ toolName: 'writeFile', input: { path, content } })
const edit = (path: string, oldText: string, newText: string) =>
  ({ toolName: 'editFile', input: { path, edits: [{ oldText, newText }] } })

/** A service whose model makes the calls in one step; they wait for approval. `prepare` lays the files. */
async function waiting (t: Test, prepare: (cwd: string) => void, ...calls: Calls) {
  const app = await build(t, { config: calling(...calls) })
  prepare(app.cwd)
  await say(app, 'go', { id: 'chat' })
  const at = (path: string) => `${app.cwd}/${path}`
  const read = (path: string) => readFileSync(at(path), 'utf8')
  return { app, at, read, ids: (await open(app)).map(({ approvalId }: { approvalId: string }) => approvalId) as string[] }
}

/** Waits until the run has ended or asks again, and returns what is open then. */
async function settled (app: App) {
  const { runs: [{ runId }] } = (await app.inject('/runs')).json()
  await app.inject(`/runs/${runId}?waitMs=20000`)
  return open(app)
}

t.test('what was written after the question is not overwritten: the call is asked anew, with the new difference', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\n'), write('a.txt', 'mine\n'))
  writeFileSync(at('a.txt'), 'theirs\n')
  t.match(await decide(app, id), { state: 'approved', continued: true })
  const [again] = await settled(app)
  t.equal(read('a.txt'), 'theirs\n')
  t.match(again, {
    toolCallId: String,
    note: `"${at('a.txt')}" changed after this was asked. The call was not run; look at what it would change now.`
  })
  t.notOk('unboundOffered' in again)
  t.match((await app.inject(`/approvals/${again.approvalId}/preview`)).json().changes[0].diff, /-theirs\n\+mine/)
  await decide(app, again.approvalId)
  t.same(await settled(app), [])
  t.equal(read('a.txt'), 'mine\n')
})

t.test('a log that grows is asked three times, and the third may be given for whatever is there', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, (cwd) => writeFileSync(`${cwd}/x.log`, '1\n'), write('x.log', 'cleared\n'))
  const grow = (line: string) => writeFileSync(at('x.log'), `${line}\n`, { flag: 'a' })
  t.match(await decide(app, id, { approved: true, unbound: true }), { code: 'ERR_GRANT_REFUSED' }, 'not offered yet')
  grow('2')
  await decide(app, id)
  const [second] = await settled(app)
  grow('3')
  await decide(app, second.approvalId)
  const [third] = await settled(app)
  t.match(third, { unboundOffered: true })
  grow('4')
  await decide(app, third.approvalId, { approved: true, unbound: true })
  t.same(await settled(app), [])
  t.equal(read('x.log'), 'cleared\n')
  const { runs: [{ runId }] } = (await app.inject('/runs')).json()
  await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload: {} })
  t.equal(read('x.log'), '1\n2\n3\n4\n', 'what was there then can be had back')
})

t.test('a decision with the digest of a preview is bound to what the preview showed', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\n'), write('a.txt', 'mine\n'))
  writeFileSync(at('a.txt'), 'two\n')
  const { previewDigest } = (await app.inject(`/approvals/${id}/preview`)).json()
  await decide(app, id, { approved: true, previewDigest })
  t.same(await settled(app), [], 'the person saw what is there')
  t.equal(read('a.txt'), 'mine\n')
})

t.test('a decision with the digest of a preview is asked anew when that has changed', async (t) => {
  const other = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\n'), write('a.txt', 'mine\n'))
  const seen = (await other.app.inject(`/approvals/${other.ids[0]}/preview`)).json()
  writeFileSync(other.at('a.txt'), 'two\n')
  await decide(other.app, other.ids[0], { approved: true, previewDigest: seen.previewDigest })
  t.equal((await settled(other.app)).length, 1)
  t.equal(other.read('a.txt'), 'two\n')
})

t.test('a decision with the digest of a preview is asked anew when the file is again as it was asked', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\n'), write('a.txt', 'mine\n'))
  writeFileSync(at('a.txt'), 'two\n')
  const { previewDigest } = (await app.inject(`/approvals/${id}/preview`)).json()
  writeFileSync(at('a.txt'), 'one\n')
  await decide(app, id, { approved: true, previewDigest })
  t.equal((await settled(app)).length, 1)
  t.equal(read('a.txt'), 'one\n')
})

type Act = (cwd: string) => unknown
const CHANGES: Array<[what: string, prepare: Act, call: Calls[0], change: Act, untouched: Act]> = [
  [
    'other permissions', (cwd) => writeFileSync(`${cwd}/a.sh`, 'echo\n'), write('a.sh', 'mine\n'),
    (cwd) => chmodSync(`${cwd}/a.sh`, 0o755), (cwd) => readFileSync(`${cwd}/a.sh`, 'utf8') === 'echo\n'
  ],
  [
    'a folder that another took the place of', (cwd) => mkdirSync(`${cwd}/in`), write('in/a.txt', 'mine\n'),
    (cwd) => {
      renameSync(`${cwd}/in`, `${cwd}/was`)
      mkdirSync(`${cwd}/in`)
    },
    (cwd) => !existsSync(`${cwd}/in/a.txt`) && !existsSync(`${cwd}/was/a.txt`)
  ],
  [
    'a folder that became a link', (cwd) => mkdirSync(`${cwd}/in`) ?? mkdirSync(`${cwd}/elsewhere`), write('in/a.txt', 'mine\n'),
    (cwd) => rmSync(`${cwd}/in`, { recursive: true }) ?? symlinkSync(`${cwd}/elsewhere`, `${cwd}/in`),
    (cwd) => readdirSync(`${cwd}/elsewhere`).length === 0
  ],
  [
    'a file that became a link', (cwd) => writeFileSync(`${cwd}/a.txt`, 'x') ?? writeFileSync(`${cwd}/b.txt`, 'b\n'),
    write('a.txt', 'mine\n'),
    (cwd) => rmSync(`${cwd}/a.txt`) ?? symlinkSync('b.txt', `${cwd}/a.txt`),
    (cwd) => readFileSync(`${cwd}/b.txt`, 'utf8') === 'b\n'
  ],
  [
    'a new file where none was', () => {}, write('a.txt', 'mine\n'),
    (cwd) => writeFileSync(`${cwd}/a.txt`, 'theirs\n'), (cwd) => readFileSync(`${cwd}/a.txt`, 'utf8') === 'theirs\n'
  ],
  [
    'a changed line elsewhere in a file to edit', (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\ntwo\n'), edit('a.txt', 'two', '2'),
    (cwd) => writeFileSync(`${cwd}/a.txt`, 'eins\ntwo\n'), (cwd) => readFileSync(`${cwd}/a.txt`, 'utf8') === 'eins\ntwo\n'
  ],
  [
    'a file to delete', (cwd) => writeFileSync(`${cwd}/a.txt`, 'old'), { toolName: 'deleteFile', input: { path: 'a.txt' } },
    (cwd) => writeFileSync(`${cwd}/a.txt`, 'new'), (cwd) => existsSync(`${cwd}/a.txt`) && readFileSync(`${cwd}/a.txt`, 'utf8') === 'new'
  ],
  [
    'a new file deep in a folder to delete', (cwd) => mkdirSync(`${cwd}/in/deep`, { recursive: true }),
    { toolName: 'deleteFile', input: { path: 'in', recursive: true } },
    (cwd) => writeFileSync(`${cwd}/in/deep/a.txt`, 'new'), (cwd) => existsSync(`${cwd}/in/deep/a.txt`)
  ],
  [
    'the target of a move', (cwd) => writeFileSync(`${cwd}/a.txt`, 'a') ?? writeFileSync(`${cwd}/b.txt`, 'b'),
    { toolName: 'moveFile', input: { from: 'a.txt', to: 'b.txt', overwrite: true } },
    (cwd) => writeFileSync(`${cwd}/b.txt`, 'new'), (cwd) => readFileSync(`${cwd}/b.txt`, 'utf8') === 'new'
  ],
  [
    'the source of a move', (cwd) => writeFileSync(`${cwd}/a.txt`, 'a'), { toolName: 'moveFile', input: { from: 'a.txt', to: 'b.txt' } },
    (cwd) => writeFileSync(`${cwd}/a.txt`, 'new'), (cwd) => !existsSync(`${cwd}/b.txt`)
  ]
]

for (const [what, prepare, call, change, isUntouched] of CHANGES) {
  t.test(`between question and answer: ${what}`, async (t) => {
    const { app, ids: [id] } = await waiting(t, prepare, call)
    change(app.cwd)
    await decide(app, id)
    const [again] = await settled(app)
    t.match(again, { note: /changed after this was asked/ })
    t.ok(isUntouched(app.cwd))
    await decide(app, again.approvalId)
    t.same(await settled(app), [], 'the second answer holds')
  })
}

t.test('two edits of one file in a step are shown and made one behind the other', async (t) => {
  const calls = [edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2')]
  const { app, read, ids } = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\ntwo\n'), ...calls)
  const { changes: [{ diff }] } = (await app.inject(`/approvals/${ids[1]}/preview`)).json()
  t.match(diff, / 1\n-two\n\+2\n/, 'the second is shown as the first leaves the file')
  for (const id of ids) await decide(app, id)
  t.same(await settled(app), [], 'none is asked again')
  t.equal(read('a.txt'), '1\n2\n')
})

t.test('the second of two edits is asked anew when the first is denied', async (t) => {
  const calls = [edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2')]
  const { app, read, ids } = await waiting(t, (cwd) => writeFileSync(`${cwd}/a.txt`, 'one\ntwo\n'), ...calls)
  await decide(app, ids[0], { approved: false })
  await decide(app, ids[1])
  const [again] = await settled(app)
  t.equal(read('a.txt'), 'one\ntwo\n')
  await decide(app, again.approvalId)
  await settled(app)
  t.equal(read('a.txt'), 'one\n2\n')
})

t.test('a person corrects the input of a call', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, () => {}, write('wrong.txt', 'text\n'))
  const input = { path: 'right.txt', content: 'better\n' }
  const correct = (payload: object) => app.inject({ method: 'POST', url: `/approvals/${id}`, payload: { approved: true, ...payload } })
  for (const [payload, message] of [
    [{ input: { path: 'right.txt' } }, /content/],
    [{ input: { path: '../../etc/x', content: '' } }, /outside/],
    [{ input, scope: 'exact' }, /once/],
    [{ input, approved: false }, /belong to the approval/]
  ] as const) {
    const refused = await correct(payload)
    t.equal(refused.statusCode, 400)
    t.match(refused.json().error, message)
  }
  const shown = (await app.inject({ method: 'POST', url: `/approvals/${id}/preview`, payload: { input } })).json()
  t.match(shown.changes, [{ path: at('right.txt'), diff: /\+better/ }])
  t.match((await correct({ input })).json(), { state: 'approved' })
  t.match((await correct({ input: { ...input, content: 'other\n' } })).json(), { code: 'ERR_APPROVAL_DECIDED' })
  t.equal((await correct({ input })).statusCode, 200, 'the same answer again')
  await settled(app)
  t.equal(read('right.txt'), 'better\n')
  t.notOk(existsSync(at('wrong.txt')))
  const thread = (await app.inject('/threads/chat')).json()
  const text = JSON.stringify(thread)
  t.match(text, /wrong\.txt/, "the model's own call stays")
  t.match(text, /ran with the user's corrected input: .*right\.txt/)
})

t.test('a corrected input is bound as others are', async (t) => {
  const { app, read, at, ids: [id] } = await waiting(t, (cwd) => writeFileSync(`${cwd}/b.txt`, 'b\n'), write('a.txt', 'a\n'))
  writeFileSync(at('b.txt'), 'shown\n')
  await decide(app, id, { approved: true, input: { path: 'b.txt', content: 'mine\n' } })
  await settled(app)
  t.equal(read('b.txt'), 'mine\n', 'it is bound to what was there when it was corrected')
  t.equal(lstatSync(at('b.txt')).isFile(), true)
})

t.test('a corrected call that is asked anew keeps its input, and gives no grant for the other one', async (t) => {
  const calls = [{ toolName: 'runCommand', input: { command: 'printf theirs > b.txt' } }, write('a.txt', 'a\n')]
  const { app, read, ids } = await waiting(t, () => {}, ...calls)
  await decide(app, ids[1], { approved: true, input: { path: 'b.txt', content: 'mine\n' } })
  await decide(app, ids[0])
  const [again] = await settled(app)
  t.equal(read('b.txt'), 'theirs', 'what the command before it wrote was not shown')
  t.match(again, { correctedInput: { path: 'b.txt' } })
  t.notOk('scopes' in again)
  t.match(await decide(app, again.approvalId, { approved: true, scope: 'exact' }), { code: 'ERR_GRANT_REFUSED' })
  await decide(app, again.approvalId)
  t.same(await settled(app), [])
  t.equal(read('b.txt'), 'mine\n')
})

t.test('a person corrects the input of a call of a task, whose model is told', async (t) => {
  const { app, go } = await taskWaiting(t)
  const { id, approvalId } = await go('write "x" to notes/a.txt')
  const input = { path: 'notes/b.txt', content: 'better' }
  t.match(await decide(app, approvalId, { approved: true, input }), { state: 'approved', continued: true })
  const { runs: [{ runId }] } = (await app.inject(`/runs?taskId=${id}`)).json()
  const run = (await app.inject(`/runs/${runId}?waitMs=20000`)).json()
  t.equal(readFileSync(`${app.cwd}/notes/b.txt`, 'utf8'), 'better')
  t.notOk(existsSync(`${app.cwd}/notes/a.txt`))
  t.match(run.toolCalls.find(({ toolName }: { toolName: string }) => toolName === 'writeFile'), {
    input: { path: 'notes/a.txt' },
    output: { ran: /corrected input: .*b\.txt/ }
  })
})
