import { readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { withGateway } from '../harness/with-gateway.ts'

const calls = [
  { toolName: 'writeFile', input: { path: 'new/b.txt', content: 'made\n' } },
  { toolName: 'writeFile', input: { path: 'a.txt', content: 'one\n2\n' } },
  { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: '2', newText: 'TWO' }] } },
  { toolName: 'editFile', input: { path: 'a.txt', edits: [{ oldText: 'two', newText: '4' }] } },
  { toolName: 'deleteFile', input: { path: 'a.txt' } },
  { toolName: 'writeFile', input: { path: '../../a.txt', content: '' } },
  { toolName: 'runCommand', input: { command: 'rm a.txt' } }
]

t.test('a preview tells what an open call would change, and changes nothing', async (t) => {
  const { app } = await withGateway(t, () => ({ toolCalls: calls }))
  writeFileSync(`${app.cwd}/a.txt`, 'one\ntwo\n')
  await app.inject({ method: 'POST', url: '/run/sync', payload: { id: 'chat', messages: [{ role: 'user', content: 'go' }] } })
  const { approvals } = (await app.inject('/approvals')).json()
  const preview = async (at: number) => (await app.inject(`/approvals/${approvals[at].approvalId}/preview`)).json()

  const [made, changed, edited, unfit, deleted, outside, command] = await Promise.all(calls.map((_, at) => preview(at)))
  t.match(made, { changes: [{ path: `${app.cwd}/new/b.txt`, diff: '--- /dev/null\n+++ b/new/b.txt\n@@ -0,0 +1,1 @@\n+made\n' }] })
  t.match(changed.changes, [{ path: `${app.cwd}/a.txt`, diff: / one\n-two\n\+2\n/ }])
  t.match(edited.changes, [{ path: `${app.cwd}/a.txt`, diff: / one\n-2\n\+TWO\n/ }], 'it is shown as the call before it leaves the file')
  t.match(unfit, { changes: [], refused: /oldText/ }, 'an edit that does not fit says so before it is approved')
  t.same(deleted.changes, [{ path: `${app.cwd}/a.txt`, withContents: false }])
  t.same(outside.changes, [])
  t.match(outside.refused, /outside/, 'a path that the tool refuses is not read')
  t.same(command, { changes: [] })
  t.equal(readFileSync(`${app.cwd}/a.txt`, 'utf8'), 'one\ntwo\n')

  const { approvalId } = approvals[1]
  await app.inject({ method: 'POST', url: `/approvals/${approvalId}`, payload: { approved: false } })
  t.same((await app.inject(`/approvals/${approvalId}/preview`)).json(), { changes: [] }, 'what is decided has no preview')
  t.equal((await app.inject('/approvals/unknown/preview')).statusCode, 404)
})
