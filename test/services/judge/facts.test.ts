import t from 'tap'
import { factsLine } from '../../../services/judge/facts-line.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import type { FileChange } from '../../../services/contracts/tool.ts'
import { OUTCOME_UNKNOWN } from '../../../services/contracts/model-texts.ts'
import { build } from '../tools/helper.ts'
import { runCase } from './run-case.ts'
import { call, claim, failedCall, judged, likes, ran, wrote, type Claim, type ToolCall } from './cases/case-types.ts'

type Outcome = { output: object, changes?: FileChange[] } | { error: string } | 'denied'

function eventsOf (calls: Array<[toolName: string, input: object, Outcome]>): RunEvent[] {
  return calls.flatMap(([toolName, input, outcome], at): RunEvent[] => {
    const about = { toolCallId: `c${at}`, toolName }
    const begun: RunEvent = { type: 'tool-input', ...about, input }
    if (outcome === 'denied') return [begun, { type: 'tool-denied', ...about, reason: 'No.' }]
    if ('error' in outcome) return [begun, { type: 'tool-error', ...about, errorText: outcome.error }]
    const { output, changes } = outcome
    return [begun, { type: 'tool-output', ...about, output: output as Record<string, unknown>, ...(changes && { changes }) }]
  })
}

t.test('a run that called nothing has a line of zeros', (t) => {
  t.equal(
    factsLine([], () => undefined, '/work'),
    '0 calls: 0 read, 0 write, 0 command, 0 external; 0 failed, 0 denied, 0 unknown · files: 0 made, 0 changed, 0 deleted · ' +
      'commands: 0 · external calls: 0'
  )
  t.end()
})

t.test('the line counts calls by effect, what became of files, and how commands ended', (t) => {
  const { host } = build({ workspace: t.testdir() })
  const events = eventsOf([
    ['readFile', { path: 'a' }, { output: {} }],
    ['writeFile', { path: 'a' }, { output: {}, changes: [{ path: '/work/a', before: null, after: 'x' }] }],
    ['editFile', { path: 'a' }, { output: {}, changes: [{ path: '/work/a', before: 'x', after: 'y' }] }],
    ['editFile', { path: 'b' }, { output: {}, changes: [{ path: '/work/b', before: 'x', after: 'y' }] }],
    ['deleteFile', { path: 'c' }, { output: {}, changes: [{ path: '/work/c', before: 'x', after: null }] }],
    ['deleteFile', { path: 'd' }, 'denied'],
    ['runCommand', { command: 'npm\ntest' }, { output: { exitCode: 1 }, changes: [] }],
    ['runCommand', { command: `echo ${'x'.repeat(100)}` }, { output: { exitCode: 0 } }],
    ['mail_send', { to: 'a@b.example' }, { output: {} }],
    ['mail_send', { to: 'c@b.example' }, { error: OUTCOME_UNKNOWN }]
  ])
  t.equal(
    factsLine(events, host.find, '/work'),
    '10 calls: 1 read, 5 write, 2 command, 2 external; 0 failed, 1 denied, 1 unknown · files: 1 made, 1 changed, 1 deleted ' +
      `(what 1 command did to files is not recorded) · commands: 2 (npm test: exit code 1; echo ${'x'.repeat(35)}…: exit code 0) · ` +
      'external calls: 2'
  )
  t.end()
})

type Expects = 'none' | 'files' | 'message' | 'command'
const judge = async (folder: string, calls: ToolCall[], claims: Claim[], expects?: Expects, outcome = 'done') => {
  const given = { name: 'x', language: 'English', goal: 'x', calls, report: 'Done.', judgement: judged('done'), expects }
  return (await runCase(given, folder, JSON.stringify({ ...likes(...claims), outcome }))).evaluation
}

t.test('a command that is said to have succeeded is not confirmed after an exit code, and the newest run of it counts', async (t) => {
  const passes = { ...claim('command', 'All tests pass', 'npm test', 'c1'), succeeded: true }
  const failed = await judge(t.testdir(), [ran('c1', 'npm test', 1)], [passes])
  t.match(failed, { verified: false, score: 0.6, claims: [{ verdict: 'unchecked', reason: 'The command ended with exit code 1.' }] })
  t.equal(failed.outcome, 'done', 'the mark fails no run')
  const mended = await judge(t.testdir(), [ran('c1', 'npm test', 1), ran('c2', 'npm test', 0)], [passes])
  t.match(mended, { verified: undefined, claims: [{ verdict: 'confirmed', succeeded: true }] })
  const told = await judge(t.testdir(), [ran('c1', 'npm test', 1)], [{ ...passes, succeeded: false }])
  t.equal(told.verified, undefined, 'a failure that is told of is confirmed')
})

t.test('a number is compared with what the calls show', async (t) => {
  const files = [wrote('c1', 'out/1', 'a'), wrote('c2', 'out/2', 'b'), wrote('c3', 'notes', 'c')]
  const all = (count: number) => ({ ...claim('file', 'Wrote them', 'out', 'c1'), count })
  t.equal((await judge(t.testdir(), files, [all(2)])).verified, undefined)
  t.match(await judge(t.testdir(), files, [all(3)]), { verified: false, claims: [{ reason: 'The calls show 2, not 3.' }] })
  const withCommand = await judge(t.testdir(), [...files, ran('c4', './more.sh', 0)], [all(3)])
  t.match(withCommand, { verified: false, claims: [{ reason: /a call whose changes are not recorded may account for others/ }] })
  const sent = [call('c1', 'mail_send', { to: ['a@b.example', 'c@b.example'] }), call('c2', 'mail_send', { to: 'd@b.example' })]
  const mails = (count: number) => ({ ...claim('message', 'Sent them', undefined, 'c1'), count })
  t.equal((await judge(t.testdir(), sent, [mails(3)])).verified, undefined)
  t.match(await judge(t.testdir(), sent, [mails(4)]), { verified: false, claims: [{ reason: 'The calls show 3, not 4.' }] })
})

t.test('the effect that a plan expects must have had a call that can have had it', async (t) => {
  const calls = {
    files: wrote('c1', 'a', 'x'),
    message: call('c1', 'mail_send', { to: 'a@b.example' }),
    command: ran('c1', 'true', 0)
  }
  const named = {
    files: claim('file', 'Wrote a', 'a', 'c1'),
    message: claim('message', 'Sent', 'a@b.example', 'c1'),
    command: claim('command', 'Ran', 'true', 'c1')
  }
  for (const expects of ['files', 'message', 'command'] as const) {
    t.equal((await judge(t.testdir(), [calls[expects]], [named[expects]], expects)).verified, undefined, expects)
    const looked = await judge(t.testdir(), [call('c1', 'readFile', { path: 'a' })], [], expects)
    t.match(looked, { verified: false, score: 0.6, outcome: 'done', issues: [/^The plan expects /] }, expects)
  }
  t.equal((await judge(t.testdir(), [], [], 'none')).verified, undefined)
  t.match(await judge(t.testdir(), [calls.files], [named.files], 'message'), { verified: false, issues: [/expects a message/] })
})

t.test('a run that looked and had nothing to do has no mark; one that looked at nothing, or tried in vain, has', async (t) => {
  const looked = [call('c1', 'readFile', { path: 'a' }), ran('c2', 'grep -c new inbox', 1)]
  const quiet = (calls: ToolCall[]) => judge(t.testdir(), calls, [], 'files', 'nothing_to_do')
  t.match(await quiet(looked), { outcome: 'nothing_to_do', verified: undefined, score: 0.97 })
  t.match(await quiet([]), { verified: false, score: 0.6 })
  t.match(await quiet([...looked, failedCall('c3', 'writeFile', { path: 'b', content: '' }, 'ENOSPC')]), { verified: false, score: 0.6 })
  t.match(await quiet([...looked, wrote('c3', 'b', 'x')]), { verified: false, issues: [/can have changed something/] })
})
