import t from 'tap'
import { build } from './helper.ts'

/** What callers decide by: approvals by effect and permission, judgement by `proves`, undo by `reportsChanges`. */
const FACTS = {
  readFile: { effect: 'read' },
  searchFiles: { effect: 'read' },
  findFiles: { effect: 'read' },
  listDirectory: { effect: 'read' },
  fetchUrl: { effect: 'read' },
  systemInfo: { effect: 'read' },
  writeFile: { effect: 'write', proves: 'file', widestScope: 'folder', reportsChanges: true },
  editFile: { effect: 'write', proves: 'file', widestScope: 'folder', reportsChanges: true },
  moveFile: { effect: 'write', proves: 'file', reportsChanges: true },
  deleteFile: { effect: 'write', proves: 'deletion', widestScope: 'folder', reportsChanges: true },
  runCommand: { effect: 'external' }
}

t.test('a tool carries what is known of it', async (t) => {
  const { host } = build({ workspace: t.testdir() })
  for (const [name, facts] of Object.entries(FACTS)) {
    const { effect, proves, widestScope, reportsChanges } = host.find(name)!
    t.same(JSON.parse(JSON.stringify({ effect, proves, widestScope, reportsChanges })), facts, name)
    t.equal(host.permission(name), effect === 'read' ? 'allow' : 'ask', `${name} asks unless it only reads`)
  }
})
