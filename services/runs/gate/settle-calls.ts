import type { WaitingCall } from '../../contracts/approval-record.ts'
import type { Call } from '../../contracts/tool.ts'
import type { Question } from '../../../schemas/questions.ts'
import { runInOrder } from '../../tools/index.ts'
import type { CheckedCall } from './call-policy.ts'
import { completedCall, refusedCall } from './call-end.ts'
import { checkCall, type Verdict, WHERE_ASKED } from './check-call.ts'
import { executeCall, handOutCall } from './execute-call.ts'
import { requestApproval } from './request-approval.ts'
import type { SettledStep } from './settled-step.ts'

/**
 * Settles the open calls of a step and returns the calls that wait for a person or the application. Rejects if the run is aborted. The
 * order:
 * - All calls are checked before any call runs. While an answer for one of them is open, none runs.
 * - The calls that are allowed to run are executed: reads in parallel, others one after the other. Each is checked again immediately before
 *   it runs.
 * - The calls that need an approval ask for it. When no call of the step waits, the calls of the application are handed out.
 */
export async function settleCalls (open: readonly Call[], step: SettledStep): Promise<{ asked: WaitingCall[], isWaiting: boolean }> {
  if (open.length > 0) await step.addresses.note()
  const verdicts: Array<{ checked: CheckedCall, verdict: Verdict }> = []
  for (const call of open) {
    const checked: CheckedCall = { call, takenBack: [] }
    verdicts.push({ checked, verdict: await checkCall(checked, step) })
  }
  if (verdicts.some(({ verdict }) => verdict.is === 'wait' && !verdict.asks)) return { asked: [], isWaiting: true }
  const byApp = ({ call }: CheckedCall) => step.tools.find(call.toolName)?.execute.by === 'app'
  const asked = new Map<string, WaitingCall>()

  async function settle (checked: CheckedCall, verdict: Exclude<Verdict, { is: 'run' }>): Promise<void> {
    const { call } = checked
    switch (verdict.is) {
      case 'ended':
        return step.end(call, verdict.end)
      case 'answer':
        return step.end(call, completedCall(call, { output: verdict.output }))
      case 'deny':
        return step.end(call, refusedCall(call, 'denied', verdict.reason))
      case 'wait':
        return void asked.set(call.toolCallId, questionOf(call))
      case 'ask': {
        const request = await requestApproval(call, step, verdict.concerns)
        if ('end' in request) return step.end(call, request.end)
        asked.set(call.toolCallId, request)
      }
    }
  }

  /** Checks a call once more and, if it is allowed to run, starts it with `begin`. */
  async function run (checked: CheckedCall, begin: typeof executeCall): Promise<void> {
    const verdict = await checkCall(checked, step)
    if (verdict.is !== 'run') return settle(checked, verdict)
    const outcome = await begin(checked, step, verdict.because)
    if (outcome.is === 'asked') asked.set(checked.call.toolCallId, outcome.request)
    if (outcome.is !== 'refused') return
    const after = await checkCall(checked, step, { policies: WHERE_ASKED, concerns: outcome.concerns })
    if (after.is !== 'run') await settle(checked, after)
  }

  const mayRun = verdicts.flatMap(({ checked, verdict }) => verdict.is === 'run' ? [checked] : [])
  const others = verdicts.flatMap(({ checked, verdict }) => verdict.is === 'run' ? [] : [{ checked, verdict }])
  const isOver = ({ verdict }: typeof others[number]) => verdict.is === 'ended' || verdict.is === 'answer'
  const isRead = ({ call }: CheckedCall) => step.tools.find(call.toolName)?.policy.effect === 'read'
  for (const each of others) if (isOver(each)) await settle(each.checked, each.verdict)
  await runInOrder(mayRun.filter((checked) => !byApp(checked)), isRead, (checked) => run(checked, executeCall))
  for (const each of others) if (!isOver(each)) await settle(each.checked, each.verdict)
  if (asked.size === 0) { for (const checked of mayRun) if (byApp(checked)) await run(checked, handOutCall) }
  return { asked: open.flatMap(({ toolCallId }) => asked.get(toolCallId) ?? []), isWaiting: asked.size > 0 }
}

/** Returns the questions of a call to the user. */
const questionOf = ({ toolCallId, input }: Call): WaitingCall => ({ kind: 'question', toolCallId, ...input as { questions: Question[] } })
