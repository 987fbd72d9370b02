import type { SettledStep } from '../../../../services/runs/gate/settled-step.ts'
import { makeRunPolicy } from '../../../../services/runs/gate/run-policy.ts'
import type { ToolItem } from '../../../../services/contracts/approval-record.ts'
import { NOTHING_KEPT } from '../../../../services/tools/kept-call.ts'

/** The working folder of the run, which may be a copy. */
export const HERE = { path: '/here', dev: '1', ino: '1' }

/** The item of an approval. */
export const approvalItem = (state: ToolItem['state']): ToolItem => {
  const { path: cwd, ...folder } = HERE
  const call = { toolCallId: 'call', toolName: 'tool', input: {}, digest: '' }
  return { ...call, kind: 'tool', approvalId: 'a', state, cwd, folder, runId: 'run', segment: 0, createdAt: 0, expiresAt: 1, reason: 'no' }
}

type Given = Partial<Omit<SettledStep, 'tools' | 'grants' | 'addresses'>> & {
  tools?: Partial<SettledStep['tools']>,
  grants?: Partial<SettledStep['grants']>,
  addresses?: Partial<SettledStep['addresses']>
}

/** Makes a step of a run with a person, whose tools do nothing, without grants. */
export const makeStep = ({ tools, grants, addresses, ...more }: Given = {}): SettledStep => ({
  run: { runId: 'run', owner: 'thread', attempt: 1, cwd: HERE.path, signal: new AbortController().signal },
  policy: makeRunPolicy({ interactive: true, onlyGranted: false, mayAsk: true }),
  tools: {
    find: () => undefined,
    permission: () => 'allow',
    isAllowedByUser: () => false,
    copyAt: () => undefined,
    identity: () => undefined,
    toolServer: () => undefined,
    boundary: async () => undefined,
    outlook: async () => undefined,
    keep: async () => NOTHING_KEPT,
    foresee: async () => undefined,
    execute: async () => ({ status: 'completed', output: {}, durationMs: 1 }),
    folders: { of: async () => HERE, start: async () => HERE.path, whereabouts: async () => ({ is: 'same' }) },
    ...tools
  },
  grants: {
    covering: async () => undefined,
    describe: async (_call, _folder, reasons) => ({ note: reasons[0]?.reason }),
    coversHost: async () => false,
    suspend: async () => [],
    othersOf: async () => undefined,
    made: async () => [],
    ...grants
  },
  addresses: {
    note: async () => {},
    question: async () => undefined,
    textOfOthers: async () => undefined,
    mayRedirect: async () => true,
    inner: async () => ({ question: async () => undefined, textOfOthers: async () => undefined, mayRedirect: async () => true }),
    ...addresses
  },
  begun: new Set(),
  repeatsReads: true,
  ahead: { files: new Map(), others: new Set(), calls: [], isKnown: true },
  itemsOf: () => ({}),
  // Items of tests do not expire.
  isOpen: ({ state }) => state === 'pending' || state === 'open',
  refused: [],
  checkLimit () {},
  begin: async () => true,
  async end () {},
  async store () {},
  ...more
})
