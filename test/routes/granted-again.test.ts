import t from 'tap'
import { asked, say } from '../harness/agent.ts'
import { decide, post, taskWaiting } from '../harness/approval-doors.ts'
import { build } from '../harness/helper.ts'
import { answerByRun } from '../harness/questions.ts'

const GRANTED = { approved: true, scope: 'folder', until: { uses: 3 } }
/** Answers after GRANTED: whether each says the same. */
const AGAIN: Array<[answer: object, isSame: boolean]> = [
  [GRANTED, true],
  [{ approved: true }, true],
  [{ approved: true, scope: 'folder', until: { uses: 4 } }, false],
  [{ approved: true, scope: 'folder' }, false],
  [{ approved: true, scope: 'exact', until: { uses: 3 } }, false]
]
const REFUSED = /already approved with the scope "folder" and "until" {"uses":3}/

t.test('a second answer with another scope or another end is refused and told what was granted, in a conversation', async (t) => {
  const app = await build(t)
  const [id] = asked((await say(app, 'write "x" to notes/a.txt', { id: 'chat' })).events)
  t.match(await decide(app, id, GRANTED), { status: 200 })
  for (const [answer, isSame] of AGAIN) {
    const byId = await decide(app, id, answer)
    const byRun = await answerByRun(app, id, answer)
    t.same([byId.status, byRun.status], isSame ? [200, 200] : [409, 409], JSON.stringify(answer))
    if (!isSame) t.match(`${byId.body.error} ${byRun.text.replaceAll('\\', '')}`, new RegExp(`${REFUSED.source}.*${REFUSED.source}`))
  }
  t.match((await app.inject('/grants?threadId=chat')).json().grants, [{ scope: 'folder', until: { uses: 3 } }])
})

t.test('and so it is in a task', async (t) => {
  const { app, go } = await taskWaiting(t)
  const { id, approvalId } = await go('write "x" to notes/a.txt')
  t.match(await post(app, `/tasks/${id}/approve`, { ...GRANTED, approvalId }), { status: 200 })
  for (const [answer, isSame] of AGAIN) {
    const byTask = await post(app, `/tasks/${id}/approve`, { ...answer, approvalId })
    const byId = await decide(app, approvalId, answer)
    t.same([byTask.status, byId.status], isSame ? [200, 200] : [409, 409], JSON.stringify(answer))
    if (!isSame) t.match([byTask.body.error, byId.body.error], [REFUSED, REFUSED])
  }
})

t.test('an answer without an end, and one for the call alone, are told as such', async (t) => {
  const app = await build(t)
  const go = async (path: string) => asked((await say(app, `write "x" to ${path}`)).events)[0]
  const forever = await go('notes/a.txt')
  await decide(app, forever, { approved: true, scope: 'folder' })
  t.match(await decide(app, forever, GRANTED), { status: 409, body: { error: /with the scope "folder" and no "until"/ } })
  const once = await go('other/a.txt')
  await decide(app, once, { approved: true })
  t.match(await decide(app, once, GRANTED), { status: 409, body: { error: /with the scope "once";/ } })
})
