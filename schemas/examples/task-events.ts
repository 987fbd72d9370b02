// The streamed events of a real task run.

import { taskEvaluation } from './evaluation.ts'

/** An example of each type of event. */
export const byType: Record<string, object[]> = {
  'task:approval': [{
    type: 'task:approval',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    approvalId: '01a1fe12-d894-75b9-ba89-9548100d859f',
    kind: 'tool',
    toolName: 'writeFile',
    input: { path: 'notes.txt', content: 'Buy tea' },
    cwd: '/home/ada/notes'
  }],
  'task:complete': [{
    type: 'task:complete',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    runNumber: 1,
    status: 'completed',
    output:
      'Created `notes.txt` (7 bytes).\n\n```diff\n--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+Buy tea\n\\ No newline at end of ' +
      'file\n```\n\n`notes.txt` contains:\n\n```\nBuy tea\n```',
    durationMs: 1470,
    toolCount: 2,
    qualityScore: 1
  }],
  'task:error': [{
    type: 'task:error',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-dcbe-71d7-bdae-8a5daa538f73',
    status: 'failed',
    error:
      'The run did not reach its goal: The report says that something could not be done. Nothing was written, although notes.txt should ' +
      'have been.'
  }],
  'task:status': [{
    type: 'task:status',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    status: 'scheduled',
    previous: 'planned'
  }],
  'task:start': [{
    type: 'task:start',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    runNumber: 1,
    startedAt: 1795264009877,
    phases: [
      { id: 'phase-1', description: 'writeFile notes.txt', status: 'pending' },
      { id: 'phase-2', description: 'readFile notes.txt', status: 'pending' }
    ]
  }],
  'task:phase': [{
    type: 'task:phase',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    phaseId: 'phase-1',
    phase: 'writeFile notes.txt',
    status: 'running'
  }],
  'task:tool-call': [{
    type: 'task:tool-call',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    toolCallId: '01a1fe12-e1b3-7c10-8a55-0f3d2f6f9f21',
    toolName: 'openDocument',
    input: { name: 'Budget 2026' },
    expiresAt: 1795868809877
  }],
  'task:tool-start': [{
    type: 'task:tool-start',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    toolName: 'writeFile',
    input: { path: 'notes.txt', content: 'Buy tea' }
  }],
  'task:tool': [{
    type: 'task:tool',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    tool: 'writeFile',
    input: { path: 'notes.txt', content: 'Buy tea' },
    output: {
      path: '/home/ada/notes/notes.txt',
      bytesWritten: 7,
      created: true,
      diff: '--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+Buy tea\n\\ No newline at end of file\n'
    },
    status: 'complete'
  }],
  'task:eval': [{
    type: 'task:eval',
    taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
    runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
    ...taskEvaluation
  }],
  'task:steer': [{ type: 'task:steer', taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44', comment: 'Add milk to the list.' }]
}
