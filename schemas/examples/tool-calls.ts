// Taken from a real run.
export const toolCall = {
  toolCallId: '01a1fe30-21c4-7d53-9f10-b1d0f9a1c7e2',
  toolName: 'openDocument',
  input: { name: 'Budget 2026' },
  app: 'editor',
  runId: '01a1fe30-1f0a-7a3e-8c11-7a5c0d6e2b90',
  threadId: '01a1fe30-1ef2-7b1d-9d02-3f1f5f2f6c4d',
  createdAt: 1795267387844,
  expiresAt: 1795353787844,
  state: 'open'
}
export const toolCallList = { toolCalls: [toolCall] }
export const answers = [{ claim: 'window-1' }, { output: { pages: 12 } }, { error: 'There is no such document.' }]
export const answered = { ...toolCall, state: 'done', continued: true }
