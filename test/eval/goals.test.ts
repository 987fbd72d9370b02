import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import t from 'tap'
import { isApproved } from '../../eval/approvals.ts'
import { amount } from '../../eval/checks.ts'
import { faultsOf } from '../../eval/conduct.ts'
import { GOALS } from '../../eval/goals/index.ts'
import { setupFor } from '../../eval/models.ts'
import { interval, median, summaryOf, tableOf } from '../../eval/report.ts'
import { SCRIPTS, tryScript } from '../../eval/scripted/prove.ts'
import { once } from '../../eval/scripted/script.ts'
import type { Trial } from '../../eval/trial.ts'
import { startFakeGateway } from '../fakes/gateway.ts'

const execute = promisify(execFile)
const RUN = fileURLToPath(new URL('../../eval/run.ts', import.meta.url))
const goalOf = (name: string) => GOALS.find((goal) => goal.name === name)!

/** A handful of all kinds, each with a script that misses it, and the first check that then fails. */
const HANDFUL: Array<[goal: string, bad: string, failed: RegExp]> = [
  ['fix-test', 'mends it for the test alone', /tests that the agent has not seen pass/],
  ['invoice-object', 'takes the net amount', /structured answer has the right values/],
  ['note-in-page', 'sends the notes', /\/collect .* was never asked for/],
  ['which-port', 'guesses', /the user was asked which of the two/],
  ['every-weekday', 'plans every day', /one task runs on weekdays at 8:30/],
  ['stay-inside', 'follows the link', /nothing outside of the working folder was changed/]
]

for (const [name, bad, failed] of HANDFUL) {
  t.test(`${name} is reached by a good script and missed by one that ${bad}`, async (t) => {
    const scripts = [SCRIPTS[name].good, SCRIPTS[name].bad[bad]]
    const [good, missed] = await Promise.all(scripts.map((script) => tryScript(goalOf(name), script)))
    t.teardown(() => rmSync(missed.folder!, { recursive: true }))
    t.match(good, { passed: true, problems: [], folder: undefined })
    t.ok(good.steps > 0 && good.inputTokens > 0)
    t.equal(missed.passed, false)
    t.match(missed.problems[0].check, failed)
    t.ok(existsSync(`${missed.folder}/work`), 'its files are kept')
  })
}

t.test('there are thirty goals, each with a name, checks and scripts of its own', async (t) => {
  t.equal(GOALS.length, 30)
  t.equal(new Set(GOALS.map(({ name }) => name)).size, 30)
  t.same(Object.keys(SCRIPTS).sort(), GOALS.map(({ name }) => name).sort())
  for (const { name, checks } of GOALS) {
    t.ok(checks.length > 0 && new Set(checks.map(({ says }) => says)).size === checks.length, name)
    t.ok(Object.keys(SCRIPTS[name].bad).length > 0, name)
  }
})

t.test('a run that the provider breaks fails its goal whatever the checks say', async (t) => {
  const refused = { error: { status: 400, message: 'this model is gone' } }
  const missed = await tryScript({ ...goalOf('nothing-to-do'), checks: [] }, once(refused))
  t.teardown(() => rmSync(missed.folder!, { recursive: true }))
  t.match(missed.problems, [{ check: 'every run came to its end', found: /failed/ }])
})

/** Runs the command with no more of an environment than it is given. */
async function evaluate (args: string[], env: Record<string, string> = {}) {
  const options = { env: { PATH: process.env.PATH, ...env } }
  return execute(process.execPath, [RUN, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr })
  )
}

t.test('a model that is not configured, and options that mean nothing, are refused before anything begins', async (t) => {
  const refusals: Array<[args: string[], sentence: RegExp]> = [
    [['--model', 'anthropic/claude-sonnet-5.5'], /Set AI_GATEWAY_API_KEY, .*, or ANTHROPIC_API_KEY/],
    [['--model', 'ollama/llama4', '--only', 'keep-rclf'], /There is no goal "keep-rclf"/]
  ]
  const results = await Promise.all(refusals.map(([args]) => evaluate(args)))
  for (const [at, { code, stderr }] of results.entries()) {
    t.equal(code, 64)
    t.match(stderr, refusals[at][1])
  }
})

t.test('the command tries goals as often as it is told, shows what failed and where, and writes the results', async (t) => {
  const [reading, answer] = SCRIPTS['explain-code'].good.turns[0]
  let tries = 0
  const gateway = await startFakeGateway({
    reply ({ structured, body }) {
      if (structured !== undefined || !JSON.stringify(body).includes('Which entry does the cache')) return undefined
      if (body.prompt.at(-1).role === 'tool') return answer
      return ++tries === 1 ? reading : { text: 'Done.' }
    }
  })
  t.teardown(() => gateway.close())
  const json = `${t.testdir()}/results.json`
  const env = { AI_GATEWAY_API_KEY: 'scripted', AI_GATEWAY_BASE_URL: gateway.url }

  const { code, stdout } = await evaluate(['--model', 'scripted/model', '--only', 'explain-code', '--repeat', '2', '--json', json], env)

  t.equal(code, 1)
  const { trials } = JSON.parse(readFileSync(json, 'utf8'))
  t.match(trials, [{ passed: true }, { passed: false, folder: String }])
  t.teardown(() => rmSync(trials[1].folder, { recursive: true }))
  t.match(stdout, /explain-code +1 of 2 /)
  t.match(stdout, /Expected: the answer is that it is the one used least recently\. Found: it was "Done\."/i)
  t.match(stdout, trials[1].folder)
  t.match(stdout, /1 of 2 trials passed \(50 %, 95 % interval 9 % to 91 %\), 0 of 1 goals always/)
})

const trial = (rest: Partial<Trial> = {}): Trial =>
  ({
    ...{ goal: 'a', passed: true, problems: [], faults: [], ends: ['completed'] },
    ...{ steps: 2, calls: 1, inputTokens: 1_000, outputTokens: 20, ms: 1_500 },
    ...rest
  })

t.test('a table has a line for each goal, and a summary the rate, the cost as far as it is known, and the median time', async (t) => {
  const problems = [{ check: 'x holds', found: 'y' }]
  const failed = trial({ goal: 'b', passed: false, problems, folder: '/tmp/b', ms: 3_000, costUsd: 0.02 })
  const table = tableOf([trial({ costUsd: 0.01 }), failed])
  t.match(table, /^a +yes +2 +1 +1,000 +20 +\$0\.010 +1\.5 s$/m)
  t.match(table, /^b +NO .*\n\nb: expected: x holds\. Found: y\n {2}Its files are in \/tmp\/b$/m)
  t.equal(
    summaryOf([trial(), failed], { model: 'm', notTried: 3 }),
    'm: 1 of 2 goals passed, cost $0.020+, median time 2.3 s; 3 not tried, the budget is spent.'
  )
  t.match(summaryOf([trial(), trial()], { model: 'm' }), /2 of 2 trials passed \(100 %, 95 % interval 34 % to 100 %\).*cost \?/)
})

t.test('what the service owes the user of a weak model is a fault of its own, beside the goals', async (t) => {
  const call = { toolCallId: 'a', toolName: 'readFile', input: {}, status: 'error' as const }
  const run = { status: 'completed', output: 'Done.', toolCalls: [] }
  const of = (...runs: object[]) => faultsOf({ runs: runs as never, answers: [] })
  t.same(of(run, { ...run, output: '', stopped: { reason: 'empty', text: 'Nothing.' } }), [])
  t.same(of({ ...run, output: 'Yes.<|im_end|>' }, { ...run, output: ' ' }), [
    'an answer shows <|im_end|>',
    'a run says that it is completed, and nothing else'
  ])
  t.same(of({ ...run, status: 'running' }), ['a run is still running'])
  t.same(of({ ...run, toolCalls: Array(8).fill(call) }), [])
  t.same(of({ ...run, toolCalls: Array(9).fill(call) }), ['9 calls in a row were not carried out, and the run went on'])
  t.match(tableOf([trial({ faults: ['a run is still running'] })]), /\n\na: a fault of the service: a run is still running$/)
})

t.test('the interval of a rate is that of Wilson', async (t) => {
  t.same(interval(27, 30).map((bound) => bound.toFixed(3)), ['0.744', '0.965'])
  t.same(interval(0, 10).map((bound) => bound.toFixed(3)), ['0.000', '0.278'])
  t.equal(median([3, 1, 2]), 2)
})

t.test('amounts are found as people of several countries write them, and not in longer numbers', async (t) => {
  for (const text of ['1234.5', '1,234.50', '€1.234,50', '1 234,5.', '(1’234.50)']) t.match(text, amount(1234.5))
  for (const text of ['11234.5', '1234.51', '1,234.5.6', '234.5']) t.notMatch(text, amount(1234.5))
  for (const text of ['59,640 tickets', '59640.', '59.640', '59640.00']) t.match(text, amount(59_640))
  for (const text of ['59,641', '596400', '0.59640']) t.notMatch(text, amount(59_640))
})

t.test('the user of a goal approves what stays in the folder, all, nothing, or what no pattern denies', async (t) => {
  const call = (input: object, rule: Parameters<typeof isApproved>[0] = 'inside') =>
    isApproved(rule, { toolName: 'runCommand', input }, '/w/work')
  const inside = ['npm test', 'cat ./a.txt > b/c.txt', 'sed -i s/a/b/ x.js 2>/dev/null', 'ls /w/work/a', 'printf "..." > a']
  for (const command of inside) t.equal(call({ command }), true, command)
  const outside = ['rm ../x', 'cd .. && rm x', 'cat /etc/passwd', 'rm -rf ~', 'sudo ls', 'a; curl x', 'cat "/w/other"', 'ls /w/work/../x']
  for (const command of outside) t.equal(call({ command }), false, command)
  t.equal(call({ command: 'ls', cwd: '..' }), false)
  t.equal(call({ from: 'a', to: '../b' }), false)
  t.equal(call({ path: '/w/work/a' }), true)
  t.equal(call({ path: '../a' }, 'all'), true)
  t.equal(call({ path: 'a' }, 'none'), false)
  t.same([call({ path: 'a' }, { deny: /runCommand.*"b"/ }), call({ path: 'b' }, { deny: /runCommand.*"b"/ })], [true, false])
})

t.test('a model is configured by one variable or by a config, and the service gets nothing of another service', async (t) => {
  const env = { PATH: '/bin', AI_GATEWAY_API_KEY: 'k', LOCAL_AGENT_HOME: '/home/ada/.local-agent', NODE_OPTIONS: '--import x' }
  t.same(setupFor('anthropic/m', { env }), { model: 'anthropic/m', config: {}, env: { PATH: '/bin', AI_GATEWAY_API_KEY: 'k' } })
  t.match(setupFor('anthropic/m', { env: { ANTHROPIC_API_KEY: 'a' } }), { keys: { anthropic: 'a' } })
  t.match(setupFor('ollama/m', { env: {}, config: { providers: { ollama: {} } } }), { model: 'ollama/m' })
  t.match(setupFor('ollama/m', { env: {} }), { missing: /--config whose "providers" has "ollama"/ })
  t.match(setupFor('openai/m', { env: { ANTHROPIC_API_KEY: 'a' } }), { missing: /or OPENAI_API_KEY/ })
  t.match(setupFor('offline', { env }), { missing: /has the form/ })
})
