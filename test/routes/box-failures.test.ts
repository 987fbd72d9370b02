import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { of } from '../harness/agent.ts'
import { BUBBLEWRAP } from '../harness/boxes.ts'
import { parseEvents } from '../harness/sse.ts'
import { withGateway } from '../harness/with-gateway.ts'

const skip = process.platform === 'linux' ? false : 'bubblewrap is for Linux'
type Json = Record<string, any>

/** A job of a user: the command by which a model begins, and what shows that it is done. `server` is what it may start. */
interface Job {
  cwd: string
  command: string
  server?: string
  isDone: () => boolean
}

/** What a model does next that knows nothing of boxes, and does what a result says. */
function obey ({ command, server }: Job, { message = '', stdout = '', stderr = '' }: Json): Json | undefined {
  const text = `${message}\n${stdout}\n${stderr}`
  const written = /Outside the working folder it wrote (\S+?):/.exec(message)?.[1]
  if (written !== undefined) return { command: `cp ${written} .` }
  const gone = /gone with each command: .* in place of (\S+)\.$/.exec(message)?.[1]
  if (gone !== undefined) return { command: command.replaceAll(gone, gone.split('/').at(-1)!) }
  if (server !== undefined && text.includes('"background": true')) return { command: server, background: true }
  if (text.includes('give a message with -m')) return { command: `${command} -m work` }
  if (text.includes('set GIT_SEQUENCE_EDITOR')) return { command: `GIT_SEQUENCE_EDITOR="sed -i 2s/pick/fixup/" ${command}` }
  if (text.includes('git add .')) return { command: command.replace('git commit -qam', 'git add . && git commit -qm') }
  if (text.includes('"outside": true')) return { command, outside: true, reason: 'the box hides what it needs' }
  return undefined
}

function lay (base: string): void {
  const git = (command: string, cwd: string) => execFileSync('/bin/sh', ['-c', command], { cwd: join(base, cwd), stdio: 'ignore' })
  for (const name of ['mono/packages/a', 'mono/packages/b', 'linked', 'shared', 'plain', 'plain-2', 'plain-3', 'plain-4', 'plain-5']) {
    mkdirSync(join(base, name), { recursive: true })
  }
  for (const name of ['mono/packages/a/x', 'mono/packages/b/y', 'shared/settings.json']) writeFileSync(join(base, name), 'one\n')
  const named = 'git config user.email ada@example.com && git config user.name Ada'
  git(`git init -qb main . && ${named} && git add . && git commit -qm one && git worktree add -q ../side -b side`, 'mono')
  git('for n in two three; do echo $n > $n && git add . && git commit -qm $n; done', 'side')
  git('git worktree add -q ../third -b third', 'mono')
  symlinkSync(join(base, 'mono/.git'), join(base, 'linked/.git'))
}

async function listen (t: Test): Promise<{ server: Server, port: number }> {
  const server = createServer((_request, response) => response.end('answered\n')).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  return { server, port: (server.address() as AddressInfo).port }
}

t.test('a model that does what results say finishes jobs that only the box made fail', { skip, timeout: 120_000 }, async (t) => {
  const calls: Json[] = []
  let job: Job | undefined
  let asked: Json | undefined
  const { app } = await withGateway(t, ({ body: { prompt } }) => {
    const results = prompt.filter(({ role }: Json) => role === 'tool').flatMap(({ content }: Json) => content)
    const last = results.at(-1)?.output?.value ?? {}
    // A server that was started is what the command needs.
    const isRunning = asked?.background === true
    asked = results.length === 0 || isRunning ? { command: job!.command } : results.length > 4 ? undefined : obey(job!, last)
    if (asked === undefined) return { text: 'done' }
    calls.push(asked)
    return { toolCalls: [{ toolName: 'runCommand', input: asked }] }
  }, { boxes: BUBBLEWRAP, config: { permissions: { runCommand: 'allow' } } })
  const base = app.cwd
  lay(base)
  const { server, port } = await listen(t)
  const other = await listen(t)
  other.server.close()
  const has = (path: string, text: RegExp) => () => existsSync(join(base, path)) && text.test(readFileSync(join(base, path), 'utf8'))
  const says = (command: string, cwd: string, text: RegExp) => () =>
    text.test(execFileSync('/bin/sh', ['-c', command], { cwd: join(base, cwd) }).toString())
  const serve = `exec node -e 'require("http").createServer((q, r) => r.end("own")).listen(${other.port}, "127.0.0.1")'`
  const jobs: Record<string, Job> = {
    'settings of git': { cwd: 'side', command: 'git config color.ui never', isDone: says('git config color.ui; true', 'side', /never/) },
    'a repository behind a link': { cwd: 'linked', command: 'git log --format=%s main > log', isDone: has('linked/log', /one/) },
    'a commit of everything in a folder of a repository': {
      cwd: 'mono/packages/a',
      command: 'echo 2 > x; git commit -qam edited',
      isDone: says('git show --name-only --format=%s main', 'mono', /^edited\n\npackages\/a\/x\n$/)
    },
    'a commit without a message': {
      cwd: 'third',
      command: 'echo 3 > new; git add new; git commit',
      isDone: says('git log -1 --format=%s', 'third', /^work$/m)
    },
    'a rebase that asks': { cwd: 'side', command: 'git rebase -i HEAD~2', isDone: says('git log --oneline side | wc -l', 'mono', /^2$/m) },
    'a file beside the folder': {
      cwd: 'plain',
      command: `cat ${base}/shared/settings.json > copy`,
      isDone: has('plain/copy', /one/)
    },
    'a server of this computer': {
      cwd: 'plain-2',
      command: `curl -sS http://127.0.0.1:${port}/ -o got`,
      isDone: has('plain-2/got', /answered/)
    },
    'a server of its own': {
      cwd: 'plain-3',
      command: `curl -sS --retry 9 http://127.0.0.1:${other.port}/ -o got`,
      server: serve,
      isDone: has('plain-3/got', /own/)
    },
    'a report in /tmp': { cwd: 'plain-4', command: 'echo 42 > /tmp/report.txt', isDone: has('plain-4/report.txt', /42/) },
    'a report in /var/tmp': { cwd: 'plain-5', command: 'echo 43 > /var/tmp/report.txt', isDone: has('plain-5/report.txt', /43/) }
  }
  t.equal(Object.keys(jobs).length, 10)
  for (const [name, each] of Object.entries(jobs)) {
    job = each
    asked = undefined
    calls.length = 0
    t.notOk(each.isDone(), `${name}: at first`)
    const context = { cwd: join(base, each.cwd) }
    const payload = { messages: [{ role: 'user', content: name }], id: name.replace(/\W+/g, '-'), context }
    const { body } = await app.inject({ method: 'POST', url: '/run', payload })
    const outputs = of(parseEvents(body), 'tool-output-available').map(({ output }) => output)
    t.ok(each.isDone(), `${name}: ${JSON.stringify({ calls, outputs })}`)
    t.ok(calls.length > 1, `${name}: the first command did not do`)
  }
  server.close()
})

t.test('the request for approval names a repository above the folder, which undo covers', { skip }, async (t) => {
  const command = 'git commit -q --allow-empty -m agent'
  const { app } = await withGateway(t, ({ body: { prompt } }) =>
    prompt.at(-1).role === 'user' ? { toolCalls: [{ toolName: 'runCommand', input: { command } }] } : { text: 'done' }, {
    boxes: BUBBLEWRAP
  })
  lay(app.cwd)
  const head = () => execFileSync('git', ['log', '-1', '--format=%H %s'], { cwd: join(app.cwd, 'mono'), encoding: 'utf8' })
  const before = head()
  const payload = { messages: [{ role: 'user', content: 'go' }], id: 'a', context: { cwd: join(app.cwd, 'mono/packages/a') } }
  const events = parseEvents((await app.inject({ method: 'POST', url: '/run', payload })).body)
  const [{ boundary }] = of(events, 'tool-approval-request')
  t.match(boundary.text, /Commits go to the repository of ".*mono"\..*in ".*\/a" and in ".*mono\/.git" can be undone/)
  const content = [{ type: 'tool-approval-response', approvalId: of(events, 'tool-approval-request')[0].approvalId, approved: true }]
  await app.inject({ method: 'POST', url: '/run/approve', payload: { messages: [{ role: 'tool', content }] } })
  const [{ runId }] = (await app.inject('/runs')).json().runs
  t.match(head(), /agent/)
  const { notCovered, skipped } = (await app.inject({ method: 'POST', url: `/runs/${runId}/undo`, payload: {} })).json()
  t.notMatch(JSON.stringify(notCovered), /is not known here/)
  t.same(skipped, [])
  t.equal(head(), before)
})

t.test('the home of a conversation goes with it', { skip }, async (t) => {
  let commands: string[] = []
  const { app } = await withGateway(t, () => {
    const command = commands.shift()
    return command === undefined ? { text: 'done' } : { toolCalls: [{ toolName: 'runCommand', input: { command } }] }
  }, { boxes: BUBBLEWRAP, config: { permissions: { runCommand: 'allow' } } })
  const run = async (id: string, command: string): Promise<Json> => {
    commands = [command]
    const payload = { messages: [{ role: 'user', content: 'go' }], id }
    const { body } = await app.inject({ method: 'POST', url: '/run', payload })
    return of(parseEvents(body), 'tool-output-available')[0].output
  }
  const homes = () => readdirSync(join(app.home, 'boxes'))
  await run('a', 'echo a > /tmp/note; echo x > ~/.cached')
  t.match(await run('a', 'cat /tmp/note ~/.cached'), { stdout: 'a\nx\n' })
  t.match(await run('b', 'cat /tmp/note'), { exitCode: 1 })
  t.equal(homes().length, 2)
  t.notMatch(homes(), /-a$|-b$/, 'no name of a caller')
  t.equal((await app.inject({ method: 'DELETE', url: '/threads/a' })).statusCode, 200)
  t.equal(homes().length, 1)
  t.match(await run('a', 'ls /tmp/note'), { exitCode: 2 })
  const erased = await app.inject({ method: 'DELETE', url: '/data', payload: { confirm: 'erase everything' } })
  t.equal(erased.statusCode, 200, erased.body)
  t.notOk(existsSync(join(app.home, 'boxes')))
})
