// The streamed events of a real run that asked before it wrote a file.

const run = { runId: '01a1fe12-d68a-744e-9074-8c545167b4c0', threadId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44' }
const approval = {
  approvalId: '01a1fe12-d894-75b9-ba89-9548100d859f',
  kind: 'tool',
  ...run,
  toolCallId: 'call-1',
  toolName: 'writeFile'
}
const call = {
  approvalId: '01a1fe12-dc08-7469-a8c8-44db38ff06a7',
  kind: 'app',
  ...run,
  toolCallId: 'call-2',
  toolName: 'openDocument'
}

/** An example of each type of event that only `GET /events` has. */
export const byType: Record<string, object[]> = {
  'run:start': [{ type: 'run:start', ...run, at: 1795264009877 }],
  'run:end': [{ type: 'run:end', ...run, status: 'completed', at: 1795264011347 }],
  'approval:open': [{ type: 'approval:open', ...approval, state: 'pending', at: 1795264010020 }],
  'approval:closed': [{ type: 'approval:closed', ...approval, state: 'approved', at: 1795264010910 }],
  'tool-call:open': [{ type: 'tool-call:open', ...call, state: 'open', at: 1795264010020 }],
  'tool-call:closed': [{ type: 'tool-call:closed', ...call, state: 'done', at: 1795264010910 }],
  'thread:deleted': [{ type: 'thread:deleted', threadId: run.threadId, at: 1795264015207 }],
  reset: [{ type: 'reset', reason: 'restarted', at: 1795264009877 }],
  'service:shutdown': [{ type: 'service:shutdown', at: 1795264019877 }]
}
