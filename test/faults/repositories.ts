import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { App } from '../../app.ts'
import { newId } from '../../services/lib/ids.ts'
import { runOf, undo } from '../harness/undo.ts'
import type { openUndo } from '../services/undo/helper.ts'
import { cloneOf } from './random-trees.ts'

type Undo = Awaited<ReturnType<typeof openUndo>>

/** Nothing of the machine's own settings, and no editor. */
const ENV = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_EDITOR: 'true'
}
/** How a command of a run begins, which has an environment of its own. */
const SETTINGS = 'export GIT_CONFIG_GLOBAL=/dev/null GIT_EDITOR=true; G() { git -c protocol.file.allow=always -c gc.auto=0 "$@"; }; '

function shell (cwd: string, command: string): string {
  const { status, stdout, stderr } = spawnSync('bash', ['-c', SETTINGS + command], { cwd, env: ENV, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command}: ${stdout}${stderr}`)
  return stdout
}

/** Lays two commits, a branch that conflicts with them, a tag, a stash, a bare repository and a submodule's source. */
export function layRepositories (cwd: string): string {
  mkdirSync(cwd)
  shell(cwd, `
    G init -qb main . && G config user.email p@example.com && G config user.name P
    echo milk > list.txt; echo one > a.txt; mkdir sub; echo deep > sub/deep.txt; : > empty.txt
    G add . && G commit -qm one
    G checkout -qb other && echo other > a.txt && G commit -qam other
    G checkout -q main && echo two > b.txt && G add . && G commit -qm two && G tag v1
    echo kept > list.txt && G stash -q
    echo staged > staged.txt && G add staged.txt && echo changed >> sub/deep.txt
    G clone -q --bare . bare && echo bare >> .git/info/exclude && G remote add origin bare`)
  return cwd
}

/** What a command of an agent does. Each fails if git does. */
export const RUNS = {
  commit: 'echo bread > list.txt && G commit -qam agent',
  'two commits': 'echo bread > list.txt && G commit -qam agent && echo jam > list.txt && G commit -qam agent2',
  amend: 'G commit -q --amend -m amended',
  add: 'echo new > new.txt && G add new.txt staged.txt sub',
  'add again': 'echo other > staged.txt && G add staged.txt',
  branch: 'G branch made && G branch venv/build',
  'delete a branch': 'G branch -qD other',
  checkout: 'G stash -q && G checkout -q other',
  'checkout a new branch': 'G checkout -qb fresh',
  detach: 'G checkout -q --detach',
  tag: 'G tag v2 && G tag -a -m annotated v3',
  stash: 'G stash -q',
  'drop a stash': 'G stash drop -q',
  'reset hard': 'G reset -q --hard HEAD~1',
  'reset soft': 'G reset -q --soft HEAD~1',
  rebase: 'G stash -q && G checkout -q other && G rebase -q main',
  'rebase that stops': 'G stash -q && G checkout -q other && echo x > b.txt && G add . && G commit -qm x && ' +
    '! G rebase main >/dev/null 2>&1',
  merge: 'G stash -q && G merge -q --no-edit other',
  'merge that conflicts': 'G stash -q && echo mine > a.txt && G commit -qam mine && ! G merge other >/dev/null',
  'cherry-pick': 'G stash -q && G cherry-pick other >/dev/null',
  revert: 'G stash -q && G revert --no-edit HEAD >/dev/null',
  'remove and move': 'G rm -qf a.txt && G mv b.txt c.txt',
  'add a worktree': 'G worktree add -q tree other && cd tree && echo w > w.txt && G add . && G commit -qm w',
  'add a submodule': 'G submodule --quiet add $PWD/bare module && G commit -qm module',
  gc: 'G gc -q',
  'gc of all': 'G reflog expire --expire=now --all && G stash clear && G gc -q --prune=now',
  'repack and pack refs': 'G repack -qad && G pack-refs --all && G commit-graph write --reachable && G multi-pack-index write',
  'push to a bare one': 'G push -q origin main:pushed && cd bare && G branch direct',
  fetch: 'cd bare && G update-ref refs/heads/far main && cd .. && G fetch -q origin',
  notes: 'G notes add -m note',
  bisect: 'G stash -q && G bisect start -q HEAD HEAD~1 >/dev/null',
  'remove the repository': 'rm -rf .git a.txt',
  'a new repository': 'mkdir fresh && cd fresh && G init -q && echo x > x && G add . && G -c user.name=a -c user.email=a@b commit -qm x',
  clone: 'G clone -q bare copy',
  'move the git directory': 'mv .git moved.git && echo "gitdir: moved.git" > .git',
  'hash an object': 'echo lost | G hash-object -w --stdin'
}

/** What the user does afterwards. */
const USES = {
  nothing: 'true',
  'a commit': 'echo mine > own.txt && G add own.txt && G commit -qm mine',
  'git status': 'sleep 0.01; touch -d "2001-01-01" b.txt 2>/dev/null; G status >/dev/null',
  'a branch': 'G branch keep',
  'a tag': 'G tag mine',
  'a stash': 'echo more >> list.txt && G stash -q',
  gc: 'G gc -q --prune=now',
  'an edit': 'echo mine > own.txt',
  'a worktree': 'G worktree add -q --detach mine',
  'an amend': 'G commit -q --amend -m mine --allow-empty',
  fetch: 'G fetch -q origin'
}

type Sequence = [run: keyof typeof RUNS, use: keyof typeof USES]

const runs = Object.keys(RUNS) as Array<keyof typeof RUNS>
const uses = (Object.keys(USES) as Array<keyof typeof USES>).slice(1)
/** Conflicts and rebases that stopped allow no commit; without a repository nothing can be used. */
const WITHOUT: Array<keyof typeof RUNS> = ['remove the repository', 'rebase that stops', 'merge that conflicts']
const usesFor = (at: number) => [uses[at % uses.length], ...at % 3 === 0 ? [uses[(at + 5) % uses.length]] : []]
/** Each run with nothing after it, and all but some with one or two uses. */
export const SEQUENCES: Sequence[] = runs.flatMap((run, at): Sequence[] => [
  [run, 'nothing'],
  ...WITHOUT.includes(run) ? [] : usesFor(at).map((use): Sequence => [run, use]),
  ...run === 'commit' ? uses.map((use): Sequence => [run, use]) : []
])

const FOLDERS = ['.', 'bare']
const isRepository = (cwd: string, folder: string): boolean => existsSync(join(cwd, folder, folder === '.' ? '.git' : 'HEAD'))

/** Refs, HEAD and index of a repository; '' where there is none. */
const repositoryState = (cwd: string, folder: string): string =>
  isRepository(cwd, folder) ? shell(join(cwd, folder), 'G for-each-ref; cat $(G rev-parse --git-dir)/HEAD; G ls-files -s 2>/dev/null') : ''

/** An agent's command, a use by the user, and an undo: each repository is as before the run, or left alone, and nobody lost anything. */
export async function survivesUse (t: Test, app: App & { cwd: string }, template: string, [run, use]: Sequence): Promise<void> {
  const cwd = mkdtempSync(join(realpathSync(app.cwd), 'r-'))
  cpSync(template, cwd, { recursive: true, preserveTimestamps: true })
  const look = () => FOLDERS.map((folder) => repositoryState(cwd, folder))
  const before = look()
  const runId = await runOf(app, `run \`${SETTINGS}${RUNS[run]}\``, { context: { cwd } })
  const left = look()
  shell(cwd, USES[use])
  const used = look()
  const objects = objectsOf(cwd)
  const { restored, skipped } = await undo(app, runId)

  const isLeft = skipped.some(({ reason }) => reason === 'repository-used-since')
  t.same(skipped.filter(({ reason }) => reason === 'failed'), [])
  for (const [at, state] of look().entries()) {
    // A worktree has a HEAD and an index in the git directory, which are not among these.
    const mayBeUsed = ['git status', 'gc', 'a worktree'].includes(use) || used[at] !== left[at]
    if (!mayBeUsed || state !== used[at] || left[at] === before[at]) t.equal(state, used[at] === left[at] ? before[at] : used[at])
    else t.ok(isLeft, 'the answer says that it was left alone')
  }
  if (use === 'an edit' || use === 'a commit') t.equal(readFileSync(join(cwd, 'own.txt'), 'utf8'), 'mine\n')
  areWhole(t, cwd)
  const isGone = restored.some((path) => path.endsWith('moved.git'))
  if (!isGone) t.same([...objects].filter((object) => !objectsOf(cwd).has(object)), [], 'no object is gone')
}

/** The names of all objects of the repository. */
const objectsOf = (cwd: string): Set<string> =>
  new Set(isRepository(cwd, '.') ? shell(cwd, 'G cat-file --batch-all-objects --batch-check="%(objectname)"').split('\n') : [])

/** An agent's command in a clone, taken over into the folder, and taken back: each repository is that of the clone, then as before. */
export async function survivesTakeOver (t: Test, { undo, work }: Undo, template: string, run: string): Promise<void> {
  const cwd = mkdtempSync(join(work, 'r-'))
  cpSync(template, cwd, { recursive: true, preserveTimestamps: true })
  const clone = `${cwd}-clone`
  const look = (folder: string) => FOLDERS.map((each) => repositoryState(folder, each))
  const before = look(cwd)
  const compare = await cloneOf(cwd, clone)
  shell(clone, RUNS[run as keyof typeof RUNS])
  const { applyId, skipped } = await undo.takeOver(await compare('clone'), {}, { of: newId(), folder: clone, real: cwd, owner: 'owner' })
  // Objects are never removed, and so a whole repository is not.
  const isGone = !existsSync(join(clone, '.git/objects'))
  t.same(skipped, isGone ? [{ path: join(cwd, '.git'), reason: 'repository-used-since' }] : [])
  t.same(look(cwd), isGone ? before : look(clone), 'as in the clone')
  areWhole(t, cwd)
  if (applyId === undefined) return
  t.same((await undo.takeBack(applyId, {})).skipped, [])
  t.same(look(cwd), before, 'as before')
  areWhole(t, cwd)
}

function areWhole (t: Test, cwd: string): void {
  for (const folder of FOLDERS.filter((each) => isRepository(cwd, each))) {
    const checked = spawnSync('git', ['fsck', '--full', '--no-dangling'], { cwd: join(cwd, folder), env: ENV, encoding: 'utf8' })
    t.match(checked, { status: 0, stderr: /^(?:Checking .*\s*)*$/ }, `${folder} is whole`)
    t.notMatch(checked.stdout, /missing|broken|error|bad/)
  }
}
