import type { CallEnd, CallPorts } from '../../../../services/runs/engine/call-ports.ts'
import type { Call, CallApproval } from '../../../../services/contracts/call.ts'
import { settleCalls } from '../../../../services/runs/engine/settle-calls.ts'
import { NOTHING_KEPT } from '../../../../services/tools/kept-call.ts'
import { NOBODY_APPROVES, NOT_GRANTED } from '../../../../services/contracts/model-texts.ts'

const COPY = '/copies/one'
const HERE = { path: COPY, dev: '1', ino: '1' }

/** The kinds of calls, by the tool that each is of; names that end with `text` are of calls that the model wrote as text. */
const TOOLS: Record<string, { effect: 'read' | 'write' | 'external', asks?: boolean, [more: string]: unknown }> = {
  look: { effect: 'read' },
  'look-text': { effect: 'read' },
  change: { effect: 'write', asks: true },
  'change-text': { effect: 'write', asks: true },
  free: { effect: 'write' },
  'free-text': { effect: 'write' },
  fetch: { effect: 'read' },
  'fetch-asks': { effect: 'read', asks: true },
  own: { effect: 'write' },
  'edit-in': { effect: 'write', asks: true, willChange: true },
  'edit-text': { effect: 'write', willChange: true },
  'edit-own': { effect: 'write', asks: true, willChange: true },
  'edit-out': { effect: 'write', asks: true, willChange: true },
  command: { effect: 'external', asks: true, isCommand: true },
  outside: { effect: 'external', asks: true, isCommand: true },
  message: { effect: 'read', proves: 'message' },
  stop: { effect: 'external', isForCommands: true },
  user: { effect: 'read', answeredBy: { by: 'user' } },
  app: { effect: 'write', asks: true, answeredBy: { by: 'app' } },
  'app-look': { effect: 'read', answeredBy: { by: 'app' } },
  'app-text': { effect: 'write', answeredBy: { by: 'app' } }
}

export const CALLS = Object.keys(TOOLS)
export const SITUATIONS = [
  'person', 'grant', 'rests', 'denied', 'denied+grant', 'nobody', 'nobody+grant', 'never',
  'copy', 'copy+nobody', 'copy+denied', 'rehearsal', 'rehearsal+grant', 'dry-run',
  'approved', 'open', 'refused', 'expired', 'begun'
]
const STATES: Record<string, CallApproval['state']> = { approved: 'approved', open: 'open', refused: 'denied', expired: 'expired' }

/** Settles one call in a situation, and says what becomes of it. */
export async function outcomeOf (name: string, situation: string): Promise<string> {
  const has = (part: string) => situation.split('+').includes(part)
  const isRehearsal = has('rehearsal') || has('dry-run')
  const never = has('never')
  const happened: string[] = []
  let end: CallEnd | undefined
  let line: { asks: boolean, outcome: string } | undefined
  const tool = TOOLS[name]
  const call: Call = { toolCallId: 'call', toolName: name, input: {}, ...(name.endsWith('text') && { isFromText: true as const }) }
  const state = STATES[situation]
  const approval: CallApproval | undefined = state && { approvalId: 'a', state, folder: HERE, reason: 'no', asks: 0 }
  const covering = async () => has('grant') || has('rests') ? { grant: { grantId: 'g' } as never } : undefined
  const grants: CallPorts['grants'] = {
    covering,
    offer: async (_call, _folder, question) => ({ reason: question?.reason }),
    use: async () => !has('rests'),
    coversHost: async () => false,
    suspend: async () => [],
    othersOf: async () => undefined,
    teaching: async () => ({}),
    made: async () => []
  }
  const ports: CallPorts = {
    tools: {
      find: () => tool as never,
      copyAt: () => has('copy') || isRehearsal ? { folder: COPY } as never : undefined,
      identity: () => undefined,
      toolServer: () => undefined,
      boundary: async () => name === 'command' ? { is: 'confined', folder: HERE } as never : undefined,
      outlook: async () => undefined,
      keep: async () => NOTHING_KEPT,
      foresee: async () => ({ places: [{ path: `${name === 'edit-out' ? '/elsewhere' : COPY}/a.txt` }], shown: [] }),
      async execute () {
        happened.push('run')
        return { status: 'completed', output: {}, durationMs: 1 }
      },
      folders: { of: async () => HERE, start: async () => HERE.path, whereabouts: async () => ({ is: 'same' }) }
    },
    run: { runId: 'run', owner: 'thread', attempt: 1, cwd: COPY, signal: new AbortController().signal },
    events: has('begun') ? [{ type: 'tool-intent', toolCallId: 'call' }] : [],
    repeatsReads: true,
    approvalOf: () => approval,
    answerOf: () => undefined,
    needsApproval: () => tool.asks === true && !never,
    deniesUngranted: isRehearsal ? NOT_GRANTED : has('nobody') ? NOBODY_APPROVES : undefined,
    deniesQuestions: isRehearsal || has('nobody') ? 'none' : undefined,
    grants,
    rehearsed: isRehearsal
      ? { cwd: '/folder', isOnCopy: has('dry-run'), grants, note: (noted) => void (line = noted) }
      : undefined,
    addresses: {
      note: async () => {},
      question: async () => name.startsWith('fetch') && !never ? { reason: 'address', because: [] } : undefined
    } as never,
    question: async () => name.endsWith('own') && !never ? { reason: 'own' } : undefined,
    wasDenied: () => has('denied'),
    checkLimit () {},
    async begin (_call, _isDurable, _ops, grant) {
      if (grant !== undefined && has('rests')) return false
      if (grant !== undefined) happened.push('used')
      return true
    },
    async end (_call, ended) {
      end = ended
    },
    async store () {}
  }
  const { asked, isWaiting } = await settleCalls([call], ports)
  return outcomeIn({ happened, end, line, asked: asked.map(({ kind }) => kind), isWaiting })
}

function outcomeIn ({ happened, end, line, asked, isWaiting }: {
  happened: string[],
  end?: CallEnd,
  line?: { outcome: string },
  asked: string[],
  isWaiting: boolean
}): string {
  const used = happened.includes('used')
  if (happened.includes('run')) return line !== undefined ? 'noted' : used ? 'used' : 'run'
  if (asked[0] === 'app') return used ? 'app-used' : 'app'
  if (asked.length > 0) return asked[0] === 'tool' ? 'ask' : asked[0]
  if (isWaiting) return 'wait'
  if (end?.state === 'unknown') return 'unknown'
  if (end?.event.type === 'tool-output' && line !== undefined) return 'sheet'
  const { event } = end!
  if (event.type !== 'tool-denied') return `${event.type}`
  if (end!.state === 'expired') return 'late'
  if (event.reason === 'none') return line === undefined ? 'none' : 'noted-none'
  if (event.reason.startsWith(NOBODY_APPROVES) || event.reason.startsWith(NOT_GRANTED)) return 'nobody'
  return event.reason === 'no' ? 'no' : 'before'
}
