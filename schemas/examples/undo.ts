const change = {
  path: '/home/ada/notes/notes.txt',
  kind: 'changed',
  toolCallId: 'call_2_4b97a73cb77e',
  toolName: 'writeFile',
  at: 1795256014031,
  diff: '--- a/notes.txt\n+++ b/notes.txt\n@@ -1,1 +1,1 @@\n-Buy milk\n\\ No newline at end of file\n+Buy tea\n\\ No newline at end of ' +
    'file\n',
  canUndo: true
}
const uncovered = {
  toolCallId: 'call_3_0d15a7b1c2aa',
  toolName: 'runCommand',
  target: 'npm test',
  at: 1795256019400
}
export { change, uncovered }
export const changes = { changes: [change], notCovered: [uncovered] }
export const undoBody = { paths: ['notes.txt'], dryRun: true }
export const undone = {
  undoId: '01a1fd9a-11c3-70a2-9a0d-5b8a4a0b2e55',
  restored: ['/home/ada/notes/notes.txt'],
  skipped: [{ path: '/home/ada/notes/todo.txt', reason: 'changed_since' }],
  notCovered: [uncovered]
}
