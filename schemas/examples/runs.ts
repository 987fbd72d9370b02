// A run of a conversation that asked before it wrote a file, as GET /runs/:runId answers it.

import { toolCall } from './tasks.ts'

export const chatRun = {
  runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
  threadId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  trigger: 'message',
  status: 'completed',
  queuedAt: 1795264009865,
  startedAt: 1795264009865,
  completedAt: 1795264011347,
  durationMs: 1482,
  output: 'Created `notes.txt` (7 bytes).',
  toolCalls: [toolCall],
  toolCount: 1,
  steering: [],
  questions: [],
  usage: { inputTokens: 1735, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 77, reasoningTokens: 0, costUsd: 0 },
  attempts: 1
}
export const runList = { runs: [chatRun] }
