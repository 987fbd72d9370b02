import t from 'tap'
import { isApproved } from '../../eval/approvals.ts'
import type { Trial } from '../../eval/trial.ts'
import { amount } from '../../eval/checks.ts'
import { setupFor } from '../../eval/models.ts'
import { interval, median, summaryOf, tableOf } from '../../eval/report.ts'

const trial = (rest: Partial<Trial> = {}): Trial =>
  ({ goal: 'a', passed: true, problems: [], steps: 2, calls: 1, inputTokens: 1_000, outputTokens: 20, ms: 1_500, ...rest })

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
