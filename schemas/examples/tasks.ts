// Real answers about a weekly task of offline/assistant with the goal `write "Buy tea" to notes.txt, then read notes.txt`.
import { taskEvaluation } from './evaluation.ts'

export const taskBody = {
  goal: 'write "Buy tea" to notes.txt, then read notes.txt',
  taskType: 'recurring',
  schedule: { interval: 'weekly', at: '09:00', timezone: 'Europe/Berlin' },
  approval: { mode: 'first_n', firstN: 2 }
}
export const approvalInput = taskBody.approval
export const planInput = {
  phases: [{ description: 'Write the list' }, { description: 'Read it back' }],
  qualityCriteria: ['The list names tea.']
}
export const taskChanges = { goal: 'system info' }
export const plan = {
  phases: [
    { id: 'phase-1', description: 'writeFile notes.txt', status: 'pending' },
    { id: 'phase-2', description: 'readFile notes.txt', status: 'pending' }
  ],
  qualityCriteria: [],
  source: 'model'
}
export const phase = plan.phases[0]
export const memory = {
  findings: ['Created `notes.txt` (7 bytes).'],
  sources: [],
  filesCreated: ['/home/ada/notes/notes.txt'],
  decisions: [],
  feedback: [
    {
      runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
      approved: true,
      notes: 'Good, but add milk.',
      at: 1795264011341
    }
  ]
}
export const task = {
  plan,
  memory,
  id: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  goal: 'write "Buy tea" to notes.txt, then read notes.txt',
  taskType: 'recurring',
  status: 'scheduled',
  cwd: '/home/ada/notes',
  approval: { mode: 'first_n', firstN: 2, approvedRuns: 1 },
  options: { budget: { minutes: 30 } },
  budget: { maxMinutesPerRun: 30 },
  approvalHistory: [
    {
      approvalId: '01a1fe12-d894-75b9-ba89-9548100d859f',
      runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
      runNumber: 1,
      kind: 'tool',
      approved: true,
      at: 1795264010751,
      toolName: 'writeFile'
    },
    {
      approvalId: '01a1fe12-dc08-7469-a8c8-44db38ff06a7',
      runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
      runNumber: 1,
      kind: 'result',
      approved: true,
      at: 1795264011341,
      notes: 'Good, but add milk.'
    }
  ],
  steeringHistory: [
    {
      id: '01a1fe12-dcbe-71d7-bdae-86ca954683f7',
      comment: 'system info',
      createdAt: 1795264011454,
      runId: '01a1fe12-dcbe-71d7-bdae-8a5daa538f73'
    }
  ],
  totalRuns: 2,
  successfulRuns: 1,
  createdAt: 1795264006353,
  updatedAt: 1795264012332,
  schedule: { interval: 'weekly', timezone: 'Europe/Berlin', at: '09:00' },
  lastRunAt: 1795264012319,
  lastRunStatus: 'completed',
  nextRunAt: 1795420800000
}
export const taskList = { tasks: [task] }
export const taskDeleted = { ok: true, taskId: task.id }
export const toolCall = {
  toolCallId: 'call_1_4b97a73cb77e',
  toolName: 'writeFile',
  input: { path: 'notes.txt', content: 'Buy tea' },
  status: 'completed',
  output: {
    path: '/home/ada/notes/notes.txt',
    bytesWritten: 7,
    created: true,
    diff: '--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+Buy tea\n\\ No newline at end of file\n'
  },
  durationMs: 75
}
export const question = {
  approvalId: '01a1fe12-d894-75b9-ba89-9548100d859f',
  kind: 'tool',
  createdAt: 1795264010388,
  expiresAt: 1795868810388,
  toolName: 'writeFile',
  input: { path: 'notes.txt', content: 'Buy tea' },
  cwd: '/home/ada/notes'
}
export const run = {
  toolCalls: [toolCall],
  evaluation: taskEvaluation,
  questions: [],
  runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  runNumber: 1,
  trigger: 'manual',
  status: 'completed',
  queuedAt: 1795264009865,
  startedAt: 1795264009877,
  phases: [
    { id: 'phase-1', description: 'writeFile notes.txt', status: 'completed' },
    { id: 'phase-2', description: 'readFile notes.txt', status: 'completed' }
  ],
  toolCount: 2,
  steering: [],
  usage: { inputTokens: 1735, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 77, reasoningTokens: 0, costUsd: 0 },
  options: { budget: { minutes: 30 } },
  attempts: 2,
  output:
    'Created `notes.txt` (7 bytes).\n\n```diff\n--- /dev/null\n+++ b/notes.txt\n@@ -0,0 +1,1 @@\n+Buy tea\n\\ No newline at end of ' +
    'file\n```\n\n`notes.txt` contains:\n\n```\nBuy tea\n```',
  qualityScore: 0.9,
  completedAt: 1795264011347,
  durationMs: 1470
}
export const runList = { runs: [run] }
export const runQueued = {
  ok: true,
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
  runNumber: 1
}
export const steerBody = { comment: 'Add milk to the list.', runNow: true }
export const steered = {
  ok: true,
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  comment: 'Add milk to the list.',
  runTriggered: true
}
export const approveBody = { approved: true, notes: 'Good, but add milk.' }
export const approved = {
  ok: true,
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  runId: '01a1fe12-d68a-744e-9074-8c545167b4c0',
  approvalId: '01a1fe12-dc08-7469-a8c8-44db38ff06a7',
  approved: true,
  status: 'completed'
}
