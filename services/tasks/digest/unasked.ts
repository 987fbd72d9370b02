import type { DigestUnasked } from '../../../schemas/digest.ts'
import type { Grants, Ledger } from '../../approvals/index.ts'
import type { RunRecord } from '../../runs/index.ts'
import type { ToolHost } from '../../tools/index.ts'
import { shorten } from './digest-text.ts'

/** The most calls that are listed for each reason. */
const CALLS_SHOWN = 5

type Call = RunRecord['toolCalls'][number]

export interface UnaskedParts {
  ledger: Pick<Ledger, 'all' | 'ofTask'>
  grants: Pick<Grants, 'views'>
  tools: Pick<ToolHost, 'say' | 'permission'>
}

/**
 * Returns the calls that a run made without asking anybody, grouped by the reason that allowed them. Calls that
 * only read, were denied or never began are left out.
 */
export async function unaskedOf (run: RunRecord, { ledger, grants, tools }: UnaskedParts): Promise<DigestUnasked[]> {
  const begun = run.toolCalls.filter(({ begun, status }) => begun && status !== 'denied')
  if (begun.length === 0) return []
  const { taskId, threadId } = run
  const items = await (taskId === undefined ? ledger.all(run.asked) : ledger.ofTask(run.asked))
  const asked = new Set(items.flatMap((item) => 'toolCallId' in item ? [item.toolCallId] : []))
  const unasked = begun.filter(({ toolCallId }) => !asked.has(toolCallId))
  if (unasked.length === 0) return []
  const known = unasked.some(({ grantId }) => grantId !== undefined)
    ? await grants.views(taskId === undefined ? { threadId } : { taskId })
    : []
  return [...Map.groupBy(unasked, (call) => call.grantId ?? whyOf(run, call, tools))].map(([key, calls]) => {
    const { grantId } = calls[0]
    return {
      why: grantId === undefined ? key as DigestUnasked['why'] : 'grant',
      grantId,
      covers: grantId && known.find((grant) => grant.grantId === grantId)?.text,
      calls: calls.slice(0, CALLS_SHOWN).map(({ toolCallId, toolName, input }) =>
        ({ toolCallId, toolName, about: shorten(tools.say({ toolName, input }).about) })),
      more: Math.max(calls.length - CALLS_SHOWN, 0)
    }
  })
}

/** Returns why a call could run although no grant covered it. */
function whyOf (run: RunRecord, { toolName }: Call, tools: UnaskedParts['tools']): DigestUnasked['why'] {
  if (run.options?.workspace === 'copy') return 'copy'
  return tools.permission(toolName) === 'ask' ? 'run' : 'settings'
}
