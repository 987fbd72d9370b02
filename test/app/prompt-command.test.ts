import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'

/** Runs `npm run prompt` with arguments. */
function run (t: Test, ...args: string[]) {
  const cwd = t.testdir({ 'notes.txt': 'x', 'AGENTS.md': 'Use tabs.' })
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/prompt.ts', ...args, '--cwd', cwd], { encoding: 'utf8' })
  return { status, calls: stdout.split(/^={100}$/m).slice(1), stdout, stderr }
}

t.test('the command prints what the models are told for a follow-up: each call, with what is new in it', async (t) => {
  const { status, calls } = run(t, 'follow-up', 'What is here?', '--fact', 'Likes tea')
  t.equal(status, 0)
  const steps = calls.filter((text) => /: step /.test(text))
  t.equal(steps.length, 4)
  t.match(
    steps[0],
    /--- tool readFile\n.*\n\{.*"path".*--- system\n.*--- system\n.*Likes tea.*--- user\n.*> Use tabs\..*--- user\nWhat is here\?/s
  )
  t.match(steps[1], /\[the tools of call \d\].*\[the first 4 messages of an earlier call\].*\[result of listDirectory: .*notes\.txt/s)
  t.match(steps[2], /Call \d, message 2: .*And what would you do next\?/s)
  t.ok(calls.some((text) => text.includes('message 1: analysis')))
})

t.test('and for a task: its plan, its first run and its last', async (t) => {
  const { status, calls } = run(t, 'task', 'Keep notes', '--runs', '2', '--steer', 'Be kind.', '--brief')
  t.equal(status, 0)
  t.match(calls[0], 'plan: plan')
  t.match(calls.find((text) => /run 2: step/.test(text)), /Be kind\..*The last run \(number 1, completed\)/s)
})

t.test('the options of a run stand in its prompt, and what is told of an object that never comes', async (t) => {
  const options = { instructions: 'Answer in French.', allowTools: ['listDirectory'], object: { schema: { type: 'object' }, retries: 1 } }
  for (const kind of ['chat', 'task']) {
    const { status, stdout } = run(t, kind, 'Look', '--options', JSON.stringify(options), '--runs', '1')
    t.equal(status, 0)
    t.match(stdout, /--- tool answer.*Instructions of the application:\nAnswer in French\..*Call the tool answer now/s)
    t.notMatch(stdout, '--- tool readFile')
  }
})

t.test('without a request that it knows it says how it is used', async (t) => {
  const { status, stdout } = run(t, 'song')
  t.equal(status, 64)
  t.match(stdout, /npm run prompt -- <chat\|follow-up\|task>/)
})

t.test('what it cannot use it names, instead of showing other prompts', async (t) => {
  t.match(run(t, 'chat', '--config', '{model}'), { status: 64, stderr: /^--config is not JSON: / })
  t.match(run(t, 'task', '--runs', 'many'), { status: 64, stderr: '--runs must be a number of runs, not many.' })
  const { status, stdout, stderr } = run(t, 'chat', '--config', '{"model": 5}')
  t.not(status, 0)
  t.equal(stdout, '')
  t.match(stderr, /"model" must be string/)
})
