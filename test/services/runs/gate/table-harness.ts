import type { ToolItem } from '../../../../services/contracts/approval-record.ts'
import type { Call, CommandOfCall, Tool, ToolEffect } from '../../../../services/contracts/tool.ts'
import type { CallEnd } from '../../../../services/runs/gate/call-end.ts'
import { inputDigest } from '../../../../services/lib/canonical-json.ts'
import { makeRunPolicy } from '../../../../services/runs/gate/run-policy.ts'
import { settleCalls } from '../../../../services/runs/gate/settle-calls.ts'
import { approvalItem, HERE, makeStep } from './step.ts'
import { NOBODY_APPROVES, NOT_GRANTED } from '../../../../services/contracts/model-texts.ts'

const COPY = HERE.path

const asksAlways = async () => 'own'

type Kind = Pick<Tool, 'policy' | 'effects' | 'execute'>
const kindOf = (effect: ToolEffect) =>
  (policy: Partial<Tool['policy']> = {}, effects?: Tool['effects'], execute: Tool['execute'] = async () => ({})): Kind =>
    ({ policy: { effect, ...policy }, effects, execute })
const [read, write, external] = [kindOf('read'), kindOf('write'), kindOf('external')]
const asks = { permission: 'ask' } as const
const changesFile = { files: async () => ({ changed: [], preview: async () => ({}) }) }
const runsCommand = { command: () => ({}) as CommandOfCall }

/** The kinds of calls, by the tool that each is of; names that end with `text` are of calls that the model wrote as text. */
const TOOLS: Record<string, Kind> = {
  look: read(),
  'look-text': read(),
  change: write(asks),
  'change-text': write(asks),
  free: write(),
  'free-text': write(),
  fetch: read(),
  'fetch-asks': read(asks),
  own: write({ permission: asksAlways }),
  'edit-in': write(asks, changesFile),
  'edit-text': write({}, changesFile),
  'edit-own': write({ permission: asksAlways }, changesFile),
  'edit-out': write(asks, changesFile),
  command: external(asks, runsCommand),
  outside: external(asks, runsCommand),
  message: read({}, { proves: 'message' }),
  stop: external({ needs: ['commands'] }),
  user: read({}, {}, { by: 'user' }),
  app: write(asks, {}, { by: 'app' }),
  'app-look': read({}, {}, { by: 'app' }),
  'app-text': write({}, {}, { by: 'app' })
}

export const CALLS = Object.keys(TOOLS)
export const SITUATIONS = [
  'person', 'grant', 'rests', 'denied', 'denied+grant', 'nobody', 'nobody+grant', 'never',
  'copy', 'copy+nobody', 'copy+denied', 'rehearsal', 'rehearsal+grant', 'dry-run',
  'approved', 'open', 'refused', 'expired', 'begun'
]
const STATES: Record<string, ToolItem['state']> = { approved: 'approved', open: 'pending', refused: 'denied', expired: 'expired' }

/** Settles one call in a situation, and says what a person sees of it. */
export const outcomeOf = async (name: string, situation: string): Promise<string> => outcomeIn(await settledIn(name, situation))

/** Settles one call in a situation. */
export async function settledIn (name: string, situation: string) {
  const has = (part: string) => situation.split('+').includes(part)
  const isRehearsal = has('rehearsal') || has('dry-run')
  const happened: string[] = []
  let end: CallEnd | undefined
  let line: { asks: boolean, outcome: string } | undefined
  const tool = TOOLS[name]
  const call: Call = { toolCallId: 'call', toolName: name, input: {}, ...(name.endsWith('text') && { isFromText: true as const }) }
  const state = STATES[situation]
  const step = makeStep({
    tools: {
      find: () => tool as never,
      permission: () => tool.policy.permission === 'ask' || name === 'edit-own' ? 'ask' : 'allow',
      copyAt: () => has('copy') || isRehearsal ? { folder: COPY } as never : undefined,
      boundary: async () => name === 'command' ? { is: 'confined', folder: HERE } as never : undefined,
      foresee: async () => ({ places: [{ path: `${name === 'edit-out' ? '/elsewhere' : COPY}/a.txt` }], shown: [] }),
      async execute () {
        happened.push('run')
        return { status: 'completed', output: {}, durationMs: 1 }
      }
    },
    begun: new Set(has('begun') ? ['call'] : []),
    itemsOf: () => ({ approval: state && approvalItem(state) }),
    policy: makeRunPolicy({
      asks: !has('never'),
      interactive: !has('nobody'),
      onlyGranted: isRehearsal,
      mayAsk: !isRehearsal && !has('nobody')
    }),
    grants: { covering: async () => has('grant') || has('rests') ? { folder: HERE, grant: { grantId: 'g' } as never } : undefined },
    addresses: { question: async () => name.startsWith('fetch') && !has('never') ? { reason: 'address', because: [] } : undefined },
    refused: has('denied') ? [{ toolName: name, input: {}, digest: inputDigest({}) }] : [],
    async begin (_call, _isDurable, _ops, grant) {
      if (grant !== undefined && has('rests')) return false
      if (grant !== undefined) happened.push('used')
      return true
    },
    async end (_call, ended) {
      end = ended
    }
  })
  if (isRehearsal) {
    step.rehearsal = { cwd: '/folder', isOnCopy: has('dry-run'), grants: step.grants, note: (noted) => void (line = noted) }
  }
  const { asked, isWaiting } = await settleCalls([call], step)
  return { happened, end, line, asked, isWaiting }
}

function outcomeIn ({ happened, end, line, asked, isWaiting }: Awaited<ReturnType<typeof settledIn>>): string {
  const used = happened.includes('used')
  if (happened.includes('run')) return line !== undefined ? 'noted' : used ? 'used' : 'run'
  if (asked[0]?.kind === 'app') return used ? 'app-used' : 'app'
  if (asked.length > 0) return asked[0].kind === 'tool' ? 'ask' : asked[0].kind
  if (isWaiting) return 'wait'
  if (end?.state === 'unknown') return 'unknown'
  if (end?.event.type === 'tool-output' && line !== undefined) return 'sheet'
  const { event } = end!
  if (event.type !== 'tool-denied') return `${event.type}`
  if (end!.state === 'expired') return 'late'
  if (event.reason.startsWith('The user cannot be asked')) return line === undefined ? 'none' : 'noted-none'
  if (event.reason.startsWith(NOBODY_APPROVES) || event.reason.startsWith(NOT_GRANTED)) return 'nobody'
  return event.reason === 'no' ? 'no' : 'before'
}
