import t from 'tap'
import { followDay, openDay, thingsOfADay } from './developer-day.ts'

t.test("an application's developer does all things, and the service is killed between any two of them", async (t) => {
  const day = await openDay(t)
  const events = followDay(day.agent)
  const things = thingsOfADay(t, day, events)
  let kills = 0
  for (const [name, act] of things) {
    await t.test(name, act)
    await day.kill()
    // The follower comes back by itself, and is told that it may have missed something.
    await events.resets(++kills)
  }
  t.equal(events.seen.filter(({ type }) => type === 'reset').length, kills, 'it was told of each restart once')
  await events.end()
  await day.end()
})
