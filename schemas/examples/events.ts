// The events of a real run that lists a folder, tries to read a missing file and requests approval before it writes.

import { compaction, runTask } from './run.ts'
import { question } from './questions.ts'
import { usage } from './usage.ts'

const list = { toolCallId: 'call_1', toolName: 'listDirectory' }
const read = { toolCallId: 'call_2', toolName: 'readFile' }
const write = { toolCallId: 'call_4', toolName: 'writeFile' }
const notes = { path: 'notes.txt', content: 'Buy tea' }

/** An example of each type of event. */
export const byType: Record<string, object[]> = Object.fromEntries([
  {
    type: 'start',
    messageId: '01a1fd98-62e8-740a-9b7d-aa5201f58df0',
    messageMetadata: { threadId: '01a1fd98-62dd-73f1-9b51-e1fd4bba79c7', runId: '01a1fd98-62e8-740a-9b7d-a5118d0a01d1' }
  },
  { type: 'reasoning-start', id: 'analysis', providerMetadata: { agent: { phase: 'analysis' } } },
  { type: 'reasoning-delta', id: 'analysis', delta: 'Three commands.', content: 'Three commands.' },
  { type: 'reasoning-end', id: 'analysis' },
  { type: 'step-boundary' },
  { type: 'start-step' },
  { type: 'finish-step' },
  { type: 'text-start', id: 'text-3' },
  { type: 'text-delta', id: 'text-3', delta: 'Let me look. ', content: 'Let me look. ' },
  { type: 'text-end', id: 'text-3' },
  { type: 'tool-input-start', ...list },
  { type: 'tool-input-delta', toolCallId: 'call_1', inputTextDelta: '{"path":"."}' },
  { type: 'tool-input-available', ...list, input: { path: '.' } },
  {
    type: 'tool-input-error',
    ...read,
    input: { pth: 'missing.txt' },
    errorText:
      'The input of readFile is not valid: the input lacks the property "path"; the input has no property "pth" (allowed: path, offset, ' +
      'limit, column).'
  },
  {
    type: 'tool-output-available',
    ...list,
    output: { path: '/home/ada/notes', entries: [{ name: 'todo.md', path: 'todo.md', kind: 'file', size: 7 }] }
  },
  { type: 'tool-progress', toolCallId: 'call_3', toolName: 'crawl', progress: 30, total: 120, message: 'Reading page 30' },
  { type: 'tool-output-error', ...read, errorText: '"missing.txt" does not exist.' },
  { type: 'tool-output-denied', ...write, reason: 'The user denied this call.' },
  { type: 'tool-approval-request', approvalId: '01a1fd98-63b6-74f2-8be6-ddea262f6cc5', ...write, input: notes, cwd: '/home/ada/notes' },
  {
    type: 'question-request',
    approvalId: '01a1fe31-0b52-7e0d-8c55-30d6a2f0b7aa',
    toolCallId: 'call_3_9c31d1f6ab02',
    questions: [question],
    expiresAt: 1795352414802
  },
  {
    type: 'question-closed',
    approvalId: '01a1fe31-0b52-7e0d-8c55-30d6a2f0b7aa',
    toolCallId: 'call_3_9c31d1f6ab02',
    state: 'answered'
  },
  {
    type: 'tool-call-request',
    toolCallId: '01a1fe30-21c4-7d53-9f10-b1d0f9a1c7e2',
    toolName: 'openDocument',
    input: { name: 'Budget 2026' },
    expiresAt: 1795353787844
  },
  { type: 'data-task', id: runTask.taskId, data: runTask },
  { type: 'data-object', id: 'object', data: { object: { city: 'Bern', people: 134_000 }, attempts: 1 } },
  { type: 'data-compaction', data: compaction, transient: true },
  {
    type: 'error',
    errorText:
      'The model anthropic/claude-sonnet-5.5 was refused: the key is not valid. Set another with POST /providers/configure ' +
      '{"gateway_key": "<key>"}.',
    code: 'ERR_PROVIDER_AUTH'
  },
  { type: 'abort', reason: 'stop' },
  { type: 'finish', finishReason: 'stop', usage }
].map((event) => [event.type, [event]]))
