const threadId = '01a1fd98-c97d-76a8-9190-a6e261bd9f6d'
const grantId = '01a1fe20-5c1e-7a0b-9d6e-0f4b2c8f7a31'

export const grant = {
  grantId,
  threadId,
  toolName: 'writeFile',
  scope: 'folder',
  text: 'writeFile of *.txt files in or below "/home/ada/notes"',
  input: { path: 'notes.txt', content: 'Buy tea' },
  cwd: '/home/ada/notes',
  folder: '/home/ada/notes',
  source: 'answer',
  approvalId: '01a1fd98-ca04-739b-856a-7f12991dd0d6',
  until: { uses: 20 },
  uses: 3,
  createdAt: 1795264034210,
  lastUsedAt: 1795264094210
}
export const grantList = { grants: [grant] }
export const grantBody = {
  taskId: '01a1fe12-c8d1-77b2-9f85-adf9a4a0bf44',
  toolName: 'runCommand',
  input: { command: 'npm test' },
  scope: 'exact'
}
export const removed = { ok: true, grantId }
