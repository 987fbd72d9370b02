import t from 'tap'
import { countTaskChatWrites, prepareTaskChat, survivesTaskChat } from './task-chat-kill.ts'

t.test('killed at a write of making, changing or ending a task in a chat, the service neither doubles nor loses one', async (t) => {
  const prepared = await prepareTaskChat(t)
  const writes = await countTaskChatWrites(t, prepared)
  // All of them: test/faults/task-chat-kill.long.ts.
  for (const n of [9, 52]) await t.test(`after write ${n} of ${writes}`, (t) => survivesTaskChat(t, prepared, `${n} after`))
})
