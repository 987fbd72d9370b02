import t from 'tap'
import type { Entry } from '../../../services/brain/memory.ts'
import { createEntryIndex } from '../../../services/brain/recall/entry-index.ts'
import { manyEntries } from '../../harness/brain.ts'
import type { SpokenLanguage } from './cases/spoken.ts'
import { spokenTuned } from './cases/spoken-tuned.ts'
import { spokenUnread } from './cases/spoken-unread.ts'

const entriesOf = (half: SpokenLanguage[], withTopics: boolean): Entry[] =>
  half.flatMap(({ statements }) => statements).map(({ says, topics }) => ({
    id: says,
    kind: 'fact',
    state: 'known',
    fact: says,
    createdAt: 1,
    said: 1,
    ...(withTopics && { topics })
  }))

for (const [name, half, isShown] of [['tuned', spokenTuned, true], ['unread', spokenUnread, false]] as const) {
  t.test(`${name}: what fits a message is found among 2,000 entries, in eight languages`, async (t) => {
    const own = entriesOf(half, true)
    const index = createEntryIndex()
    await index.update([...manyEntries(2_000 - own.length), ...own])
    const isOwn = (id: string) => own.some((entry) => entry.id === id)
    let [found, asked, wrong] = [0, 0, 0]
    for (const { statements, unrelated } of half) {
      for (const { says, ask } of statements) {
        const matches = index.search(ask)
        const isFound = matches.slice(0, 10).some(({ id }) => id === says)
        asked++
        if (isFound) found++
        const others = matches.filter(({ id }) => isOwn(id) && id !== says)
        wrong += others.length
        if (isShown) t.ok(isFound, `${ask} → ${says}`, { matches: matches.slice(0, 5) })
      }
      const matches = index.search(unrelated).filter(({ id }) => isOwn(id))
      wrong += matches.length
      if (isShown) t.strictSame(matches, [], unrelated)
    }
    t.comment(`${name}: ${found} of ${asked} found, ${wrong} found that do not fit`)
    t.ok(found / asked >= 0.9, 'nine of ten')
    t.ok(wrong / asked <= 0.4, 'few others')
  })
}
