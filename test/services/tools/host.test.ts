import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { Aborted } from '../../../services/lib/abort.ts'
import { systemClock, type Clock } from '../../../services/lib/clock.ts'
import { fakeClock } from '../../harness/clock.ts'
import { createFence } from '../../../services/tools/fence.ts'
import { createToolHost, type Permissions } from '../../../services/tools/host.ts'
import { names, over, server, tool } from './helper.ts'

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
    server('x', ['push', 'poke'], { effect: 'external' }),
    server('y', ['pull'], { effect: 'external', permission: 'allow' })
  ])
  t.same(['look', 'push', 'poke', 'pull'].map(host.permission), ['allow', 'ask', 'ask', 'allow'])
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
    paths: { owns: async () => false },
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
  const deaf = (name: string, timeLimitMs?: number) => tool(name, () => new Promise(() => {}), { timeLimitMs })
  const host = createToolHost({
    paths: { owns: async () => false },
    tools: [deaf('deaf'), deaf('patient', 1234), { ...deaf('acting'), effect: 'external' }],
    permissions: () => ({}),
    clock,
    fence
  })
  const leaving = new AbortController()
  const execute = (name: string) =>
    host.execute({ name, input: {}, runId: 'r', attempt: fence.enter('r'), callId: 'c', cwd: '/', signal: leaving.signal })
  const passed = async (ms: number) => {
    while (sleeps.length === 0) await new Promise(setImmediate)
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
  while (sleeps.length === 0) await new Promise(setImmediate)
  t.equal(sleeps.shift()!.ms, 1234)
  leaving.abort(new Aborted('client'))
  const rejected = t.rejects(left, new Aborted('client'))
  await passed(5000)
  await rejected
})
