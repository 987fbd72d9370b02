import { join } from 'node:path'
import t, { type Test } from 'tap'
import { OUTCOME_UNKNOWN } from '../../../services/contracts/model-texts.ts'
import type { RunEvent } from '../../../services/contracts/run-events.ts'
import type { FileChange } from '../../../services/contracts/tool.ts'
import { factsLine } from '../../../services/judge/facts-line.ts'
import { build } from '../tools/helper.ts'
import { call, claim, type Claim, failedCall, type JudgeCase, judged, likes, ran, type ToolCall, wrote } from './cases/case-types.ts'
import type { ReportCase } from './cases/report-case.ts'
import { falseReports } from './cases/reports-false.ts'
import { honestReports } from './cases/reports-honest.ts'
import * as tuned from './cases/tuned.ts'
import * as unread from './cases/unread.ts'
import { judgementIn, runCase } from './run-case.ts'

type Half = typeof tuned
type Result = Awaited<ReturnType<typeof runCase>>
/** What a judge answers to a case: as the case says, liking everything, or not at all. */
type Judge = (each: JudgeCase, folder: string) => string | undefined
const careful: Judge = judgementIn
const fond: Judge = (each, folder) => JSON.stringify(likes(...JSON.parse(judgementIn(each, folder)).claims))
const absent: Judge = () => undefined

/** A report counts as confirmed when the run completes and nothing in its evaluation says that something was not checked. */
const isConfirmed = ({ status, evaluation }: Result) =>
  status === 'completed' && evaluation.evidence !== 'unchecked' && evaluation.evidence !== 'contradicted'

/** Runs cases; returns the failed ones by language, in words that hold no text of the case unless `shows`. */
async function failures (t: Test, cases: JudgeCase[], judge: Judge, isRight: (result: Result, each: JudgeCase) => boolean, shows: boolean) {
  const folder = t.testdir()
  const home = process.env.HOME
  const counts = new Map<string, { passed: number, failed: number }>()
  const failed: string[] = []
  for (const [at, each] of cases.entries()) {
    const place = join(folder, String(at))
    // A path below the home of the case's user lies below this folder.
    process.env.HOME = join(place, '/home/user')
    const result = await runCase(each, place, judge(each, place))
    const count = counts.get(each.language) ?? { passed: 0, failed: 0 }
    counts.set(each.language, count)
    if (isRight(result, each)) count.passed++
    else {
      count.failed++
      failed.push(shows ? `${each.language}: ${each.name}: ${result.status} ${JSON.stringify(result.evaluation)}` : each.language)
    }
  }
  process.env.HOME = home
  const lines = [...counts].sort().map(([language, { passed, failed }]) => `${language} ${passed}/${passed + failed}`)
  t.comment(lines.join(', '))
  return failed
}

/**
 * Whether a run got the verdicts of its case. What the calls contradict may be marked in place of failed where a call that succeeded is
 * about the same, because the judge may have misread the sentence.
 */
function asExpected ({ status, evaluation: { claims = [], verified } }: Result, { expect }: JudgeCase): boolean {
  const isMarked = expect.status === 'failed' && verified === false
  return (status === expect.status || isMarked) && claims.length === expect.claims.length &&
    claims.every(({ verdict }, at) => verdict === expect.claims[at] || (verdict === 'unchecked' && expect.claims[at] === 'contradicted'))
}

const READS = new Set(['readFile', 'listDirectory', 'fetchUrl', 'webSearch', 'systemInfo', 'screenshot'])
/** Without a judge, a run whose last call of an effect failed, or of whose effects none came about, fails also when its report says so. */
function failedPlainly ({ calls }: JudgeCase): boolean {
  const tried = calls.filter(({ tool }) => !READS.has(tool))
  return tried.at(-1)?.status === 'error' || (tried.length > 0 && tried.every(({ status }) => status === 'error' || status === 'denied'))
}

for (const [name, half] of Object.entries({ tuned, unread } satisfies Record<string, Half>)) {
  const shows = name === 'tuned'
  t.test(`${name} cases`, async (t) => {
    for (const [kind, judge] of Object.entries({ careful, fond, absent })) {
      await t.test(`no honest run fails before a judge that is ${kind}`, async (t) => {
        const plain = judge === absent ? half.honest.filter(failedPlainly) : []
        t.comment(`${plain.length} of ${half.honest.length} honest runs are left out, because their calls failed and nobody reads what ` +
          'they say of it')
        t.ok(plain.length <= 1)
        const honest = half.honest.filter((each) => !plain.includes(each))
        t.same(await failures(t, honest, judge, ({ status }) => status === 'completed', shows), [])
      })
      await t.test(`no false report is confirmed before a judge that is ${kind}`, async (t) => {
        t.same(await failures(t, half.falseReports, judge, (result) => !isConfirmed(result), shows), [])
      })
    }
    await t.test('runs get the status and verdicts of the case', async (t) => {
      const failed = [
        ...await failures(t, half.honest, careful, asExpected, shows),
        ...await failures(t, half.falseReports, careful, asExpected, shows)
      ]
      // One verdict of the half that the code was not written with is another than its author gave; see docs/decisions.
      if (shows) t.same(failed, [])
      else t.ok(failed.length <= 1, `${failed.length} of ${half.honest.length + half.falseReports.length} differ`)
      const marked = await failures(t, half.falseReports, careful, ({ status }) => status === 'failed', shows)
      t.ok(marked.length <= half.falseReports.length / 2, `${marked.length} of ${half.falseReports.length} false reports are marked only`)
    })
  })
}

type Case = Omit<JudgeCase, 'expect'> & Partial<Pick<ReportCase, 'kind' | 'expects'>>
/** What a judge answers to a case; undefined: nothing. */
type JudgeReport = (each: Case, folder: string) => string | undefined
const JUDGES = {
  strict: judgementIn,
  'lenient and lists claims': (each, folder) => JSON.stringify(likes(...JSON.parse(judgementIn(each, folder)).claims)),
  'lenient and lists none': () => JSON.stringify(likes()),
  absent: () => undefined
} satisfies Record<string, JudgeReport>

/** The half that the rules were tuned with are the cases at even places; the texts of the others are not shown. */
const half = (cases: ReportCase[], isTuned: boolean) => cases.filter((_, at) => (at % 2 === 0) === isTuned)

const isMarked = ({ status, evaluation }: Result) => status === 'failed' || evaluation.verified === false

async function judgeAll (folder: string, cases: Case[], judge: JudgeReport): Promise<Array<{ each: Case, result: Result }>> {
  const results = []
  const home = process.env.HOME
  for (const [at, each] of cases.entries()) {
    const place = join(folder, String(at))
    process.env.HOME = join(place, '/home/user')
    results.push({ each, result: await runCase(each, place, judge(each, place)) })
  }
  process.env.HOME = home
  return results
}

const shown = (shows: boolean) => ({ each, result }: { each: Case, result: Result }) =>
  shows ? `${each.language}: ${each.name}: ${result.status} ${JSON.stringify(result.evaluation)}` : each.language

/** Honest failures are judged failed by a careful judge, and by their calls where there is none. */
const mayFail = ({ kind, calls }: Case) =>
  kind === 'failure' || (kind === 'partial' && calls.at(-1)?.status === 'error')

for (const isTuned of [true, false]) {
  t.test(`${isTuned ? 'tuned' : 'unread'} reports`, async (t) => {
    const honest = half(honestReports, isTuned)
    for (const [name, judge] of Object.entries(JUDGES)) {
      await t.test(`before a judge that is ${name}`, async (t) => {
        const ofHonest = await judgeAll(join(t.testdir(), 'honest'), honest, judge)
        const marked = ofHonest.filter(({ result }) => isMarked(result))
        t.comment(`${marked.length} of ${honest.length} honest reports are marked or failed`)
        const failed = ofHonest.filter(({ each, result }) => result.status === 'failed' && !mayFail(each))
        t.same(failed.map(shown(isTuned)), [], 'no honest run failed')
        if (judge === JUDGES.strict) {
          const doubted = ofHonest.filter(({ each, result }) => each.kind !== 'failure' && isMarked(result))
          t.same(doubted.map(shown(isTuned)), [], 'a careful judge leaves honest reports unmarked')
        }

        const ofFalse = await judgeAll(join(t.testdir(), 'false'), half(falseReports, isTuned), judge)
        const unmarked = ofFalse.filter(({ result }) => !isMarked(result))
        t.comment(`${unmarked.length} of ${ofFalse.length} false reports are unmarked`)
        t.same(unmarked.map(shown(isTuned)), [], 'no false effect without its mark')
        for (const { result: { evaluation } } of [...ofHonest, ...ofFalse]) {
          if (evaluation.verified === false) t.ok(evaluation.score <= 0.6, 'a marked run has a score of .6 at most')
        }
      })
    }
  })
}

/** What a plan would expect of the goal of an older case: the first effect of its report, as it has no plan. */
function expectedOf ({ judgement: { claims } }: Case): ReportCase['expects'] {
  const effect = claims[0]?.effect
  return effect === 'file' || effect === 'deletion' ? 'files' : effect === 'message' || effect === 'command' ? effect : 'none'
}

t.test('older false reports are marked before a judge that likes all and lists nothing, where a plan said what to expect', async (t) => {
  for (const [name, { falseReports }] of Object.entries({ tuned, unread })) {
    const withoutPlan = await judgeAll(join(t.testdir(), name), falseReports, JUDGES['lenient and lists none'])
    const unplanned = withoutPlan.filter(({ result }) => !isMarked(result))
    t.comment(`${name}: ${unplanned.length} of ${falseReports.length} are unmarked without a plan`)
    const planned = falseReports.map((each) => ({ ...each, expects: expectedOf(each) }))
    const results = await judgeAll(join(t.testdir(), `${name}-planned`), planned, JUDGES['lenient and lists none'])
    const unmarked = results.filter(({ result }) => !isMarked(result))
    t.comment(`${name}: ${unmarked.length} of ${falseReports.length} are unmarked with a plan`)
    t.same(unmarked.map(shown(name === 'tuned')), [])
  }
})

type Outcome = { output: object, changes?: FileChange[] } | { error: string } | 'denied' | 'asked'

function eventsOf (calls: Array<[toolName: string, input: object, Outcome]>): RunEvent[] {
  return calls.flatMap(([toolName, input, outcome], at): RunEvent[] => {
    const about = { toolCallId: `c${at}`, toolName }
    const begun: RunEvent = { type: 'tool-input', ...about, input }
    if (outcome === 'denied') return [begun, { type: 'tool-denied', ...about, reason: 'No.' }]
    if (outcome === 'asked') return [begun, { type: 'approval-request', ...about, approvalId: `a${at}`, input, expiresAt: 1 }]
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

t.test('a call that waits for a person is unanswered; when it was begun after that, its outcome can be unknown', (t) => {
  const { host } = build({ workspace: t.testdir() })
  const events = eventsOf([['runCommand', { command: 'npm test' }, 'asked'], ['mail_send', { to: 'a@b.example' }, 'asked']])
  t.equal(
    factsLine(events, host.find, '/work'),
    '2 calls: 0 read, 0 write, 1 command, 1 external; 0 failed, 0 denied, 0 unknown, 2 unanswered · ' +
      'files: 0 made, 0 changed, 0 deleted · commands: 0 · external calls: 0'
  )
  t.match(
    factsLine([...events, { type: 'tool-intent', toolCallId: 'c0' }], host.find, '/work'),
    /1 unknown, 1 unanswered · .* · commands: 1 \(npm test: outcome unknown\) · external calls: 0$/
  )
  t.end()
})

type Expects = 'none' | 'files' | 'message' | 'command'
const judge = async (folder: string, calls: ToolCall[], claims: Claim[], expects?: Expects, outcome = 'done') => {
  const given = { name: 'x', language: 'English', goal: 'x', calls, report: 'Done.', judgement: judged('done'), expects }
  const quoted = claims.map((each) => ({ ...each, quote: 'Done.' }))
  return (await runCase(given, folder, JSON.stringify({ ...likes(...quoted), outcome }))).evaluation
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
