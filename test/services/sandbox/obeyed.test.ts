import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { createBoxedGit } from '../../../services/sandbox/boxed-git.ts'
import { checkObeyed } from '../../../services/sandbox/check-obeyed.ts'
import type { StateShelf, StoredState } from '../../../services/sandbox/folder-checks.ts'
import { lookAtObeyed } from '../../../services/sandbox/look-at-obeyed.ts'
import { withFolder } from '../../../services/workspace/open-folder.ts'
import { BUBBLEWRAP } from '../../harness/boxes.ts'
import { build, sandboxOver } from '../tools/helper.ts'
import { WAYS as FRESH } from './cases/obeyed-ways-fresh-held.ts'
import { WAYS as HELD } from './cases/obeyed-ways-held.ts'
import { WAYS as MORE } from './cases/obeyed-ways-more.ts'
import { WAYS as OPEN } from './cases/obeyed-ways-open.ts'
import { tryWays } from './obeyed-ways.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

/** A repository of Ada with a branch `topic` that has other files of editors and agents, and commands in its box. */
function setUp (t: Test, files: Record<string, string> = {}) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'box-obeyed-')))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const work = join(base, 'work')
  const env = {
    ...{ PATH: process.env.PATH, HOME: join(base, 'home') },
    ...Object.fromEntries(['AUTHOR', 'COMMITTER'].flatMap((who) => [[`GIT_${who}_NAME`, 'Ada'], [`GIT_${who}_EMAIL`, 'ada@example.com']]))
  }
  mkdirSync(env.HOME, { recursive: true })
  mkdirSync(work)
  const user = (command: string) => execFileSync('bash', ['-c', command], { cwd: work, env, stdio: ['ignore', 'pipe', 'pipe'] }).toString()
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(work, name)), { recursive: true })
    writeFileSync(join(work, name), text)
  }
  for (const [name, text] of Object.entries({ 'file.txt': 'one\n', 'AGENTS.md': 'be kind\n', '.vscode/settings.json': '{}\n', ...files })) {
    write(name, text)
  }
  user('git init -qb main . && git add . && git commit -qm first && git checkout -qb topic && echo "be brief" > AGENTS.md && ' +
    'echo "{ \\"a\\": 1 }" > .vscode/settings.json && echo "{}" > .vscode/tasks.json && ln -s AGENTS.md CLAUDE.md && git add . && ' +
    'git commit -qm topic && git checkout -q main')
  const { output } = build({ workspace: work, environment: env, boxes: BUBBLEWRAP })
  const read = (name: string) => readFileSync(join(work, name), 'utf8')
  return { work, env, user, write, read, run: (command: string) => output('runCommand', { command }), output }
}

t.test('of some ways none has the user run what a command in the box left', { skip }, async (t) => {
  const some = [...OPEN, ...HELD, ...MORE, ...FRESH].filter((_, at) => at % 28 === 0)
  t.same(await tryWays(some), [])
})

t.test('git may replace tracked files of editors and agents by those of older commits, and nothing else may', { skip }, async (t) => {
  const { run, read, user, work } = setUp(t)
  const switched = await run('git checkout -q topic && cat AGENTS.md CLAUDE.md')
  t.match(switched, { exitCode: 0, stdout: 'be brief\nbe brief\n', message: undefined })
  t.equal(user('git status --short'), '')
  const merged = await run('git checkout -q main && git merge -q topic && git checkout -q HEAD~1 -- AGENTS.md')
  t.match(merged, { exitCode: 0, message: undefined })
  t.equal(read('AGENTS.md'), 'be kind\n')
  user('git checkout -q HEAD -- AGENTS.md; echo "be fair" > AGENTS.md')
  t.match(await run('git commit -qam fair'), { exitCode: 0, message: undefined }, 'of the user')
  user('git reset -q --hard HEAD~1; git checkout -q HEAD~1 -- AGENTS.md')
  const stashed = await run('echo x > new.txt && git stash -qu && echo x > .envrc && git stash -qu')
  t.match(stashed, { exitCode: 0, message: /taken away: A stash .* holds what programs obey \(\.envrc\) and is refs\/boxed/ })
  t.match([user('git stash list | wc -l; git stash pop -q; cat new.txt; rm new.txt'), existsSync(join(work, '.envrc'))], ['1\nx\n', false])
  const { message } = await run('echo evil > AGENTS.md; cp .vscode/settings.json .vscode/tasks.json; git add . && git commit -qm evil')
  t.match(message, /AGENTS\.md is now AGENTS\.md\.boxed\. .*AGENTS\.md is as it was/)
  t.match(message, /A commit .*\.git holds what programs obey: \.vscode\/tasks\.json, AGENTS\.md\. It comes .* reset --hard of the user/)
  t.match([read('AGENTS.md'), read('.vscode/tasks.json'), read('AGENTS.md.boxed')], ['be kind\n', '{}\n', 'evil\n'])
  // A commit of an earlier command is none that the repository had.
  t.match(await run('git stash -q'), { message: /AGENTS\.md is now AGENTS\.md\.boxed-2/ })
  t.match(await run('git reset -q --hard HEAD~1 && git worktree add -q tree topic && cat tree/AGENTS.md; git worktree remove tree'), {
    stdout: 'be brief\n', message: undefined
  })
  // One of the user is, upon that of a command, too.
  user('git checkout -q topic && git commit -q --allow-empty -m mine && echo "be short" > AGENTS.md && git commit -qam short')
  t.match(await run('git checkout -q main; git checkout -q topic'), { message: undefined })
  t.equal(read('AGENTS.md'), 'be short\n')
  await run('mkdir deep constructor; cp AGENTS.md deep/AGENTS.md; cp AGENTS.md constructor; ln -s ../file.txt deep/GEMINI.md; ' +
    'mkdir -p new/.vscode docs; echo "{}" > new/.vscode/settings.json; tee mcp.json docs/crush.md docs/cursor.md < file.txt')
  t.same(['mcp.json', 'docs/crush.md', 'docs/cursor.md'].map(read), ['one\n', 'one\n', 'one\n'], 'pages about agents stay')
  t.same(['deep/AGENTS.md', 'constructor/AGENTS.md', 'new/.vscode', 'deep/GEMINI.md'].filter((name) => existsSync(join(work, name))), [])
})

t.test('hooks and stopped rebases of the user go on as they were', { skip }, async (t) => {
  const { run, user, write, work } = setUp(t)
  write('.git/hooks/pre-commit', '#!/bin/sh\necho checked >&2\n')
  user('chmod +x .git/hooks/pre-commit; echo two >> file.txt; git commit -qam two; ' +
    'GIT_SEQUENCE_EDITOR="sed -i \'1ibreak\\nexec echo hello\'" git rebase -q -i HEAD~1')
  const stopped = await run('git status | head -1; git log --oneline | wc -l')
  t.match(stopped, { stdout: /interactive rebase in progress[\s\S]*1\n$/, message: undefined })
  const continued = await run('echo x > x; git add x; git commit -qm x; git rebase --continue')
  t.match(continued, { exitCode: 0, stderr: /checked[\s\S]*hello/, message: undefined })
  t.equal(user('git log --format=%s'), 'two\nx\nfirst\n')

  const begin = 'GIT_SEQUENCE_EDITOR="sed -i 1ibreak" git rebase -q -i HEAD~1'
  const { message } = await run(`${begin}; echo "exec touch evil" >> .git/rebase-merge/git-rebase-todo`)
  t.match(message, /rebase of .*\.git was aborted: it would have run or brought exec touch evil\./)
  t.notOk(existsSync(join(work, '.git/rebase-merge')))
  t.equal(user('git status --short --branch'), '## main\n')
})

t.test('what a killed service left is put back before another command runs, and what overlaps counts as one', { skip }, async (t) => {
  const { work, env, user, read, output } = setUp(t)
  const states = new Map<string, string>()
  const begun: string[] = []
  const shelf: StateShelf = {
    begin: async (_, what) => void begun.push(what),
    put: async (state) => void states.set(state.folder, JSON.stringify(state)),
    drop: async (folder) => void states.delete(folder),
    async * list () {
      for (const text of [...states.values()]) yield JSON.parse(text) as StoredState
    }
  }
  const box = () => sandboxOver({ kind: BUBBLEWRAP, environment: () => env, shelf })
  const leaving = 'echo x > .envrc; echo evil > AGENTS.md; mkdir -p sub/.git/hooks; echo x > sub/.git/hooks/post-commit'
  const killed = await withFolder(work, (folder) => box().start(leaving, { folder, cwd: work }))
  await killed.child.exited
  t.equal(states.size, 1)
  const taken: string[] = []
  const tell = async (_: unknown, sentences: string[]) => void (t.equal(states.size, 1, 'not before it is told'), taken.push(...sentences))
  await box().finishCut(tell)
  t.match(taken.join(' '), /\.envrc is now \.envrc\.boxed/)
  t.same([read('AGENTS.md'), existsSync(join(work, '.envrc')), existsSync(join(work, 'sub/.git/hooks/post-commit')), states.size],
    ['be kind\n', false, false, 0])

  const { commandId } = await output('runCommand', {
    command: 'while :; do [ -e sub/.envrc ] || echo x > sub/.envrc; sleep 0.05; done', background: true
  })
  await output('runCommand', { command: 'until [ -e .envrc ]; do sleep 0.02; done; cp .envrc .envrc', cwd: 'sub' })
  await output('stopCommand', { commandId })
  t.notOk(existsSync(join(work, 'sub/.envrc')))
  t.equal(user('ls -A sub | grep -c "^.envrc$" || true'), '0\n')
})

t.test('what a person changes where the box is read-only stays, and what a tool writes', { skip }, async (t) => {
  const { write, read, output, user, work } = setUp(t)
  write('GEMINI.md', 'old\n')
  write('.idea/misc.xml', 'old\n')
  const { commandId } = await output('runCommand', { command: 'until [ -e done ]; do sleep 0.05; done', background: true })
  write('GEMINI.md', 'of the person\n')
  await output('writeFile', { path: 'QWEN.md', content: 'of the tool\n' })
  await output('writeFile', { path: 'AGENTS.md', content: 'of the tool\n' })
  await output('writeFile', { path: '.zed/tasks.json', content: '[]\n' })
  // In a folder that is read-only in the box, and as git and editors do it: by another file.
  user('rm .idea/misc.xml; echo new > .idea/misc.xml; echo "[]" > .idea/new.xml; ' +
    'git remote add origin https://example.com/x.git; printf "#!/bin/sh\\n" > .git/hooks/post-merge')
  const { message } = await output('stopCommand', { commandId })
  t.notMatch(message, /boxed/)
  t.same([read('.idea/misc.xml'), read('.idea/new.xml'), user('git remote'), existsSync(join(work, '.git/hooks/post-merge'))],
    ['new\n', '[]\n', 'origin\n', true])
  const left = ['GEMINI.md', 'QWEN.md', 'AGENTS.md', '.zed/tasks.json'].map(read)
  t.same(left, ['of the person\n', 'of the tool\n', 'of the tool\n', '[]\n'])
})

t.test('a walk that cannot end is told, and new git directories get another name', { skip }, async (t) => {
  const { work, user } = setUp(t)
  const before = await lookAtObeyed(work, { home: '/nowhere' })
  user('git init -q later; mkdir -p many/$(seq -s / 30)')
  const limits = { entries: 20, ms: 20_000 }
  const { taken } = await checkObeyed(before, {
    ...{ withFolder, git: createBoxedGit(undefined), readOnly: new Map<string, string>(), ends: [] },
    ...{ begin: async () => {}, linkable: () => [], limits }
  })
  t.match(taken.join(' '), /Not all of ".*" could be looked at: it has more than 20 entries/)
  t.notOk(existsSync(join(work, 'later/.git')) && taken.length < 2)
})
