import t from 'tap'
import { createBrain, emptyMemory } from '../../../services/brain/brain.ts'
import { createExtraction } from '../../../services/brain/extraction/extractor.ts'
import { searchable } from '../../../services/brain/extraction/own-words.ts'
import type { Entry } from '../../../services/brain/memory.ts'
import { createEntryIndex } from '../../../services/brain/recall/entry-index.ts'
import { createThreadRepository } from '../../../services/threads/thread-repository.ts'
import { manyEntries } from '../../harness/brain.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'
import type { MemoryCase, Pointer } from './cases/case-types.ts'
import { spokenTuned } from './cases/spoken-tuned.ts'
import { spokenUnread } from './cases/spoken-unread.ts'
import type { SpokenLanguage } from './cases/spoken.ts'
import { tuned } from './cases/tuned.ts'
import { unread } from './cases/unread.ts'

/** What the extraction made of a case. */
interface Outcome {
  learned: string[]
  preferences: Record<string, string>
  proposed: string[]
  replaced: string[]
  everything: string
}
type Pointing = (each: MemoryCase) => Pointer[]

const store = await testStore(t)
let runs = 0

/** Runs the real extraction over a case: with a model that answers `point(case)`. */
async function extract (each: MemoryCase, point: Pointing): Promise<Outcome> {
  const clock = fakeClock()
  const name = `case-${runs++}`
  const threads = createThreadRepository({ store, clock, readAnswer: async () => ({ role: 'assistant' }) })
  const brain = createBrain({ record: store.record(name, emptyMemory), now: clock.now, digest: store.digest })
  const ids = new Map<string, string>()
  for (const { id, fact, typed, pinned } of each.known ?? []) {
    if (typed) await brain.learn(fact)
    else {
      await brain.ingest([{
        kind: 'fact',
        fact,
        replaces: [],
        isRetraction: false,
        isUnsure: false,
        said: clock.now(),
        source: { threadId: 'earlier', message: 0, span: fact }
      }])
    }
    const known = (await brain.facts({ limit: 500 })).facts[0]
    if (pinned) await brain.change(known.id, { pinned })
    ids.set(fact, id)
  }
  await clock.advance(1000)
  await store.transact(await threads.replace(name, each.messages.map((content) => ({ role: 'user', content }))))
  const { extract } = createExtraction({
    threads,
    brain,
    log: { warn () {} },
    ranTasks: async () => [],
    isOffline: async () => false,
    async ask ({ text }) {
      // The model sees short ids beside the texts.
      const shown = new Map([...text.matchAll(/^(k\d+): (".*")$/gm)].map(([, id, fact]) => [ids.get(JSON.parse(fact)), id]))
      const pointers = point(each).map((pointer) => ({ ...pointer, replaces: pointer.replaces.map((id) => shown.get(id) ?? id) }))
      return { value: { pointers } as never }
    }
  })
  await extract(name)
  const list = async (state: Entry['state']) => (await brain.facts({ state, limit: 500 })).facts
  const { brain: { facts, preferences } } = await brain.recall()
  const before = new Set(each.known?.map(({ fact }) => fact))
  const proposed = await list('proposed')
  const replaced = await list('replaced')
  return {
    learned: facts.filter((fact) => !before.has(fact)),
    preferences,
    proposed: proposed.map(({ fact }) => fact),
    replaced: replaced.map(({ fact }) => ids.get(fact) ?? fact),
    everything: JSON.stringify([facts, preferences, proposed])
  }
}

const whole = (outcome: Pick<Outcome, 'learned' | 'preferences'>) => [
  ...outcome.learned,
  ...Object.entries(outcome.preferences).map(([key, value]) => `${key}: ${value}`)
]
const expected = ({ expect: { learned, preferences = {} } }: MemoryCase) => whole({ learned, preferences })

/** Whole sentences of the messages, as a model that marks everything cuts them. */
const sentences = ({ messages }: MemoryCase): Array<[number, string]> =>
  messages.flatMap((text, n) => searchable(text).sentences.map((sentence): [number, string] => [n, sentence.text]))
const lasting = (message: number, span: string): Pointer => ({
  message,
  span,
  kind: 'fact',
  about: 'user',
  lasting: true,
  sensitive: false,
  replaces: []
})

const POINTINGS: Record<string, Pointing> = {
  rightly: ({ right }) => right,
  'at everything': (each) => sentences(each).map(([n, text]) => lasting(n, text)),
  'with flipped marks': ({ right }) => right.map((pointer) => ({ ...pointer, about: 'user', lasting: true, sensitive: false })),
  'at parts of sentences': (each) =>
    sentences(each).flatMap(([n, text]) => text.split(/[,;:，、—]/).map((part) => lasting(n, part.trim()))),
  "at everybody's words": ({ messages }) =>
    messages.flatMap((text, n) => text.split(/["«»„“”「」『』\n>`]+/).map((part) => lasting(n, part.trim())))
}

/** Counts of what was learned, of what should have been, and of both. */
interface Count {
  cases: number
  wrong: number
  learned: number
  expected: number
  both: number
}
const percent = (part: number, all: number) => all === 0 ? '-' : `${Math.round(part / all * 100)} %`
const sum = (counts: Count[]): Count =>
  counts.reduce((a, b) => ({
    cases: a.cases + b.cases,
    wrong: a.wrong + b.wrong,
    learned: a.learned + b.learned,
    expected: a.expected + b.expected,
    both: a.both + b.both
  }))
const words = (name: string, { cases, wrong, learned, expected, both }: Count) =>
  `${name}: ${cases} cases, ${wrong} not as expected; learned ${learned}, precision ${percent(both, learned)}, recall ${
    percent(both, expected)
  }`

// CASES_TUNED_ONLY leaves out the half whose texts nobody tunes with.
const HALVES = [{ half: 'tuned', cases: tuned, isShown: true }, { half: 'unread', cases: unread, isShown: false }]
  .filter(({ half }) => half === 'tuned' || !process.env.CASES_TUNED_ONLY)

for (const { half, cases, isShown } of HALVES) {
  for (const [how, point] of Object.entries(POINTINGS)) {
    t.test(`${half}: a model that points ${how}`, async (t) => {
      const byLanguage = new Map<string, Count[]>()
      let forbidden = 0
      for (const each of cases) {
        const outcome = await extract(each, point)
        const allowed = expected(each)
        const got = whole(outcome)
        const both = got.filter((text) => allowed.includes(text)).length
        const { proposed = [], replaced = [], neverLearned } = each.expect
        const isRight = both === got.length && both === allowed.length &&
          same(outcome.proposed, proposed) && same(outcome.replaced, replaced)
        const count = { cases: 1, wrong: isRight ? 0 : 1, learned: got.length, expected: allowed.length, both }
        byLanguage.set(each.language, [...byLanguage.get(each.language) ?? [], count])
        const leaked = neverLearned.filter((text) => outcome.everything.includes(text))
        forbidden += leaked.length
        if (isShown) {
          t.strictSame(leaked, [], `${each.name}: nothing that may never be learned`)
          if (how === 'rightly') t.ok(isRight, each.name, { found: { ...outcome, everything: undefined }, wanted: each.expect })
        }
      }
      t.equal(forbidden, 0, 'nothing that may never be learned')
      const all = [...byLanguage].sort(([a], [b]) => a < b ? -1 : 1).map(([language, counts]): [string, Count] => [language, sum(counts)])
      for (const [language, count] of all) t.comment(words(language, count))
      const total = sum(all.map(([, count]) => count))
      t.comment(words('all', total))
      if (how === 'rightly') t.ok(total.both / total.learned >= 0.95 && total.both / total.expected >= 0.9, 'precision and recall')
    })
  }
}

const same = (a: string[], b: string[]) => a.length === b.length && a.every((text) => b.includes(text))

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
