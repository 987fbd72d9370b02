import t from 'tap'
import { countTaskChatWrites, prepareTaskChat, survivesTaskChat } from './task-chat-kill.ts'
import { prepare, SCENARIOS, survives } from './tasks-kill.ts'

// The durable writes up to there: that the service began, the task, its start, the run's start, its phases, a step, what was
// looked at; then the intent and the result of a call, or the question and the answer.
const MOMENTS = {
  asked: { 'when the answer is taken and nobody works yet': '8 after' },
  unasked: { 'when a call has happened and nobody knows': '8 before' }
}

for (const [name, moments] of Object.entries(MOMENTS)) {
  const scenario = SCENARIOS[name as keyof typeof SCENARIOS]
  t.test(`${scenario.name}, killed, is neither lost nor doubled, nor is any of its effects`, async (t) => {
    const prepared = await prepare(t, scenario)
    for (const [moment, killAt] of Object.entries(moments)) await t.test(moment, (t) => survives(t, prepared, scenario, killAt))
  })
}

t.test('killed at a write of making, changing or ending a task in a chat, the service neither doubles nor loses one', async (t) => {
  const prepared = await prepareTaskChat(t)
  const writes = await countTaskChatWrites(t, prepared)
  // All of them: test/faults/task-chat-kill.long.ts.
  for (const n of [52]) await t.test(`after write ${n} of ${writes}`, (t) => survivesTaskChat(t, prepared, `${n} after`))
})
