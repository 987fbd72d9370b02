import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Claim, type ToolCall } from './cases/case-types.ts'
import { falseReports, honestReports, type ReportCase, type ReportCall } from './cases/reports-open.ts'
import { quotedSentence } from '../../../services/judge/borne-out.ts'
import { runCase } from './run-case.ts'

type Half = Record<'honestReports' | 'falseReports', ReportCase[]>

const EFFECTS: Record<string, Claim['effect']> = {
  ...{ writeFile: 'file', editFile: 'file', moveFile: 'file' },
  ...{ deleteFile: 'deletion', runCommand: 'command' }
}
const targetOf = ({ path, to, command }: Record<string, any>): string | undefined => to ?? path ?? command

function toolCall ({ toolName, input, output, ok }: ReportCall, at: number): ToolCall {
  const path = String(input.to ?? input.path)
  const [before, after] = toolName === 'deleteFile' ? ['x', null] : [toolName === 'editFile' ? 'old' : null, String(input.content ?? 'new')]
  return {
    id: `c${at}`,
    tool: toolName,
    input,
    status: ok ? 'completed' : 'error',
    output,
    ...(EFFECTS[toolName] !== undefined && toolName !== 'runCommand' && ok && { changedFile: { path, before, after } })
  }
}

const sentencesOf = (report: string) =>
  [...new Intl.Segmenter('und', { granularity: 'sentence' }).segment(report)].map(({ segment }) => segment.trim())

/** What a judge says that reads well: the effects that the calls had, and the false sentence with what it seems to be about. */
function strict ({ calls, report, honest, falseSentence, saysItFailed }: ReportCase): object {
  const named = calls.flatMap(({ toolName, input, ok }) => {
    const target = targetOf(input)
    const effect = EFFECTS[toolName]
    const quote = target === undefined ? undefined : quotedSentence(report, target.split('/').at(-1)!)
    return !ok || effect === undefined || quote === undefined ? [] : [{ quote, claim: quote, effect, target, call: null }]
  })
  if (honest) {
    return saysItFailed
      ? { outcome: 'failed', satisfied: false, score: 0.3, quote: report, issues: [], claims: named }
      : { outcome: 'done', satisfied: true, score: 0.9, issues: [], claims: named }
  }
  const path = /[\p{L}\p{N}_/-]+\.[a-z]{2,4}(?![\p{L}\p{N}])/u.exec(falseSentence!)?.[0]
  const effect = calls.some(({ toolName }) => toolName === 'runCommand') ? 'command' : path === undefined ? 'message' : 'file'
  const claim = { quote: falseSentence, claim: falseSentence, effect, target: path ?? null, call: null, succeeded: true }
  return { outcome: 'failed', satisfied: false, score: 0.1, issues: ['The calls do not show it.'], claims: [claim] }
}

/** A judge that finds effects in sentences that have none, takes effects for others, and quotes what nobody wrote. */
function inventing ({ calls, report }: ReportCase): object {
  const sentences = sentencesOf(report)
  const claims = sentences.flatMap((quote) => [
    { quote, claim: quote, effect: 'message', target: 'boss@example.org', call: null },
    { quote, claim: quote, effect: 'deletion', target: null, call: null },
    ...calls.map(({ input }) => ({ quote, claim: quote, effect: 'deletion', target: targetOf(input) ?? null, call: 'c0', count: 7 }))
  ])
  const invented = { quote: 'I deleted the whole disk', claim: 'Deleted all', effect: 'deletion', target: '/', call: null }
  return {
    ...{ outcome: 'failed', satisfied: false, score: 0, quote: 'The run failed completely.', issues: ['All wrong.'], missing: ['a poem'] },
    claims: [...claims, invented]
  }
}

const JUDGES: Record<string, (each: ReportCase) => object> = {
  strict,
  'one that approves everything': () => ({ outcome: 'done', satisfied: true, score: 1, issues: [], claims: [] }),
  'one that returns fillers': () =>
    ({ outcome: 'N/A', satisfied: 'N/A', score: 'N/A', quote: 'N/A', issues: ['N/A'], claims: [{ quote: 'string' }] }),
  'one that invents claims': inventing
}

async function judgeAll (t: Test, cases: ReportCase[], judge: (each: ReportCase) => object) {
  const folder = t.testdir()
  const results = []
  for (const [at, each] of cases.entries()) {
    const { language, request: goal, report } = each
    const given = { name: String(at), language, goal, report, calls: each.calls.map(toolCall), judgement: {} as never }
    results.push({ each, ...await runCase(given, join(folder, String(at)), JSON.stringify(judge(each))) })
  }
  return results
}

/** The half that the rules were written with, and the one that nobody looked into. */
async function halves (): Promise<Record<string, Half>> {
  const all = Object.values(await import('./cases/reports-held.ts')).filter((each) => Array.isArray(each)).flat() as ReportCase[]
  const held = { honestReports: all.filter(({ honest }) => honest), falseReports: all.filter(({ honest }) => !honest) }
  return { open: { honestReports, falseReports }, held }
}

t.test('reports before four judges', async (t) => {
  for (const [half, cases] of Object.entries(await halves())) {
    for (const [name, judge] of Object.entries(JUDGES)) {
      await t.test(`${half} half, before a judge that is ${name}`, async (t) => {
        const honest = await judgeAll(t, cases.honestReports, judge)
        const failed = honest.filter(({ status, each }) => status === 'failed' && !each.saysItFailed)
        const told = honest.filter(({ status, each }) => status === 'failed' && each.saysItFailed)
        t.comment(`${failed.length} of ${honest.length} honest runs failed, and ${told.length} whose reports say that they failed`)
        t.same(failed.map(({ each, evaluation }) => half === 'open' ? `${each.report} ${JSON.stringify(evaluation)}` : each.language), [])
        const untrue = await judgeAll(t, cases.falseReports, judge)
        const unmarked = untrue.filter(({ status, evaluation }) => status !== 'failed' && evaluation.verified !== false)
        const lost = untrue.filter(({ status }) => status === 'failed')
        t.comment(`${unmarked.length} of ${untrue.length} false reports are unmarked; ${lost.length} failed`)
        if (judge === strict) t.same(unmarked.map(({ each }) => half === 'open' ? each.report : each.language), [])
      })
    }
  }
})
