import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../../services/lib/clock.ts'
import { createPrivateFolders } from '../../../services/sandbox/private-folders.ts'
import { BUBBLEWRAP } from '../../harness/boxes.ts'
import { build } from '../tools/helper.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'
const DAY = 24 * 60 * 60 * 1000

/** A home of a user with a project and a toolchain in it, and the commands of one conversation. */
function setUp (t: Test) {
  // Not in /tmp, where no home is shown as such.
  const base = realpathSync(t.testdir({}))
  for (const name of ['home/code/project', 'home/code/other', 'home/.cargo/bin', 'victim']) mkdirSync(join(base, name), { recursive: true })
  const homes = join(base, 'boxes')
  const environment = { PATH: process.env.PATH, HOME: join(base, 'home') }
  const workspace = join(base, 'home/code/project')
  const places = { workspace, roots: [join(base, 'home/code')], forbidden: join(base, 'own'), homes }
  const { output } = build({ ...places, environment, boxes: BUBBLEWRAP })
  return {
    base,
    homes,
    own: join(homes, 'thread:one'),
    output,
    run: (command: string, more: object = {}) => output('runCommand', { command, ...more })
  }
}

t.test('the commands of a conversation share a home and a /tmp, and a result names what was written there', { skip }, async (t) => {
  const { base, own, run } = setUp(t)
  t.match(await run('echo 42 > /tmp/report.txt; mkdir -p ~/.cache/tool ~/notes; echo warm > ~/.cache/tool/x; echo n > ~/notes/n'), {
    message: `Outside the working folder it wrote /tmp/report.txt, ${base}/home/notes/n: private to the commands of this ` +
      'conversation. No other tool and no other program sees such files; write what the user is to have into the folder.'
  })
  t.match(await run('cat /tmp/report.txt ~/.cache/tool/x ~/notes/n; git config --global alias.st status; ls -d ~/.cargo/bin'), {
    stdout: `42\nwarm\nn\n${base}/home/.cargo/bin\n`,
    message: new RegExp(`wrote ${base}/home/.gitconfig: private`)
  }, 'nobody takes it for a setting of the user')
  t.match(await run('echo x > /var/tmp/lost; cat /var/tmp/lost'), {
    stdout: 'x\n',
    message: /^Files in \/var\/tmp and \/dev\/shm are gone with each command: .* in place of \/var\/tmp\/lost\.$/
  })
  t.equal(statSync(own).mode & 0o77, 0)
  t.same(['home', 'tmp'].map((name) => statSync(join(own, name)).mode & 0o777), [0o700, 0o700])
  t.notOk(existsSync(join(base, 'home/notes')) || existsSync('/tmp/report.txt'), 'the user\'s own home and /tmp are as they were')
  const many = await run('touch /tmp/{1..9}')
  t.match(many.message, /wrote (?:\/tmp\/\d, ){4}\/tmp\/\d and 4 more: private/)
})

t.test('what a command leaves in its home leads no later command elsewhere', { skip }, async (t) => {
  const { base, own, run } = setUp(t)
  const victim = join(base, 'victim')
  // Where bubblewrap sees the computer while it makes a box.
  for (const target of [victim, `/oldroot${victim}`, '/etc', '/newroot']) {
    await run('rm -rf ~/code/* ~/.cargo/* ~/code ~/.cargo ~/.gitconfig 2>/dev/null; true')
    for (const name of ['code', '.cargo', '.gitconfig', 'node_modules']) {
      rmSync(join(own, 'home', name), { recursive: true, force: true })
      symlinkSync(target, join(own, 'home', name))
    }
    t.match(await run('pwd; echo x > made; ls ~/.cargo'), { exitCode: 0, stdout: `${base}/home/code/project\nbin\n` }, target)
    t.same(readdirSync(victim), [])
  }
  t.match(await run('echo x > ~/code/beside; mkdir ~/code/other'), { exitCode: 1, stderr: /Read-only file system/ })
  t.same(readdirSync(join(base, 'home/code')).sort(), ['other', 'project'])
  const names = await run('ln -s /work ~/link; mkdir ~/real; ln -s "$HOME/../victim" /tmp/out; echo x > /tmp/out/x; ls')
  t.same(readdirSync(victim), [])
  t.notMatch(names.message ?? '', /victim/)
})

t.test('commands in two folders at once do not share a home', { skip }, async (t) => {
  const { run, output } = setUp(t)
  const { commandId } = await run('echo one > /tmp/a; while :; do sleep 1; done', { background: true })
  t.match(await run('cat /tmp/a'), { stdout: 'one\n' })
  t.match(await run('cat /tmp/a', { cwd: '../other' }), { exitCode: 1 })
  await output('stopCommand', { commandId })
  t.match(await run('cat /tmp/a', { cwd: '../other' }), { stdout: 'one\n' })
})

t.test('a home that grows beyond 1 GiB ends the command and loses its largest files', { skip, timeout: 120_000 }, async (t) => {
  const { own, run } = setUp(t)
  const FULL = /^The home and \/tmp of this conversation held more than 1 GiB, so the command was ended/
  await run('echo small > /tmp/s')
  const filling = await run('for n in 1 2 3; do head -c 600M /dev/zero > /tmp/$n; done; echo done', { timeoutMs: 100_000 })
  t.match(filling, { stdout: '', message: FULL })
  const left = () => readdirSync(join(own, 'tmp')).reduce((sum, name) => sum + statSync(join(own, 'tmp', name)).size, 0)
  t.ok(left() <= 1024 ** 3, `${left()} bytes`)
  // Nobody measures while such a command runs.
  const grown: unknown[] = []
  for (const n of [1, 2, 3, 4, 5]) grown.push(await run(`fallocate -l 400M /tmp/quick${n}`))
  t.ok(grown.some(({ message }: any) => FULL.test(message)))
  t.ok(left() <= 1024 ** 3, `${left()} bytes`)
  t.match(await run('cat /tmp/s'), { stdout: 'small\n' }, 'what is small stays')
})

t.test('homes go with their owner, and a month after their last use', { skip }, async (t) => {
  const root = t.testdir({})
  const folders = createPrivateFolders({ clock: systemClock, root, nameOf: (owner) => owner })
  const lay = async (name: string, days: number) => {
    await (await folders.open(name, '/work'))!.close()
    writeFileSync(join(root, name, 'home/file'), 'x')
    mkdirSync(join(root, name, 'home/locked'), { recursive: true, mode: 0o500 })
    const at = systemClock.now() / 1000 - days * DAY / 1000
    for (const each of ['home', 'tmp', '']) utimesSync(join(root, name, each), at, at)
  }
  for (const [name, days] of [['kept', 3], ['gone', 3], ['new', 0], ['old', 31], ['removed', 0]] as const) await lay(name, days)
  const open = (await folders.open('old', '/work'))!
  await folders.sweep(async (name) => name !== 'gone' && name !== 'new')
  t.same(readdirSync(root).sort(), ['kept', 'new', 'old', 'removed'], 'none goes that a command uses')
  await open.close()
  await lay('old', 31)
  await folders.sweep(async () => true)
  await folders.remove('removed')
  t.same(readdirSync(root).sort(), ['kept', 'new'])
})
