import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs'
import { Aborted } from '../../../services/lib/abort.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import { fakeClock } from '../../harness/clock.ts'
import { createFence } from '../../../services/tools/fence.ts'
import { createToolHost } from '../../../services/tools/host.ts'
import type { Permissions } from '../../../services/tools/permissions.ts'
import { names, over, server, tool, build } from './helper.ts'
import { runInOrder } from '../../../services/tools/run-in-order.ts'

t.test('what has an effect asks, but for scroll, and so does what is not known; reads are allowed', async (t) => {
  const { host } = over(t)
  const asked = [
    'readFile',
    'writeFile',
    'listDirectory',
    'deleteFile',
    'runCommand',
    'systemInfo',
    'click',
    'type',
    'scroll',
    'server_tool'
  ]
    .filter((name) => host.permission(name) === 'ask')
  t.same(asked, ['writeFile', 'deleteFile', 'runCommand', 'click', 'type', 'server_tool'])
})

t.test('a tool of a server asks by its effect unless its own default says otherwise', async (t) => {
  const { host } = over(t)
  host.merge([
    server('s', ['look']),
    server('x', ['push', 'poke'], { policy: { effect: 'external' } }),
    server('y', ['pull'], { policy: { effect: 'external', permission: 'allow' } })
  ])
  t.same(['look', 'push', 'poke', 'pull'].map(host.permission), ['allow', 'ask', 'ask', 'allow'])
})

t.test('a call is said in the words of people, without secrets and bounded', async (t) => {
  const { host } = over(t)
  host.merge([server('github', ['create_issue'])])
  const said = (toolName: string, input: unknown) => host.say({ toolName, input }).text
  t.equal(said('writeFile', { path: 'notes/a.md', content: 'x' }), 'write the file “notes/a.md”')
  t.equal(said('moveFile', { from: 'a', to: 'b' }), 'move “a → b”')
  t.equal(said('runCommand', { command: 'npm  test\n&& ls' }), 'run the command “npm test && ls”')
  t.equal(said('fetchUrl', { url: 'https://ada:pw@example.com/a?key=1#b' }), 'read the page “example.com/a?…”')
  t.equal(said('webSearch', { query: 'tea' }), 'search the web for “tea”')
  t.equal(
    said('create_issue', { title: 'Broken link', labels: ['bug', 'urgent'], api_key: 'k', more: 1 }),
    'use create_issue of github with “title: Broken link, labels: bug, urgent, api_key: …, …”'
  )
  t.equal(said('saveDocument', {}), 'use saveDocument')
  t.equal(said('saveDocument', { name: 'Plan', at: { page: 2 } }), 'use saveDocument with “name: Plan, at: (page: 2)”')
  const long = JSON.stringify({ path: 'long.md', content: 'y'.repeat(9_000) })
  t.equal(said('writeFile', `${long.slice(0, 4_000)}…`), 'write the file “long.md”')
  const moved = JSON.stringify({ from: `a${'/b'.repeat(2_000)}`, to: 'c' }).slice(0, 2_000)
  t.match(said('moveFile', `${moved}…`), /^move “a\/b\/b[^→]*…”$/, 'of an input that is cut off in its first path')
  t.equal(said('readFile', '{"path":"C:\\Users\\x"'), 'read the file “C:\\Users\\x”', 'of an input that is no JSON')
  t.ok(said('runCommand', { command: 'x'.repeat(100_000) }).length < 200)
  const named = Object.keys(JSON.parse(readFileSync('console/texts/en.json', 'utf8')).tool)
  t.same(named.filter((name) => host.find(name) !== undefined && said(name, {}).startsWith(`use ${name}`)), [], 'built-in tools have words')
})

t.test('permissions are globs, the last that matches wins, and a change takes effect at once', async (t) => {
  const permissions: Permissions = { '*': 'ask', 'read*': 'allow', 'github_*': 'deny', github_search: 'allow', '': 'deny' }
  const { host } = over(t, undefined, permissions)
  const of = (...names: string[]) => names.map(host.permission)
  t.same(of('systemInfo', 'readFile', 'github_push', 'github_search', 'writeFile'), ['ask', 'allow', 'deny', 'allow', 'ask'])
  t.same(of('a/b', '.hidden', 'a.b', 'with space'), ['ask', 'ask', 'ask', 'ask'], '* matches every name there can be')
  permissions['{write,delete}File'] = 'allow'
  permissions['*'] = 'deny'
  t.same(of('writeFile', 'deleteFile', 'systemInfo', 'a/b'), ['allow', 'allow', 'deny', 'deny'])
})

t.test('denied tools are neither offered, valid nor run; the order never changes', async (t) => {
  const permissions: Permissions = {}
  const { host, failure } = over(t, undefined, permissions)
  const all = names(host.offered())
  const builtin = all.filter((name) => name !== 'systemInfo')
  permissions.systemInfo = 'deny'
  t.same(names(host.offered()), builtin)
  t.match(await failure('systemInfo', {}), /no tool named "systemInfo"/)
  host.merge([server('s', ['zeta', 'alpha'])])
  t.same(names(host.offered()), [...builtin, 'zeta', 'alpha'])
  delete permissions.systemInfo
  t.same(names(host.offered()), [...all, 'zeta', 'alpha'])
})

t.test('a tool is told its call, and its failure is a result', async (t) => {
  let told: any
  const { execute } = over(t, [
    tool('fine', async (input, context) => {
      told = { input, ...context }
      return { done: true }
    }),
    tool('failing', async () => {
      throw new Error('no luck')
    }),
    tool('throwing', () => {
      // eslint-disable-next-line no-throw-literal
      throw 'a string'
    })
  ])
  t.match(await execute('fine', { a: 1 }, { cwd: '/somewhere' }), { status: 'completed', output: { done: true }, durationMs: Number })
  t.match(told, { input: { a: 1 }, runId: 'run', callId: 'call', cwd: '/somewhere', signal: AbortSignal })
  t.match(await execute('failing', {}), { status: 'error', errorText: 'no luck', durationMs: Number })
  t.match(await execute('throwing', {}), { status: 'error', errorText: 'a string' })
})

t.test('outputs are objects that JSON can hold', async (t) => {
  const answers: Record<string, unknown> = { nothing: undefined, none: null, list: [1], text: 'x', whole: { a: 1 } }
  const loop: Record<string, unknown> = {}
  loop.loop = loop
  const { output, failure } = over(
    t,
    Object.entries({ ...answers, loop, big: { n: 1n } }).map(([name, answer]) => tool(name, async () => answer as any))
  )
  const outputs = await Promise.all(Object.keys(answers).map((name) => output(name, {})))
  t.strictSame(outputs, [{}, {}, { result: [1] }, { result: 'x' }, { a: 1 }])
  t.match(await failure('loop', {}), /cannot be written as JSON/)
  t.match(await failure('big', {}), /cannot be written as JSON/)
})

t.test('a call of an attempt that is no longer current is refused and not run', async (t) => {
  let ran = 0
  const { fence, execute } = over(t, [tool('count', async () => ({ ran: ++ran }))])
  t.match(await execute('count', {}), { status: 'completed' })
  const next = fence.enter('run')
  t.match(await execute('count', {}), { status: 'error', errorText: /no longer current/ })
  t.match(await execute('count', {}, { attempt: next }), { status: 'completed' })
  fence.leave('run')
  t.match(await execute('count', {}, { attempt: next }), { status: 'error' })
  t.equal(ran, 2)
})

t.test('an aborted call rejects with the reason, after the tool has settled', async (t) => {
  const events: string[] = []
  const begun = Promise.withResolvers<void>()
  const { execute } = over(t, [tool('slow', async (_input, { signal }) => {
    begun.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    await wait(50)
    events.push('settled')
    return { ignored: true }
  })])
  const leaving = new AbortController()
  const call = execute('slow', {}, { signal: leaving.signal })
  void begun.promise.then(() => leaving.abort(new Aborted('pause')))
  await t.rejects(call, new Aborted('pause'))
  t.same(events, ['settled'])
})

/** A clock whose sleeps end when the test says so. */
function handClock () {
  const sleeps: Array<{ ms: number, wake: () => void }> = []
  const clock: Clock = {
    ...systemClock,
    timeout: (ms, signal) => clock.sleep(ms, signal),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason))
        sleeps.push({ ms, wake: resolve })
      })
  }
  return { clock, sleeps }
}

t.test('progress starts the time limit of a call anew, for an hour at most, and readers hear of it rarely', async (t) => {
  const clock = fakeClock()
  const fence = createFence()
  const reports: number[] = []
  let report = (_progress: number) => {}
  const host = createToolHost({
    paths: { owns: async () => false as const, meant: (path: string) => path },
    tools: [tool('slow', (_input, { progress }) =>
      new Promise(() => {
        report = (value) => progress!({ progress: value })
      }))],
    permissions: () => ({}),
    clock,
    fence
  })
  const call = {
    ...{ name: 'slow', input: {}, runId: 'r', attempt: fence.enter('r'), callId: 'c', cwd: '/' },
    signal: new AbortController().signal,
    progress: ({ progress }: { progress: number }) => reports.push(progress)
  }
  const ending = host.execute(call)
  let isOver = false
  void ending.then(() => {
    isOver = true
  })
  await clock.sleeper(60_000)
  for (let second = 1; second <= 3_540; second += 30) {
    for (let n = 0; n < 100; n++) report(second + n / 1000)
    await clock.advance(30_000)
    t.notOk(isOver)
  }
  t.equal(reports[0], 1, 'the first at once')
  t.ok(reports.includes(1.099), 'the newest of many')
  t.ok(reports.length < 300, `${reports.length} of 11,800`)
  for (let n = 0; n < 3; n++) {
    report(4_000)
    await clock.advance(30_000)
  }
  await clock.advance(5_000)
  t.match(await ending, { status: 'error', errorText: 'slow made no progress for 60000 ms and was stopped.' })
  const shown = reports.length
  report(5_000)
  t.equal(reports.length, shown, 'nothing comes after the end')
})

t.test('a tool that does not listen is given up on: when aborted after 5 s, else when its time is up and 5 s more', async (t) => {
  const { clock, sleeps } = handClock()
  const fence = createFence()
  const deaf = (name: string, timeLimitMs?: number) => tool(name, () => new Promise(() => {}), { policy: { timeLimitMs } })
  const host = createToolHost({
    paths: { owns: async () => false as const, meant: (path: string) => path },
    tools: [deaf('deaf'), deaf('patient', 1234), { ...deaf('acting'), policy: { effect: 'external' } }],
    permissions: () => ({}),
    clock,
    fence
  })
  const leaving = new AbortController()
  const execute = (name: string) =>
    host.execute({ name, input: {}, runId: 'r', attempt: fence.enter('r'), callId: 'c', cwd: '/', signal: leaving.signal })
  const passed = async (ms: number) => {
    while (sleeps.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
    const { ms: asked, wake } = sleeps.shift()!
    t.equal(asked, ms)
    wake()
  }

  const late = execute('deaf')
  await passed(60_000)
  await passed(5000)
  t.match(await late, { status: 'error', errorText: 'deaf took longer than 60000 ms and was stopped.' })

  const acting = execute('acting')
  await passed(60_000)
  await passed(5000)
  t.match(await acting, { errorText: /not known: check before you repeat it/ }, 'one that may have done something says so')

  const left = execute('patient')
  while (sleeps.length === 0) await new Promise((resolve) => setTimeout(resolve, 2))
  t.equal(sleeps.shift()!.ms, 1234)
  leaving.abort(new Aborted('client'))
  const rejected = t.rejects(left, new Aborted('client'))
  await passed(5000)
  await rejected
})

t.test('a file tool changes the very files that were allowed and kept, wherever the path leads by now', async (t) => {
  const workspace = t.testdir({ granted: { 'a.txt': 'granted' }, elsewhere: { 'a.txt': 'elsewhere' } })
  const at = (path: string) => `${workspace}/${path}`
  const { failure, output } = build({ workspace })
  const paths = [at('granted/a.txt'), at('granted/b.txt')]
  t.match(await output('writeFile', { path: 'granted/a.txt', content: 'mine' }, { paths }), { created: false })

  renameSync(at('granted'), at('moved'))
  symlinkSync('elsewhere', at('granted'))
  const calls: Array<[tool: string, input: object]> = [
    ['writeFile', { path: 'granted/a.txt', content: 'x' }],
    ['editFile', { path: 'granted/a.txt', edits: [{ oldText: 'elsewhere', newText: 'x' }] }],
    ['deleteFile', { path: 'granted/a.txt' }],
    ['moveFile', { from: 'granted/a.txt', to: 'granted/b.txt' }]
  ]
  for (const [tool, input] of calls) t.match(await failure(tool, input, { paths }), /not the place that was to be changed/, tool)
  t.equal(readFileSync(at('elsewhere/a.txt'), 'utf8'), 'elsewhere')
  t.notOk(existsSync(at('elsewhere/b.txt')))
})

/** What callers decide by: approvals by effect and permission, judgement by `proves`. */
const FACTS = {
  readFile: { effect: 'read' },
  searchFiles: { effect: 'read' },
  findFiles: { effect: 'read' },
  listDirectory: { effect: 'read' },
  fetchUrl: { effect: 'read' },
  systemInfo: { effect: 'read' },
  writeFile: { effect: 'write', proves: 'file' },
  editFile: { effect: 'write', proves: 'file' },
  moveFile: { effect: 'write', proves: 'file' },
  deleteFile: { effect: 'write', proves: 'deletion' },
  runCommand: { effect: 'external' }
}

t.test('a tool carries what is known of it', async (t) => {
  const { host } = build({ workspace: t.testdir() })
  for (const [name, facts] of Object.entries(FACTS)) {
    const { policy: { effect }, effects: { proves } = {} } = host.find(name)!
    t.same(JSON.parse(JSON.stringify({ effect, proves })), facts, name)
    t.equal(host.permission(name), effect === 'read' ? 'allow' : 'ask', `${name} asks unless it only reads`)
  }
})

t.test('only the newest attempt at a run passes', async (t) => {
  const fence = createFence()
  const first = fence.enter('a')
  fence.check('a', first)
  const other = fence.enter('b')
  const second = fence.enter('a')
  t.throws(() => fence.check('a', first), { code: 'ERR_STALE_ATTEMPT' })
  fence.check('a', second)
  fence.check('b', other)
})

t.test('a run that left lets nobody pass, and coming back it never repeats a number', async (t) => {
  const fence = createFence()
  const seen = new Set<number>()
  for (let round = 0; round < 5; round++) {
    const attempt = fence.enter('a')
    seen.add(attempt)
    fence.leave('a')
    t.throws(() => fence.check('a', attempt), { code: 'ERR_STALE_ATTEMPT' })
  }
  t.equal(seen.size, 5)
  t.throws(() => fence.check('never', 1), { code: 'ERR_STALE_ATTEMPT' })
})

/** Calls that end when they are told to, and what is under way. */
function held () {
  const begun: string[] = []
  const ends = new Map<string, { resolve(): void, reject(error: Error): void }>()
  const run = (call: string) =>
    new Promise<void>((resolve, reject) => {
      begun.push(call)
      ends.set(call, { resolve, reject })
    })
  const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
  return { begun, ends, run, settled }
}
const isRead = (call: string) => call.startsWith('r')
const reads = (count: number) => Array.from({ length: count }, (_, n) => `r${n}`)

t.test('reads run side by side, eight at a time, and a change waits for those before it', async (t) => {
  const { begun, ends, run, settled } = held()
  const over = runInOrder([...reads(10), 'write', 'r10'], isRead, run)
  await settled()
  t.same(begun, reads(8))
  ends.get('r7')!.resolve()
  await settled()
  t.same(begun, reads(9))
  for (const call of reads(9)) ends.get(call)!.resolve()
  await settled()
  t.same(begun, reads(10))
  ends.get('r9')!.resolve()
  await settled()
  t.same(begun.at(-1), 'write')
  ends.get('write')!.resolve()
  await settled()
  ends.get('r10')!.resolve()
  await over
})

t.test('after a failure nothing begins, and what has begun is waited for', async (t) => {
  const { begun, ends, run, settled } = held()
  let isOver = false
  const over = runInOrder([...reads(10), 'write'], isRead, run).finally(() => {
    isOver = true
  })
  over.catch(() => {})
  await settled()
  ends.get('r3')!.reject(new Error('first'))
  await settled()
  ends.get('r0')!.reject(new Error('second'))
  for (const call of reads(7)) ends.get(call)!.resolve()
  await settled()
  t.notOk(isOver)
  ends.get('r7')!.resolve()
  await t.rejects(over, { message: 'first' })
  t.same(begun, reads(8))
})
