import t from 'tap'
import { countTaskChatWrites, prepareTaskChat, survivesTaskChat } from './task-chat-kill.ts'

t.test('killed at any write of making, changing, cancelling or undoing a task in a chat', async (t) => {
  const prepared = await prepareTaskChat(t)
  const writes = await countTaskChatWrites(t, prepared)
  for (let n = 0; n < writes; n++) {
    for (const when of ['before', 'after']) await t.test(`${when} write ${n}`, (t) => survivesTaskChat(t, prepared, `${n} ${when}`))
  }
})
