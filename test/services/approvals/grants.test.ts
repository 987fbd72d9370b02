import { homedir } from 'node:os'
import t from 'tap'
import type { CallFacts, Grant } from '../../../services/contracts/grant-record.ts'
import { isCovered, isProtected } from '../../../services/approvals/grants/file-place.ts'
import { covers, offeredScopes } from '../../../services/approvals/grants/grant-facts.ts'
import { createGrants } from '../../../services/approvals/grants/grants.ts'
import { mayHaveWritten } from '../../../services/approvals/grants/call-grants.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import type { Tool } from '../../../services/contracts/tool.ts'
import { OUTCOME_UNKNOWN } from '../../../services/contracts/model-texts.ts'
import { testStore } from '../../harness/store.ts'

const folder = { path: '/here', dev: '1', ino: '1' }
const facts = (more: Partial<CallFacts> = {}): CallFacts => ({ toolName: 'echo', input: {}, digest: 'd', identity: 'one', folder, ...more })
const grant = (more: Partial<Grant> = {}) =>
  ({ ...facts(), grantId: 'g', threadId: 'a', scope: 'tool', source: 'answer', text: '', uses: 0, createdAt: 0, ...more }) as Grant

t.test('a tool of a server is granted as it is described now; another definition under its name asks', async (t) => {
  const tool = { name: 'echo', widestScope: 'tool' } as Tool
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
  const tool = { name: 'echo', widestScope: 'tool' } as Tool
  const tools = { find: () => tool, identity: () => 'one', boundary: async () => undefined }
  const grants = createGrants({ store, clock: systemClock, tools, hasToken: true, largestKept: () => Infinity })
  const owner = { taskId: 'task' }
  await grants.add(owner, { taskId: 'task', toolName: 'echo', input: {}, scope: 'tool' }, { place: { folder, cwd: folder.path }, tools })
  const [given] = await grants.all(owner)
  const isUsed = await grants.use(given, async (used) => {
    await store.transact(await grants.removals(owner))
    await store.transact([used])
  })
  t.ok(isUsed, 'the call had begun')
  t.same(await grants.all(owner), [])

  await grants.add(owner, { taskId: 'task', toolName: 'echo', input: {}, scope: 'tool' }, { place: { folder, cwd: folder.path }, tools })
  const [next] = await grants.all(owner)
  await grants.removals(owner)
  t.notOk(await grants.use(next, async () => void t.fail('it was about to end')))
})

t.test('a run has written in a folder by reported changes there, and may have by a tool that reports none', async (t) => {
  const tools: Record<string, Partial<Tool>> = {
    writeFile: { effect: 'write', reportsChanges: true }, runCommand: { effect: 'external' }, look: { effect: 'read' }
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
