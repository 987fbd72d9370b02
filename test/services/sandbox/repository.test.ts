import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { BUBBLEWRAP } from '../../harness/boxes.ts'
import { build } from '../tools/helper.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'

/** A repository with a worktree beside it, a submodule, and packages at its top. */
function setUp (t: Test) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'box-repository-')))
  t.teardown(() => rmSync(base, { recursive: true, force: true }))
  const env = { PATH: process.env.PATH, HOME: base, GIT_AUTHOR_NAME: 'Ada', GIT_AUTHOR_EMAIL: 'ada@example.com' }
  const named = { ...env, GIT_COMMITTER_NAME: 'Ada', GIT_COMMITTER_EMAIL: 'ada@example.com' }
  const outside = (command: string, cwd = `${base}/mono`) => execFileSync('/bin/sh', ['-c', command], { cwd, env: named }).toString()
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(base, name)), { recursive: true })
    writeFileSync(join(base, name), text)
  }
  for (const name of ['README.md', 'packages/a/index.js', 'packages/b/index.js', 'packages/b/deep/x']) write(`mono/${name}`, `${name}\n`)
  write('mono/.gitignore', 'node_modules\n.env\n')
  write('mono/.env', 'secret\n')
  write('mono/node_modules/left/index.js', 'module.exports = 7\n')
  outside('git init -qb main . && git add . && git commit -qm one')
  for (const name of ['side', 'other']) outside(`git worktree add -q ../${name} -b ${name}`)
  const files = () => outside('git status --porcelain')
  return {
    base,
    outside,
    files,
    box: (folder: string) => {
      const { output } = build({ workspace: join(base, folder), forbidden: join(base, 'own'), environment: named, boxes: BUBBLEWRAP })
      return async (command: string) => {
        const result = await output('runCommand', { command })
        return { ...result, all: `${result.stdout}${result.stderr}` }
      }
    }
  }
}

t.test('git works in a worktree whose repository lies elsewhere, and its settings and hooks stay as they are', { skip }, async (t) => {
  const { base, box, outside, files } = setUp(t)
  const run = box('side')
  t.match(await run('git status --short && git log --format=%s'), { exitCode: 0, stdout: 'one\n', message: undefined })
  const work = 'echo x > new && git add . && git commit -qm two && git switch -qc topic && git stash list && git branch -qd side -f; ' +
    'echo y > new; git stash -q; git stash pop -q; git commit -qam three; git rebase -q other; git tag v1; git gc -q; git log --format=%s'
  t.match(await run(work), { exitCode: 0, stdout: 'three\ntwo\none\n', message: undefined })
  t.equal(outside('git log --format=%s topic'), 'three\ntwo\none\n')
  t.equal(files(), '', 'the main worktree is as it was')
  t.match(await run('git worktree add -q tree -b tree && git -C tree log --format=%s && git worktree remove tree'), { exitCode: 0 })
  const git = join(base, 'mono/.git')
  const attacks = [
    'git config core.fsmonitor x', 'git remote add o x', `echo x >> ${git}/config`, `mv ${git}/config ${git}/c`, `rm -f ${git}/config`,
    `echo x > ${git}/hooks/pre-commit`, `mv ${git}/hooks ${git}/h`, `rm -rf ${git}/hooks`, `echo x > ${git}/info/attributes`,
    `echo ../../../evil > ${git}/worktrees/other/commondir`, `rm -rf ${git}/worktrees/other`, `echo x > ${git}/HEAD`,
    `echo ../../../evil > ${git}/worktrees/side/commondir`, 'echo "gitdir: /tmp" > .git', 'rm -f .git', `mv ${git} ${git}2`,
    `echo x > ${base}/mono/README.md`, `cat ${base}/mono/.env`, `cat ${base}/mono/README.md`
  ]
  for (const command of attacks) t.not((await run(command)).exitCode, 0, command)
  t.equal(files(), '')
  t.notMatch(readFileSync(join(git, 'config'), 'utf8'), /fsmonitor|remote/)
  const left = [
    [`mkdir -p ${git}/worktrees/side; echo x > ${git}/worktrees/side/config.worktree`, 'worktrees/side/config.worktree'],
    [`echo /tmp/evil > ${git}/commondir`, 'commondir'],
    [`mkdir -p ${git}/modules/x; printf '[core]\\n\\tfsmonitor = x\\n' > ${git}/modules/x/config; cd ${git}/modules/x; ` +
      'mkdir objects refs; echo "ref: refs/heads/main" > HEAD', 'modules/x/config'],
    ['git reset -q --hard; git rebase -i --exec false HEAD~2', 'worktrees/side/rebase-merge/git-rebase-todo'],
    [`ln -s /tmp ${git}/worktrees/side/hooks`, '']
  ]
  for (const [command, name] of left) {
    const { message, all } = await run(command)
    if (name === '') continue
    t.match(message, /taken away/, command + all)
    // Of a new repository harmless settings stay.
    t.notMatch(existsSync(join(git, name)) ? readFileSync(join(git, name), 'utf8') : '', /fsmonitor|evil|exec/, name)
  }
})

t.test('in a folder of a repository git sees the folder, and takes no hidden file for deleted in what it commits', { skip }, async (t) => {
  const { base, box, outside, files } = setUp(t)
  const hook = join(base, 'mono/.git/hooks/pre-commit')
  writeFileSync(hook, '#!/bin/sh\necho hooked >&2\n', { mode: 0o755 })
  const run = box('mono/packages/a')
  t.match(await run('git log --format=%s -- . && git diff --stat . && node -p "require(\'left\')"'), { exitCode: 0, stdout: 'one\n7\n' })
  t.match(await run('echo 2 > index.js; echo new > new.js; git add -A && git commit -qm two'), { exitCode: 0, stderr: /hooked/ })
  t.equal(outside('git show --name-status --format=%s | cat'), 'two\n\nM\tpackages/a/index.js\nA\tpackages/a/new.js\n')
  t.match(await run('echo 3 > index.js; git commit -qam three'), {
    exitCode: 128,
    stderr: /^Refused: this would delete files beside packages\/a, such as [\s\S]*git add \./m
  })
  t.match(await run('git status --short'), { message: /the box shows ".*\/a" alone: git takes the files beside it for deleted/ })
  t.equal(files(), ' M packages/a/index.js\n')
  t.match(await run('git stash; cat index.js; git stash pop; cat index.js'), { stdout: /^2$[\s\S]*^3$/m })
  t.equal(readFileSync(join(base, 'mono/packages/a/index.js'), 'utf8'), '3\n')
  t.match(await run('git add . && git commit -qm three && git rm -q new.js && git commit -qm four'), { exitCode: 0 })
  t.equal(files(), '')
  const inner = 'git init -qb main inner && cd inner && echo 1 > f && git add . && git commit -qm 1 && git rm -q f && git commit -qm 2'
  t.match(await run(inner), { exitCode: 0 })
  const hidden = ['ls ../b ../../README.md', 'cat ../../.env', 'echo x > ../../node_modules/left/index.js', 'echo x > ../../.git/hooks/x']
  for (const command of hidden) {
    t.not((await run(command)).exitCode, 0, command)
  }
})

t.test('a file .git that anybody wrote opens no repository of the user', { skip }, async (t) => {
  const { base, box, outside } = setUp(t)
  mkdirSync(join(base, 'fake'))
  for (const target of ['../mono/.git', '../mono/.git/worktrees/other']) {
    writeFileSync(join(base, 'fake/.git'), `gitdir: ${target}\n`)
    t.match(await box('fake')('git log'), {
      exitCode: 128,
      message: /The box hides the repository of ".*fake": its git directory does not name it/
    })
  }
  outside('git init -q home; mkdir home/work', base)
  t.match(await build({ workspace: join(base, 'home/work'), environment: { ...process.env, HOME: base }, boxes: BUBBLEWRAP })
    .output('runCommand', { command: 'git log --oneline 2>&1; ls -d ../.git' }), { stdout: /does not have any commits[\s\S]*\.git/ })
})

t.test('branches of a clone follow those of its origin, where the folder is no repository itself', { skip }, async (t) => {
  const { box, outside } = setUp(t)
  outside('mkdir ../plain && git clone -q --bare . ../plain/hub.git')
  const clone = 'git clone -q hub.git c && cd c && git checkout -q side && git rev-parse --abbrev-ref @{u}'
  t.match(await box('plain')(clone), { stdout: 'origin/side\n' })
})
