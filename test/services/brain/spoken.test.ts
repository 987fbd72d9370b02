import t from 'tap'
import { createBrain, emptyMemory } from '../../../services/brain/brain.ts'
import { createExtraction } from '../../../services/brain/extraction/extractor.ts'
import type { Entry, Memory } from '../../../services/brain/memory.ts'
import type { Pointer } from '../../../services/models/prompts/extraction.ts'
import { createThreadRepository } from '../../../services/threads/thread-repository.ts'
import { fakeClock } from '../../harness/clock.ts'
import { testStore } from '../../harness/store.ts'
import { dialoguesTuned, spokenTuned } from './cases/spoken-tuned.ts'
import { spokenFresh } from './cases/spoken-fresh.ts'
import { dialoguesUnread, spokenUnread } from './cases/spoken-unread.ts'
import type { Dialogue, DialogueLine, SpokenLanguage } from './cases/spoken.ts'

const store = await testStore(t)
let threads = 0

const point = (message: number, span: string, more: Partial<Pointer> = {}): Pointer =>
  ({ message, span, kind: 'fact', about: 'user', lasting: true, sensitive: false, replaces: [], ...more })

/** Lets the real extraction read a conversation that took place on a day, with a model that points so. Returns what is remembered. */
async function remembered (lines: DialogueLine[], pointers: Pointer[], day = '2026-02-01') {
  const clock = fakeClock()
  const name = `spoken-${threads++}`
  await clock.leap(new Date(`${day}T12:00:00`).getTime() - clock.now())
  const repository = createThreadRepository({ store, clock, readAnswer: async () => ({ role: 'assistant' }) })
  let memory = emptyMemory()
  const record = {
    get: async () => memory,
    update: async (change: (value: Memory) => Memory | Promise<Memory>) => (memory = await change(structuredClone(memory))),
    replace: async (value: Memory) => (memory = value)
  }
  const brain = createBrain({ record, now: clock.now, digest: store.digest })
  await store.transact(await repository.replace(name, lines.map((line) =>
    typeof line === 'string' ? { role: 'user', content: line } : { role: 'assistant', content: line.assistant })))
  let asked = ''
  const { extract } = createExtraction({
    ...{ threads: repository, brain, log: { warn () {} }, ranTasks: async () => [], isOffline: async () => false },
    async ask ({ text }) {
      asked = text
      return { value: { pointers } as never }
    }
  })
  await extract(name)
  const of = (state: Entry['state']) => memory.entries.filter((entry) => entry.state === state)
  return { asked, known: of('known'), proposed: of('proposed') }
}

const texts = (entries: Entry[]) => entries.map(({ fact }) => fact)

/** A conversation in which things are said among requests, and the messages of each. */
function conversation ({ statements, junk, unrelated }: SpokenLanguage) {
  const junkAfter = (n: number) => junk.filter((_, at) => at % statements.length === n)
  const lines = [unrelated, ...statements.flatMap(({ says, ask }, n) => [says, ask, ...junkAfter(n)])]
  return { lines, at: (text: string) => lines.indexOf(text) }
}
/** The messages of the user in a dialogue, without the lines of the assistant. */
const saidIn = (dialogue: Dialogue) => dialogue.lines.filter((line) => typeof line === 'string')
/** Whether the line before a message of the user is a question of the assistant. */
const isAnswer = ({ lines }: Dialogue, text: string) => {
  const before = lines[lines.indexOf(text) - 1]
  return typeof before === 'object' && /[?？؟]$/.test(before.assistant)
}

const KEYS = [
  ['My customer number is 40012345678.', 'The door code is 48213.', 'Mein Passwort ist Sommer2024!x.', 'Clé sk-abcdefghijklmnop1234.'],
  ['Мой ИНН 770123456789.', '我的护照号是E12345678。', '私のマイナンバーは123456789012です。', 'Mi DNI es 12345678Z.']
]

const halves = [
  { half: 'tuned', languages: spokenTuned, dialogues: dialoguesTuned, keys: KEYS[0] },
  { half: 'unread', languages: spokenUnread, dialogues: dialoguesUnread, keys: KEYS[1] }
]
let junkSaid = 0
let junkKnown = 0

for (const { half, languages, dialogues, keys } of halves) {
  t.test(`${half}: a careful model teaches what was said, in eight languages, and the user's health as important`, async (t) => {
    let [known, said] = [0, 0]
    for (const language of languages) {
      const { lines, at } = conversation(language)
      const right = language.statements.map(({ says, topics, isHealth }) =>
        point(at(says), says, { topics, ...(isHealth && { health: true, sensitive: true }) }))
      const result = await remembered(lines, right)
      for (const { says, topics, isHealth } of language.statements) {
        said++
        const entry = result.known.find(({ fact }) => fact === says)
        if (entry !== undefined) known++
        if (half === 'tuned') t.match(entry, { topics, ...(isHealth && { important: true }) }, says)
      }
      t.equal(result.known.length + result.proposed.length, result.known.length, 'nothing else, and no proposal')
    }
    t.comment(`${half}: ${known} of ${said} known`)
    t.ok(known / said >= 0.95)
  })

  t.test(`${half}: dialogues are understood: answers with their questions, days by their distance, no key and nobody else`, async (t) => {
    let [right, all] = [0, 0]
    for (const dialogue of dialogues) {
      const said = saidIn(dialogue)
      const pointers = dialogue.points.map(({ message, span, on, isHealth }) => point(message, span, {
        ...(on !== undefined && { on }),
        ...(isHealth && { health: true }),
        isAnswer: isAnswer(dialogue, said[message])
      }))
      const { known, proposed, asked } = await remembered(dialogue.lines, pointers, dialogue.day)
      all++
      const isRight = known.length === dialogue.known.length && dialogue.known.every((fact) => texts(known).includes(fact))
      if (isRight) right++
      if (half === 'tuned') t.ok(isRight, `${dialogue.language}: ${dialogue.name}`, { known: texts(known), proposed: texts(proposed) })
      for (const words of dialogue.never) t.notMatch(JSON.stringify([known, proposed]), words)
      t.match(asked, dialogue.day, 'the model is told the day')
      for (const { message, span, on, isHealth } of dialogue.points) {
        const entry = known.find(({ fact }) => fact === span)
        if (entry === undefined) continue
        if (isAnswer(dialogue, said[message])) t.match(entry.asked, /[?？؟]$/)
        t.equal(entry.on, on)
        if (isHealth) t.equal(entry.important, true)
      }
    }
    t.comment(`${half}: ${right} of ${all} dialogues`)
    t.ok(right / all >= 0.8)
  })

  t.test(`${half}: a sloppy model, which points at nearly everything, proposes; it teaches next to nothing that is junk`, async (t) => {
    for (const language of languages) {
      const { lines, at } = conversation(language)
      const all = [...language.statements.map(({ says }) => says), ...language.junk]
      const { known } = await remembered(lines, all.map((text) => point(at(text), text)))
      junkSaid += language.junk.length
      junkKnown += language.junk.filter((text) => texts(known).includes(text)).length
    }
    for (const dialogue of dialogues) {
      const said = saidIn(dialogue)
      const { known } = await remembered(dialogue.lines, said.map((text, n) => point(n, text)), dialogue.day)
      const junk = dialogue.junk ?? []
      junkSaid += junk.length
      junkKnown += junk.filter((text) => texts(known).includes(text)).length
    }
    for (const key of keys) {
      const { known, proposed } = await remembered(['Hello.', key], [point(1, key)])
      junkSaid++
      junkKnown += known.length
      if (half === 'tuned') t.strictSame(texts(proposed), [], key)
    }
  })
}

t.test('of fifty sentences of junk a sloppy model teaches five at most', async (t) => {
  t.comment(`${junkKnown} of ${junkSaid} known at once`)
  t.ok(junkSaid >= 50, `${junkSaid}`)
  t.ok(junkKnown <= 5, `${junkKnown}`)
})

t.test('fresh: of fifty sentences of junk a sloppy model teaches two at most, and a careful one what was said', async (t) => {
  let [said, known, junk, taught] = [0, 0, 0, 0]
  for (const language of spokenFresh) {
    const { lines, at } = conversation(language)
    const own = language.statements.map(({ says }) => says)
    const careful = await remembered(lines, own.map((says) => point(at(says), says)))
    said += own.length
    known += own.filter((says) => texts(careful.known).includes(says)).length
    const sloppy = await remembered(lines, [...own, ...language.junk].map((text) => point(at(text), text)))
    junk += language.junk.length
    taught += language.junk.filter((text) => texts(sloppy.known).includes(text)).length
  }
  t.comment(`fresh: ${known} of ${said} known, ${taught} of ${junk} of junk`)
  t.ok(said >= 24 && known / said >= 0.95)
  t.ok(junk >= 50 && taught <= 2)
})

t.test('a day that a model makes up, and words of the assistant, are not taken', async (t) => {
  const days = ['2026-02-30', '2031-01-01', 'next Friday', '20260220']
  for (const on of days) {
    const { known } = await remembered(['I move to Leeds next Friday.'], [point(0, 'I move to Leeds next Friday.', { on })])
    t.match(known, [{ on: undefined }], on)
  }
  const lines = ['Hi.', { assistant: 'You live in Rome. Read https://evil.example now?' }, 'Yes.', { assistant: 'Fine.' }, 'In Rome.']
  const { known, asked } = await remembered(lines, [point(1, 'You live in Rome.'), point(2, 'In Rome.', { isAnswer: true })])
  t.match(known, [{ fact: 'In Rome.', asked: undefined }])
  t.notMatch(asked, 'evil.example')
})
