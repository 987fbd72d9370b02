import { join } from 'node:path'
import t, { type Test } from 'tap'
import { judgementIn, runCase } from './run-case.ts'
import { likes, type JudgeCase } from './cases/case-types.ts'
import * as tuned from './cases/tuned.ts'
import * as unread from './cases/unread.ts'

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

const asExpected = ({ status, evaluation }: Result, { expect }: JudgeCase) =>
  status === expect.status && JSON.stringify(evaluation.claims?.map(({ verdict }) => verdict)) === JSON.stringify(expect.claims)

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
    })
  })
}
