import { answers, question } from './questions.ts'

// Taken from a real run.
const approvalId = '01a1fd98-ca04-739b-856a-7f12991dd0d6'
const runId = '01a1fd98-c99d-761a-bc00-ecd5b770e3ae'
const threadId = '01a1fd98-c97d-76a8-9190-a6e261bd9f6d'

export const approval = {
  approvalId,
  kind: 'tool',
  runId,
  threadId,
  toolCallId: 'call_2_4b97a73cb77e',
  toolName: 'writeFile',
  input: { path: 'notes.txt', content: 'Buy tea' },
  digest: 'cfb3b1fcfbf393f6132cf4972671f7f6767282561dba02b5184c07210bd7e289',
  cwd: '/home/ada/notes',
  createdAt: 1795256011268,
  expiresAt: 1795342411268,
  state: 'pending'
}
const resultApproval = {
  approvalId: '01a1fe12-d5a2-7719-9d3c-4f0c6e0c8c51',
  kind: 'result',
  runId: '01a1fe12-c8ea-73f4-a1be-0f6a8f1f3c11',
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  output: 'I listed 3 files: a.txt, b.txt and notes.txt.',
  createdAt: 1795264034210,
  expiresAt: 1795868834210,
  state: 'pending'
}
const questionApproval = {
  approvalId: '01a1fe31-0b52-7e0d-8c55-30d6a2f0b7aa',
  kind: 'question',
  runId,
  threadId,
  toolCallId: 'call_3_9c31d1f6ab02',
  questions: [question],
  createdAt: 1795266014802,
  expiresAt: 1795352414802,
  state: 'pending'
}
export const approvalList = { approvals: [approval, resultApproval, questionApproval] }
export const preview = {
  changes: [{
    path: '/home/ada/notes/notes.txt',
    diff: '--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+Buy tea\n\\ No newline at end of file\n'
  }]
}
export const decision = { approved: false, reason: 'Put it into the folder notes.' }
export const answered = { answers }
export const decided = { approvalId, state: 'denied', runId, threadId, continued: true }
