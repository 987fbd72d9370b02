import { join } from 'node:path'
import t from 'tap'
import { falseReports } from './cases/reports-false.ts'
import { honestReports } from './cases/reports-honest.ts'
import type { ReportCase } from './cases/report-case.ts'
import { likes, type JudgeCase } from './cases/case-types.ts'
import * as tuned from './cases/tuned.ts'
import * as unread from './cases/unread.ts'
import { judgementIn, runCase } from './run-case.ts'

type Case = Omit<JudgeCase, 'expect'> & Partial<Pick<ReportCase, 'kind' | 'expects'>>
type Result = Awaited<ReturnType<typeof runCase>>
/** What a judge answers to a case; undefined: nothing. */
type Judge = (each: Case, folder: string) => string | undefined
const JUDGES = {
  strict: judgementIn,
  'lenient and lists claims': (each, folder) => JSON.stringify(likes(...JSON.parse(judgementIn(each, folder)).claims)),
  'lenient and lists none': () => JSON.stringify(likes()),
  absent: () => undefined
} satisfies Record<string, Judge>

/** The half that the rules were tuned with are the cases at even places; the texts of the others are not shown. */
const half = (cases: ReportCase[], isTuned: boolean) => cases.filter((_, at) => (at % 2 === 0) === isTuned)

const isMarked = ({ status, evaluation }: Result) => status === 'failed' || evaluation.verified === false

async function judgeAll (folder: string, cases: Case[], judge: Judge): Promise<Array<{ each: Case, result: Result }>> {
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
