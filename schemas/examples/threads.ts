import { usage } from './usage.ts'

// From a conversation with offline/assistant.

const id = 'trip-to-lisbon'
const messages = [
  { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'My name is Ada. List the files here.' }] },
  {
    id: '01a1fd98-ca04-739b-856a-7f12991dd0d6',
    role: 'assistant',
    metadata: { threadId: id, runId: '01a1fd98-c99d-761a-bc00-ecd5b770e3ae', finishReason: 'stop' },
    parts: [
      { type: 'step-start' },
      {
        type: 'tool-listDirectory',
        toolCallId: 'call_1_7ddd9fe5e735',
        state: 'output-available',
        input: { path: '.' },
        output: { entries: [] }
      },
      { type: 'step-start' },
      { type: 'text', text: 'The folder is empty.', state: 'done' }
    ]
  }
]
export const thread = {
  id,
  title: 'My name is Ada. List the files here.',
  createdAt: 1795256011268,
  updatedAt: 1795256011447,
  status: 'idle',
  messageCount: 2,
  lastMessage: 'The folder is empty.'
}
export const threadView = { ...thread, messages, usage, pinned: true }
export const threadBody = { title: 'Lisbon', pinned: true }
export const newThread = { id, title: 'Lisbon', messages: messages.slice(0, 1), pinned: true }
export const threadList = { threads: [thread] }
export const threadDeleted = { ok: true, threadId: id }
