// Real answers of a run of offline/assistant with the message `system info, then write "Buy tea" to notes.txt`.

const approvalId = '01a1fd98-ca04-739b-856a-7f12991dd0d6'
const runId = '01a1fd98-c99d-761a-bc00-ecd5b770e3ae'
const threadId = '01a1fd98-c97d-76a8-9190-a6e261bd9f6d'
const call = { toolCallId: 'call_2_4b97a73cb77e', toolName: 'writeFile', input: { path: 'notes.txt', content: 'Buy tea' } }
const info = { platform: 'linux', arch: 'x64', cpus: { count: 2, model: 'AMD EPYC' }, timezone: 'UTC', cwd: '/home/ada/notes' }
const infoCall = { toolCallId: 'call_1_7ddd9fe5e735', toolName: 'systemInfo' }
const said = { role: 'user', content: 'system info, then write "Buy tea" to notes.txt' }

export const runBody = { messages: [said], context: { cwd: '/home/ada/notes' } }
export const runOptions = { model: 'anthropic/claude-sonnet-5.5', effort: 'high', maxOutputTokens: 16_000, budget: { minutes: 5 } }
export const approveBody = {
  messages: [said, { role: 'tool', content: [{ type: 'tool-approval-response', approvalId, approved: true }] }],
  context: { cwd: '/home/ada/notes' }
}
export const analysis = {
  complexity: 'standard',
  goal: 'system info, then write "Buy tea" to notes.txt',
  thinking: 'I find 2 commands: systemInfo, then writeFile.',
  qualityCriteria: ['The result of systemInfo is reported.', 'The result of writeFile notes.txt is reported.']
}
export const runTask = {
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  goal: 'list the files here',
  taskType: 'recurring',
  status: 'scheduled',
  interval: 'every day at 9:00',
  nextRunAt: 1795338000000
}
export const runResult = {
  text: '',
  messages: [
    { role: 'assistant', content: [{ type: 'tool-call', ...infoCall, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...infoCall, output: { type: 'json', value: info } }] },
    { role: 'assistant', content: [{ type: 'tool-call', ...call }] }
  ],
  steps: 2,
  toolCalls: [{ ...infoCall, status: 'completed', input: {}, output: info }, { ...call, status: 'pending' }],
  usage: { inputTokens: 473, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 11, reasoningTokens: 0, costUsd: 0 },
  finishReason: 'tool-calls',
  pendingQuestions: [],
  pendingToolCalls: [],
  pendingApprovals: [{ approvalId, ...call, cwd: '/home/ada/notes' }],
  threadId,
  runId,
  analysis
}
export const liveRun = { ok: true, threadId, runId }
export const steerBody = { message: 'Put it into a folder called notes instead.' }
export const compaction = { before: 151_204, after: 71_880, outputs: 14, summarised: 62, dropped: 0 }
