import { readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { openChat } from '../clients/chat.ts'
import { versions } from '../clients/versions.ts'
import { of, sayAll } from '../harness/agent.ts'
import { NO_BOX } from '../harness/boxes.ts'
import { stateOf } from '../harness/folders.ts'
import { UNASKED } from '../harness/undo.ts'
import { withGateway } from '../harness/with-gateway.ts'

type Call = [toolName: string, input: object]
const FILES: Record<string, string> = {
  'edited.txt': 'one\ntwo\n',
  'deleted.txt': 'bye\n',
  'moved.txt': 'here\n',
  'written.txt': 'old\n',
  'by-command.txt': 'old\n'
}
const user = (id: string, calls: Call[]) => ({ id, role: 'user', parts: [{ type: 'text', text: JSON.stringify(calls) }] })

/** A conversation whose model makes the calls that the user's newest message names, in a folder with some files. */
async function openConversation (t: Test, config: object = {}) {
  const { app, gateway } = await withGateway(t, ({ body }) => {
    const last = body.prompt.at(-1)
    if (last.role === 'tool') return { text: 'done' }
    const calls: Call[] = JSON.parse(last.content[0].text)
    return calls.length === 0 ? { text: 'done' } : { toolCalls: calls.map(([toolName, input]) => ({ toolName, input })) }
  }, { config: { ...UNASKED, ...config }, boxes: NO_BOX })
  const cwd = realpathSync(app.cwd)
  const at = (path: string) => join(cwd, path)
  for (const [path, content] of Object.entries(FILES)) writeFileSync(at(path), content)
  const messages = async () => (await app.inject('/threads/chat?protocol=ui')).json().messages as object[]
  /** Says something in place of the `n`-th message and all after it. */
  const edit = async (n: number, calls: Call[], extra: object = {}) => {
    const all = await messages()
    const { id } = all[n] as { id: string }
    return sayAll(app, [...all.slice(0, n), user(id, calls)], { id: 'chat', trigger: 'submit-message', messageId: id, ...extra })
  }
  return {
    app,
    prompts: () => gateway.requests.map(({ body }) => body.prompt as Array<{ role: string, content: Array<{ text?: string }> }>),
    at,
    edit,
    messages,
    state: () => stateOf(cwd),
    read: (path: string) => readFileSync(at(path), 'utf8'),
    say: (calls: Call[], extra: object = {}) =>
      sayAll(app, [user(`m${Math.random()}`, calls)], { id: 'chat', trigger: 'submit-message', ...extra })
  }
}

const FIRST: Call[] = [
  ['writeFile', { path: 'written.txt', content: 'first' }],
  ['writeFile', { path: 'made/new.txt', content: 'new' }],
  ['editFile', { path: 'edited.txt', edits: [{ oldText: 'one', newText: '1' }] }],
  ['moveFile', { from: 'moved.txt', to: 'made/there.txt' }]
]
const SECOND: Call[] = [
  ['writeFile', { path: 'written.txt', content: 'second' }],
  ['editFile', { path: 'made/there.txt', edits: [{ oldText: 'here', newText: 'there' }] }],
  ['deleteFile', { path: 'deleted.txt' }],
  ['runCommand', { command: 'printf new > by-command.txt; mkdir made/by-command; mv edited.txt made/by-command/e.txt' }]
]

t.test('an edit that undoes leaves the folder, byte for byte, as it was before the two turns that it replaces', async (t) => {
  const { edit, say, state, messages, app } = await openConversation(t)
  await say([])
  const before = state()
  t.equal((await say(FIRST)).status, 200)
  await say(SECOND)
  const after = state()
  t.notSame(after, before)

  const refused = await edit(2, [], { changes: 'ask' })
  t.match(refused, { status: 409, body: { code: 'ERR_FILES_CHANGED', changes: { skipped: [], notCoveredCount: 1, undoIds: [] } } })
  const { restored, restoredCount } = refused.body.changes
  t.equal(restored.length, restoredCount)
  for (const path of Object.keys(FILES)) t.ok(restored.some((each: string) => each.endsWith(`/${path}`)), path)
  t.same(state(), after, 'the refused message changes nothing')
  t.equal((await messages()).length, 6)

  const { events } = await edit(2, [], { changes: 'undo' })
  t.same(state(), before)
  const { undone } = of(events, 'start')[0].messageMetadata
  t.match(undone, { restoredCount, skipped: [], skippedCount: 0, undoIds: [String, String] })
  t.equal((await messages()).length, 4)
  t.same(((await messages()).at(-1) as any).metadata.undone, undone, 'the conversation keeps what was undone')

  for (const id of undone.undoIds.toReversed()) await app.inject({ method: 'POST', url: `/runs/${id}/undo` })
  t.same(state(), after, 'and the undos can be undone, the last one first')
})

t.test('files that somebody changed meanwhile stay, and the answer names them with the reason', async (t) => {
  const { edit, say, at, read } = await openConversation(t)
  await say(FIRST)
  await say(SECOND)
  writeFileSync(at('written.txt'), 'mine')
  const { events } = await edit(0, [], { changes: 'undo' })
  t.match(of(events, 'start')[0].messageMetadata.undone, {
    skipped: [{ path: at('written.txt'), reason: 'changed_since' }],
    skippedCount: 1
  })
  t.equal(read('written.txt'), 'mine')
  for (const [path, content] of Object.entries(FILES)) if (path !== 'written.txt') t.equal(read(path), content, path)
})

t.test('nothing is asked where nothing can be undone, and by default the files stay', async (t) => {
  const { edit, say, state, at, read, messages } = await openConversation(t)
  await say([['writeFile', { path: 'written.txt', content: 'new' }]])
  const after = state()
  t.equal((await say([], { changes: 'ask' })).status, 200, 'a new message replaces nothing')
  const reading: Call[] = [['readFile', { path: 'written.txt' }]]
  t.equal((await edit(2, reading, { changes: 'ask' })).status, 200, 'nor does one whose answer changed nothing')
  t.equal((await edit(0, [])).status, 200)
  t.same(state(), after)
  t.equal((await edit(0, [], { changes: 'ask' })).status, 200, 'the run whose files stayed was replaced before')

  await say([['writeFile', { path: 'written.txt', content: 'newer' }]])
  writeFileSync(at('written.txt'), 'mine')
  t.equal((await edit(2, [], { changes: 'ask' })).status, 200)
  t.equal(read('written.txt'), 'mine')
  t.equal((await messages()).length, 4)
})

t.test('a run that waits is withdrawn only by a message that is taken, and its changes are undone', async (t) => {
  const { edit, say, read, app } = await openConversation(t, { permissions: { writeFile: 'allow', deleteFile: 'ask' } })
  await say([['writeFile', { path: 'written.txt', content: 'new' }], ['deleteFile', { path: 'deleted.txt' }]])
  const waiting = async () => (await app.inject('/approvals')).json().approvals.length
  t.equal(await waiting(), 1)
  t.match(await edit(0, [], { changes: 'ask' }), { status: 409, body: { code: 'ERR_FILES_CHANGED', changes: { restoredCount: 1 } } })
  t.equal(await waiting(), 1)
  t.equal((await edit(0, [], { changes: 'undo', dryRun: true })).status, 400)
  t.match(await edit(0, [], { changes: 'undo', waiting: 'keep' }), { status: 409, body: { code: 'ERR_CONVERSATION_WAITS' } })
  t.equal(read('written.txt'), 'new', 'nothing is undone for a message that is refused')
  t.equal((await edit(0, [], { changes: 'undo' })).status, 200)
  t.equal(read('written.txt'), 'old\n')
  t.equal(await waiting(), 0)
})

t.test('what was applied from a copy is taken out of the folder too', async (t) => {
  const { edit, say, app, state } = await openConversation(t)
  t.teardown(() => rmSync(`${app.home}-copies`, { recursive: true, force: true }))
  const onCopy = { options: { workspace: 'copy' } }
  const before = state()
  const { events } = await say([['writeFile', { path: 'written.txt', content: 'new' }], ['deleteFile', { path: 'deleted.txt' }]], onCopy)
  const { runId } = of(events, 'start')[0].messageMetadata
  const applied = await app.inject({ method: 'POST', url: `/runs/${runId}/apply` })
  t.match(applied.json(), { applied: { length: 2 } })
  const edited = await edit(0, [], { changes: 'undo', ...onCopy })
  t.match(of(edited.events, 'start')[0].messageMetadata.undone, { restoredCount: 2, skipped: [], undoIds: [String, String] })
  t.same(state(), before)
  await app.inject({ method: 'POST', url: `/runs/${runId}/apply` })
  t.same(state(), before, 'nor is it in the copy')
})

t.test('a command that still runs keeps its files, and the message, until it is stopped', async (t) => {
  const { edit, say, app, read } = await openConversation(t)
  await say([['writeFile', { path: 'written.txt', content: 'new' }]])
  await say([['runCommand', { command: 'sleep 600', background: true }]])
  t.match(await edit(0, [], { changes: 'undo' }), { status: 409, body: { code: 'ERR_COMMAND_RUNS' } })
  t.equal(read('written.txt'), 'new', 'nothing is undone by half')
  const [{ commandId, runId }] = (await app.inject('/commands')).json().commands
  await app.inject({ method: 'POST', url: `/commands/${commandId}/stop` })
  await app.undo.settled(runId)
  t.equal((await edit(0, [], { changes: 'undo' })).status, 200)
  t.equal(read('written.txt'), 'old\n')
})

for (const version of [versions[0], versions.at(-1)!]) {
  t.test(`a chat of the AI SDK ${version.name} asks for it with a field of the body`, async (t) => {
    const { app, read, state } = await openConversation(t)
    const before = state()
    const { chat, errors } = await openChat(app, version, { id: 'chat' })
    await chat.sendMessage({ text: JSON.stringify(FIRST.slice(0, 2)) })
    t.equal(read('written.txt'), 'first')
    await chat.regenerate({ body: { changes: 'ask' } })
    t.match(errors.at(-1)?.message, /ERR_FILES_CHANGED/)
    await chat.sendMessage({ text: '[]', messageId: chat.messages[0].id }, { body: { changes: 'undo' } })
    t.same(state(), before)
    t.match(chat.messages.at(-1)!.metadata, { undone: { restoredCount: 2, skippedCount: 0 } })
  })
}

t.test('the answer of run/sync says what was undone', async (t) => {
  const { app, read } = await openConversation(t)
  const said = { role: 'user', content: JSON.stringify(FIRST.slice(0, 1)) }
  const sync = async (fields: object) =>
    (await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'plain', ...fields } })).json()
  await sync({ messages: [said] })
  t.equal(read('written.txt'), 'first')
  const { undone } = await sync({ messages: [said], trigger: 'regenerate-message', changes: 'undo' })
  t.match(undone, { restoredCount: 1, skipped: [] })
})

t.test('a single message with the id of an earlier one is an edit of it, whatever came before', async (t) => {
  const { app, messages, prompts, read } = await openConversation(t)
  const write = (content: string): Call[] => [['writeFile', { path: 'written.txt', content }]]
  const send = async (id: string, calls: Call[], extra: object = {}) => {
    const payload = { id: 'chat', message: user(id, calls), ...extra }
    return (await app.inject({ method: 'POST', url: '/run/sync', payload })).json()
  }
  await send('m1', [])
  await send('m2', write('first'))
  t.match(await send('m2', write('second'), { changes: 'ask' }), { code: 'ERR_FILES_CHANGED' })
  t.match(await send('m2', write('second'), { changes: 'undo' }), { undone: { restoredCount: 1 } })
  t.equal(read('written.txt'), 'second')
  t.same((await messages()).flatMap(({ id, role }: any) => role === 'user' ? id : []), ['m1', 'm2'])
  const { versions } = (await app.inject('/threads/chat/versions')).json()
  t.equal(versions.length, 1, 'what stood there before is a version of the message')

  for (const fields of [{ message: user('m2', []) }, { messages: [user('m2', [])] }]) {
    await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', ...fields } })
    const said = prompts().at(-1)!.filter(({ role }) => role !== 'system').map(({ role, content }) => [role, content[0].text])
    t.same(said, [['user', '[]'], ['assistant', 'done'], ['user', '[]']], 'the model reads what came before it, too')
  }
})
