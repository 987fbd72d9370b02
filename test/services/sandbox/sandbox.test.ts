import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { macArguments } from '../../../services/sandbox/mac-box.ts'
import { makeTemporary, removeAbandoned } from '../../../services/sandbox/temporary.ts'
import { BUBBLEWRAP } from '../../harness/boxes.ts'
import { build, sandboxOver } from '../tools/helper.ts'
import { attemptHonest, HONEST } from './everyday.ts'
import { attemptApart, HOSTILE, setStage } from './stage.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'
const run = promisify(execFile)
const NOBODY = 65534

t.test('no command leaves the box, of whoever runs the service or of an ordinary user', { skip }, async (t) => {
  t.ok(Object.keys(HOSTILE).length >= 35)
  const [escapes, ofUser] = await Promise.all([attemptApart(), tryAsUser()])
  t.same(escapes, {})
  if (typeof ofUser === 'object') t.same(ofUser, { uid: NOBODY, escapes: {} })
  // Where nobody looks, half of the box would go untested without anybody knowing.
  else if (ofUser !== undefined && process.env.CI) t.fail(ofUser)
  const stage = await setStage()
  t.teardown(stage.close)
  const hide = 'mkdir many; cd many; mkdir $(seq 3100); mkdir -p z/z/.git/hooks; echo x > z/z/.git/hooks/pre-commit'
  await stage.run(hide)
  t.same(stage.traces(''), [], 'a repository that is hidden behind more folders than are searched before')
})

/** Tries the same as an ordinary user, where this is root: says why not, where that cannot be. */
async function tryAsUser (): Promise<{ uid: number, escapes: object } | string | undefined> {
  if (process.getuid!() !== 0) return undefined
  const program = fileURLToPath(new URL('as-user.ts', import.meta.url))
  const drop = ['--reuid', String(NOBODY), '--regid', String(NOBODY), '--clear-groups']
  const env = { PATH: process.env.PATH, HOME: '/nonexistent', TMPDIR: '/tmp' }
  const canRead = await run('setpriv', [...drop, process.execPath, '--check', program], { env, cwd: '/' }).then(() => true, () => false)
  if (!canRead) return `an ordinary user cannot read ${program}, so the box of one is not tested: open the folders above it`
  const { stdout } = await run('setpriv', [...drop, process.execPath, program], { env, cwd: '/', timeout: 110_000 })
  return JSON.parse(stdout)
}

t.test('the profile of macOS allows what programs need to start, and no way out of it', async (t) => {
  const dir = realpathSync(t.testdir({ work: {}, home: {}, tmp: {}, link: t.fixture('symlink', 'work') }))
  const [flag, profile] = macArguments({ environment: {}, folder: `${dir}/link`, temporary: `${dir}/tmp`, ownHome: `${dir}/home` })
  const lines = profile.split('\n')
  t.equal(flag, '-p')
  t.equal(profile.split('(').length, profile.split(')').length)
  t.match(lines, ['(version 1)', '(deny default)'])
  t.match(profile, /\(allow mach-lookup \(global-name "com\.apple\.system\.opendirectoryd\.libinfo"\)/, 'names of users')
  t.notMatch(profile, /launchservices|coreservices|securityd|pboard|cfprefsd|FSEvents|tccd|mach-lookup\)/)
  t.notMatch(profile, /"\/dev\/tty"|subpath "\/dev"|subpath "\/System"|allow network|allow default/)
  t.match(profile, `(allow file-write* (subpath "${dir}/work") (subpath "${dir}/tmp")`, 'real paths')
  const at = (words: string) => lines.findIndex((line) => line.startsWith(words))
  t.ok(at('(deny file-write*') > at('(allow file-write*'), 'later rules win')
  t.match(lines[at('(deny file-write*')], `(subpath "${dir}/work/.git/hooks")`)
  t.match(lines[at('(deny file-read*')], `(subpath "${dir}/home")`)
  t.equal(lines.at(-1), '(deny network*)')
})

t.test('a box is found by making one', { skip }, async (t) => {
  t.same(await sandboxOver({}).find(), BUBBLEWRAP, 'these tests need bubblewrap 0.8, and user namespaces')
})

t.test('everyday commands work in a box', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  await attemptHonest(t, stage, HONEST)
  t.match(readFileSync(join(stage.work, 'mine/.git/config'), 'utf8'), /pushurl = git@example\.com/)
  // The settings of submodules are the user's.
  const allowed = 'git -c protocol.file.allow=always'
  const add = `${allowed} submodule add "$PWD/copy" part/inner && git commit -qm parts && rm -r part .git/modules`
  execFileSync('sh', ['-c', add], { cwd: stage.work, stdio: 'ignore' })
  await attemptHonest(t, stage, [[`${allowed} submodule update -q && git -C part/inner log --format=%s -1`, /^second$/m]])
  t.same(stage.traces(''), [])
})

t.test('what one of two commands at once leaves for programs is taken away when the other one ends', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  const { commandId } = await stage.run('echo x > .envrc; while :; do sleep 0.1; done', { background: true })
  const second = await stage.run('until [ -e .envrc ]; do sleep 0.1; done; echo made')
  t.match(second, { stdout: 'made\n', message: /\.envrc is now \.envrc\.boxed/ })
  await stage.output('stopCommand', { commandId })
  t.same(stage.traces(''), [])
})

t.test('a command that is ended may tidy up, and a folder of the working folder is in the same box', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  const ended = await stage.run('trap "echo tidied > ../tidied; exit 3" TERM; cd .git; sleep 100 & wait', { timeoutMs: 400 })
  t.match(ended, { exitCode: 3, timedOut: true })
  t.equal(readFileSync(join(stage.work, 'tidied'), 'utf8'), 'tidied\n')
  t.match(await stage.run('pwd; cat ../file.txt; echo x > ../made && git status --short ../made', { cwd: '.vscode' }), {
    exitCode: 0,
    stdout: `${stage.work}/.vscode\none\n?? ../made\n`
  })
})

t.test('no program waits for a person: editors, pagers and questions end at once, and say what to do', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  const runs: Array<[command: string, code: number, output: RegExp]> = [
    ['echo two >> file.txt; git commit -a', 1, /No editor opens in a command\. .*give a message with -m[\s\S]*empty commit message/],
    ['git commit -qam second; git rebase -i HEAD~1', 0, /No editor opens in a command\. .*set GIT_SEQUENCE_EDITOR/],
    ['GIT_SEQUENCE_EDITOR="sed -i s/pick/drop/" git rebase -i HEAD~1; git log --oneline | wc -l', 0, /^1\n/],
    ['git commit --amend; git log -1 --format=%s', 0, /first/],
    ['git -p log --format=%s; git log --format=%s', 0, /^first\nfirst\n/],
    ['npm init; ls package.json', 0, /package\.json/],
    ['read -p "sure? " x; echo "[$x]"; $VISUAL file.txt', 0, /\[\]/]
  ]
  for (const [command, exitCode, output] of runs) {
    const result = await stage.run(command)
    t.match({ ...result, output: result.stdout + result.stderr }, { exitCode, timedOut: undefined, output }, command)
  }
})

t.test('of a folder of PATH a box shows programs and what they need, not what lies beside them', { skip }, async (t) => {
  const base = realpathSync(t.testdir({
    work: {},
    project: { bin: { tool: '#!/bin/sh\ncat "$(dirname "$0")/../lib/words"' }, lib: { words: 'words' }, '.env': 'secret' },
    go: { bin: { gofmt: '' }, src: { fmt: '' }, VERSION: '', '.env': 'secret' },
    packages: { node_modules: { '.bin': { x: t.fixture('symlink', '../x/x.js') }, x: { 'x.js': 'made' } }, '.env': 'secret' }
  }))
  chmodSync(join(base, 'project/bin/tool'), 0o755)
  const folders = ['project/bin', 'go/bin', 'packages/node_modules/.bin'].map((name) => join(base, name))
  const environment = { PATH: `${folders.join(':')}:${process.env.PATH}`, HOME: '/nowhere' }
  const { output } = build({ workspace: join(base, 'work'), environment, boxes: BUBBLEWRAP })
  const { stdout } = await output('runCommand', { command: `tool; ls ${base}/go; cat ${base}/*/.env ${base}/packages/node_modules/.bin/x` })
  t.equal(stdout, 'wordsVERSION\nbin\nsrc\nmade')
})

t.test('a result names what the box hides from a command that failed, and nothing where it did not', { skip }, async (t) => {
  const work = { '.ssh': { id: 'secret' }, sub: { '.aws': { credentials: 'secret' } }, 'a.txt': 'a' }
  const base = realpathSync(t.testdir({ beside: 'x', work }))
  const environment = { PATH: process.env.PATH, HOME: '/nowhere' }
  const { output } = build({ workspace: join(base, 'work'), environment, boxes: BUBBLEWRAP })
  const connect = (path: string) => `import socket\nsocket.socket(socket.AF_UNIX).connect("${path}")\n`
  writeFileSync(join(base, 'work/ask.py'), connect('/run/postgresql/.s.PGSQL.5432'))
  const sentences: Array<[command: string, message: RegExp]> = [
    ['cat ../beside', /^The box shows of the user's files ".*work" alone: whether .*beside is there cannot be seen in it\./],
    ['echo x > ../new', /^The box can write in ".*work", \/tmp and the home alone, not to .*new\./],
    ['echo x > /etc/new', /^The box can write in .* not to \/etc\/new\./],
    ['echo x > /run/new; ls /run/new', /^The box can write in .* not to \/run\/new\. Write into[^.]*\.$/],
    ['mkdir /new', /^The box can write in .* not to \/new\./],
    ['cat .ssh/id', /^The box hides ".*work\/\.ssh", as keys are there\./],
    ['cd sub && cat < .aws/credentials', /^The box hides ".*sub\/\.aws", as keys are there\./],
    ['echo "Cannot connect to the Docker daemon at unix:///run/docker.sock." >&2; false', /^Sockets .* such as \/run\/docker\.sock,/],
    ['curl -sS --unix-socket /run/x.sock http://x/', /^Sockets of this computer, such as \/run\/x\.sock, are not in the box\./],
    [`python3 -c '${connect('/run/x.sock')}'`, /^Sockets of this computer, such as \/run\/x\.sock, /],
    ['python3 ask.py', /^Sockets of this computer, such as \/run\/postgresql\/\.s\.PGSQL\.5432, /]
  ]
  for (const [command, message] of sentences) t.match(await output('runCommand', { command }), { exitCode: /[1-9]/, message }, command)
  const silent = ['cat nothing', 'cat /etc/nothing', 'ls -a .ssh; cat a.txt', 'no-such-program', 'echo /run/docker.sock; cat nothing']
  for (const command of silent) t.equal((await output('runCommand', { command })).message, undefined, command)
})

t.test('a box reaches the hosts that a call names, and no others', { skip }, async (t) => {
  const server = createServer((request, response) => response.end(`reached ${request.headers.host}`)).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const workspace = t.testdir()
  const asked: string[] = []
  const lookUp = async ({ hostname }: URL) => {
    asked.push(hostname)
    if (hostname === 'private.example') throw new Error('private.example is not on the public internet.')
    return [{ address: '127.0.0.1', family: 4 }]
  }
  const { output, failure } = build({ workspace, boxes: BUBBLEWRAP, lookUp })
  const run = async (command: string) =>
    (await output('runCommand', { command, network: [`one.example:${port}`, `private.example:${port}`, 'one.example:1'] })).stdout
  t.equal(await run(`curl -sS http://one.example:${port}/`), `reached one.example:${port}`)
  t.equal(await run(`curl -sSp http://one.example:${port}/`), `reached one.example:${port}`, 'through a tunnel')
  t.match(await run(`curl -sS http://two.example:${port}/; curl -sSp http://one.example:2/ 2>&1`), /not among the hosts[\s\S]*403/)
  const closed = await run('curl -sS http://one.example:1/; curl -sSp http://one.example:1/ 2>&1')
  t.match(closed, /^one\.example cannot be reached: .*ECONNREFUSED[\s\S]*502/, 'it may be reached, and is silent')
  t.match(await run(`curl -sS http://private.example:${port}/`), /not on the public internet/)
  t.match(await run(`curl -sS --noproxy '*' -m 2 http://127.0.0.1:${port}/ 2>&1; getent hosts one.example; echo $?`), /connect[\s\S]*2\n$/)
  t.same(new Set(asked), new Set(['one.example', 'private.example']), 'names are looked up outside')
  t.match(await failure('runCommand', { command: 'true', outside: true, network: ['one.example'], reason: 'x' }), /leave out "network"/)
  t.match(await failure('runCommand', { command: 'true', outside: true }), /needs a "reason"/)
})

t.test('nothing is left of a box that cannot be made, and ports can be opened when there is room again', { skip }, async (t) => {
  const before = process.env.TMPDIR
  t.teardown(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  // The path of a socket has at most 107 bytes.
  const long = join(t.testdir({ work: {}, ['x'.repeat(80)]: {} }), 'x'.repeat(80))
  process.env.TMPDIR = long
  const { failure } = build({ workspace: join(long, '../work'), boxes: BUBBLEWRAP })
  t.match(await failure('runCommand', { command: 'true', network: ['one.example'] }), /^The command could not be started: listen /)
  t.same(readdirSync(long), [])

  process.env.TMPDIR = before ?? '/tmp'
  const network = (await sandboxOver({ kind: BUBBLEWRAP }).shareNetwork())!
  process.env.TMPDIR = join(long, 'gone')
  await t.rejects(network.open(0), { code: 'ENOENT' })
  process.env.TMPDIR = before ?? '/tmp'
  const close = await network.open(0)
  close()
  await network.close()
})

t.test('a tool server in a box talks over its input and output, and reaches what its entry names alone', { skip }, async (t) => {
  const web = createServer((_request, response) => response.end('reached')).listen(0, '127.0.0.1')
  t.teardown(() => web.close())
  await once(web, 'listening')
  const { port } = web.address() as AddressInfo
  const secret = { key: 's3cret' }
  const folders = { own: { ...secret }, home: { '.ssh': { ...secret } }, read: { a: 'seen' }, write: { '.git': { hooks: {} } } }
  const base = realpathSync(t.testdir(folders))
  const environment = () => ({ PATH: process.env.PATH, HOME: join(base, 'home'), GITHUB_TOKEN: 's3cret' })
  const lookUp = async () => [{ address: '127.0.0.1', family: 4 }]
  const sandbox = sandboxOver({ kind: BUBBLEWRAP, ownHome: join(base, 'own'), environment, lookUp })
  const places = { read: [join(base, 'read')], write: [join(base, 'write')] }
  const start = (script: string, more: object = {}) =>
    sandbox.startServer({ name: 'one', command: 'sh', args: ['-c', script], env: { BASE: base, TOKEN: 'own' }, ...places, ...more })
  const say = async (script: string, more?: object) => {
    const child = await start(script, more)
    child.stdin!.write('hello\n')
    const said = Buffer.concat(await child.stdout.toArray()).toString()
    await child.exited
    return said
  }
  const hosts = { network: [`one.example:${port}`] }
  const script = `read line; echo "$line $TOKEN $(cat $BASE/read/a)"; echo x > $BASE/write/made; echo x > ~/.cache/kept
    curl -sS http://one.example:${port}/; cat $BASE/own/key ~/.ssh/key; env; (echo x > $BASE/read/b); (echo x > $BASE/write/.git/hooks/a)
    curl -sS -m 2 http://two.example:${port}/`
  const said = await say(script, hosts)
  t.match(said, /^hello own seen\nreached[\s\S]*two\.example:\d+ is not among the hosts/)
  t.notMatch(said, /s3cret/)
  const made = ['write/made', 'read/b', 'write/.git/hooks/a', 'home/.cache'].map((name) => existsSync(join(base, name)))
  t.same(made, [true, false, false, false])
  t.equal(await say(script.replace(/^read/, ': ; read'), {}).then((text) => /reached|s3cret/.test(text)), false, 'no network')
  t.equal(await say('read line; cat ~/.cache/*; :'), '', 'another program has another cache')
  await t.rejects(start('true', { env: { LD_PRELOAD: '/x' } }), /LD_PRELOAD would act outside the box/)
  await t.rejects(start('true', { read: ['/nowhere'] }), /"\/nowhere" of its "sandbox" is not there/)
  await t.rejects(start('true', { write: ['/'] }), /whole computer/)
  await sandbox.forgetServer('one')
  t.same(readdirSync(join(base, 'own/cache/servers')), [])
})

t.test('without a box nothing that needs one is offered, and where one is demanded a command is refused', { skip }, async (t) => {
  const workspace = t.testdir()
  const plain = build({ workspace })
  t.same(Object.keys(plain.host.find('runCommand')!.model.schema.properties), ['command', 'cwd', 'timeoutMs', 'background'])
  t.match(await plain.output('runCommand', { command: 'echo out' }), { stdout: 'out\n' })
  t.match(await plain.failure('runCommand', { command: 'true', network: ['example.com'] }), /not valid/)
  t.match(await plain.failure('runCommand', { command: 'true' }, { sandbox: 'required' }), /No box can be had on this computer/)

  const boxed = build({ workspace, boxes: BUBBLEWRAP })
  const leaving = { command: 'true', outside: true, reason: 'x' }
  t.match(await boxed.failure('runCommand', leaving, { sandbox: 'required' }), /No command may run outside/)
  t.match(await boxed.output('runCommand', { command: 'readlink /proc/self/ns/net', outside: true, reason: 'x' }), {
    stdout: execFileSync('readlink', ['/proc/self/ns/net']).toString()
  })
  const { dev, ino } = { dev: '1', ino: '1' }
  t.match(
    await boxed.failure('runCommand', { command: 'true' }, { confinedTo: { path: workspace, dev, ino } }),
    /is not there any more. It was not run/
  )
})

t.test('a home, the whole computer, the system and what holds our data are no box', { skip }, async (t) => {
  const base = t.testdir({ own: { data: '' }, work: {} })
  const sandbox = sandboxOver({ kind: BUBBLEWRAP, ownHome: join(base, 'own') })
  const boundary = (path: string) => sandbox.boundary({}, { folder: { path, dev: '1', ino: '1' }, base: path })
  for (const path of ['/', '/home', '/home/ada', '/root', '/etc', '/usr/share', base, join(base, 'own'), process.env.HOME!]) {
    t.match(await boundary(path), { is: 'outside', why: /^The working folder / }, path)
  }
  t.match(await boundary(join(base, 'work')), { is: 'confined' })
  t.match(await boundary('/home/ada/project'), { is: 'confined' })
})

t.test('the settings of a repository stay as they are, and a sentence says so to a command that changes them', { skip }, async (t) => {
  const stage = await setStage()
  t.teardown(stage.close)
  const config = join(stage.work, '.git/config')
  const own = `${readFileSync(config, 'utf8')}[filter "lfs"]\n\tclean = git-lfs clean -- %f\n[alias]\n\tst = status\n`
  writeFileSync(config, own)
  t.match(await stage.run('git st --short; git switch -qc topic; git switch -q main'), { exitCode: 0, message: undefined, stderr: '' })
  for (const command of ['git config user.name Bob', 'git remote add o https://x.example/y', 'git config alias.st "!sh"']) {
    const { exitCode, message } = await stage.run(command)
    t.not(exitCode, 0)
    t.match(message, /^The settings of git cannot be changed in the box\. Run that command of git with "outside": true/, command)
  }
  await stage.run('rm -f .git/config; ln -s ../evil .git/config; mv .git/info .git/other; echo "* filter=x" > .git/info/attributes')
  t.equal(readFileSync(config, 'utf8'), own)
})

t.test('what programs obey when a folder is opened is read-only, and what settings and links lead to', { skip }, async (t) => {
  const folder = realpathSync(t.testdir({
    ...{ 'AGENTS.md': 'a', '.gitconfig': '[include]\n\tpath = more.cfg\n', 'more.cfg': '', tools: { hooks: { 'pre-commit': 'true\n' } } },
    ...{ packages: { one: { '.vscode': { 'tasks.json': '{}' }, 'CLAUDE.md': 'c', 'index.js': 'x' } }, conf: { idea: { 'x.xml': 'x' } } },
    ...{ clone: { '.git': { HEAD: '', objects: {}, refs: {} }, 'AGENTS.md': 'other' }, '.idea': t.fixture('symlink', 'conf/idea') }
  }))
  const git = (...args: string[]) => execFileSync('git', args, { cwd: folder })
  git('init', '-q')
  git('config', 'core.hooksPath', 'tools/hooks')
  git('config', 'include.path', '../.gitconfig')
  const environment = { PATH: process.env.PATH, HOME: '/nowhere' }
  const { output, failure } = build({ workspace: folder, environment, boxes: BUBBLEWRAP })
  const kept = ['AGENTS.md', 'packages/one/.vscode/tasks.json', 'packages/one/CLAUDE.md', 'conf/idea/x.xml', 'tools/hooks/pre-commit',
    'tools/hooks/new', '.gitconfig', 'more.cfg']
  const before = execFileSync('cat', kept.filter((path) => existsSync(join(folder, path))), { cwd: folder }).toString()
  for (const path of kept) {
    t.match(await output('runCommand', { command: `echo evil > ${path}` }), { exitCode: 1, stderr: /Read-only/ }, path)
  }
  for (const command of ['sed -i s/a/b/ AGENTS.md', 'rm AGENTS.md; ls']) {
    t.match(await output('runCommand', { command }), {
      message: /^".*AGENTS\.md" is read-only in the box, as programs obey it .* Change it with a file tool\. Or run .* "outside"/
    })
  }
  t.equal(execFileSync('cat', kept.filter((path) => existsSync(join(folder, path))), { cwd: folder }).toString(), before)
  const honest = 'echo y > packages/one/index.js && mkdir packages/two && mv packages/two packages/three && rm -r clone && cat AGENTS.md'
  t.match(await output('runCommand', { command: honest }), { exitCode: 0, stdout: 'a' })
  t.notOk(existsSync(join(folder, 'clone')))

  symlinkSync('later/CLAUDE.md', join(folder, 'CLAUDE.md'))
  t.match(await failure('runCommand', { command: 'true' }), /CLAUDE\.md" is a link to "later\/CLAUDE\.md", where nothing is/)
})

t.test('what the box of a killed service left is removed a day later', async (t) => {
  const [old, young] = [await makeTemporary(), await makeTemporary()]
  t.teardown(() => [old, young].forEach((path) => rmSync(path, { recursive: true, force: true })))
  const now = systemClock.now()
  for (const [path, hours] of [[old, 25], [young, 23]] as const) utimesSync(path, now / 1000, now / 1000 - hours * 3600)
  await removeAbandoned(now)
  t.same([existsSync(old), existsSync(young)], [false, true])
})
