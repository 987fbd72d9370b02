import t from 'tap'
import type { ThreadApproval } from '../../../services/contracts/approval-record.ts'
import { inState, mayFollow, TRANSITIONS } from '../../../services/contracts/approval-states.ts'

/** The ways that approvals of each kind go, as the design of the ledger has them. */
const WAYS: Record<keyof typeof TRANSITIONS, string[]> = {
  tool: [
    'pending approved executing done',
    'pending approved executing unknown',
    'pending approved done',
    'pending approved withdrawn',
    'pending denied',
    'pending expired',
    'pending withdrawn'
  ],
  result: ['pending approved', 'pending denied', 'pending expired', 'pending withdrawn'],
  question: ['pending answered', 'pending declined', 'pending expired', 'pending withdrawn'],
  task: ['pending answered', 'pending withdrawn'],
  app: [
    'open claimed done',
    'open claimed error',
    'open claimed unknown',
    'open claimed withdrawn',
    'open done',
    'open error',
    'open expired',
    'open withdrawn'
  ]
}

t.test('an approval of each kind goes its ways and no other, and ends where nothing follows', async (t) => {
  for (const [kind, ways] of Object.entries(WAYS) as Array<[keyof typeof TRANSITIONS, string[]]>) {
    const known = Object.keys(TRANSITIONS[kind])
    const allowed = new Set<string>()
    for (const way of ways.map((way) => way.split(' '))) {
      for (const [at, state] of way.entries()) if (at > 0) allowed.add(`${way[at - 1]} ${state}`)
    }
    for (const from of known) {
      for (const to of known) t.equal(mayFollow(kind, from, to), allowed.has(`${from} ${to}`), `${kind}: ${from} → ${to}`)
    }
    t.same(new Set(ways.flatMap((way) => way.split(' '))), new Set(known), `${kind}: no state is out of reach`)
  }
})

t.test('a state that may not follow is refused, the same state again is none', async (t) => {
  const approval = {
    approvalId: 'a',
    kind: 'tool',
    threadId: 'chat',
    runId: 'r',
    segment: 0,
    toolCallId: 'c',
    toolName: 'runCommand',
    input: {},
    digest: '',
    cwd: '/',
    folder: { dev: '1', ino: '1' },
    createdAt: 0,
    expiresAt: 1,
    state: 'denied'
  } satisfies ThreadApproval
  t.throws(() => inState<ThreadApproval, 'executing'>(approval, 'executing'), /of kind tool cannot go from denied to executing/)
  t.same(inState(approval, 'denied'), approval)
})
