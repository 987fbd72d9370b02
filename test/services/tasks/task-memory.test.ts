import t from 'tap'
import type { TaskMemory } from '../../../schemas/tasks.ts'
import { mergeMemory, withLearned, withLists } from '../../../services/tasks/runner/task-memory.ts'

const none: TaskMemory = { findings: [], sources: [], filesCreated: [], decisions: [], feedback: [] }
const learned = (memory: TaskMemory, findings: string[], outdated: string[] = [], decisions: string[] = []) =>
  withLearned(memory, { findings, decisions, outdated })

t.test('a report replaces what an earlier run noted of the same, and the entry can be put back', (t) => {
  const noted = learned(none, ['The ferry leaves from pier 2.', 'The museum is closed on Mondays.'])
  const after = learned(noted, ['The ferry leaves from pier 4 now.'], ['The ferry leaves from pier 2.'])
  t.same(after.findings, ['The museum is closed on Mondays.', 'The ferry leaves from pier 4 now.'])
  t.same(after.replaced, [{ entry: 'The ferry leaves from pier 2.', kind: 'findings', by: 'The ferry leaves from pier 4 now.' }])
  const restored = withLists(after, { findings: [...after.findings, 'The ferry leaves from pier 2.'] })
  t.ok(restored.findings.includes('The ferry leaves from pier 2.'))
  t.equal(restored.replaced, undefined, 'what is back is not replaced')
  const again = learned(restored, ['The ferry leaves from pier 4, as before.'], ['The ferry leaves from pier 2.'])
  t.ok(again.findings.includes('The ferry leaves from pier 2.'), 'a person has confirmed it')
  t.end()
})

t.test('what a person gave, and what shares no word with anything new, is doubted and stands', (t) => {
  const typed = withLists(learned(none, ['The ferry leaves from pier 2.']), { decisions: ['Prices are in euros.'] })
  const after = learned(typed, ['Prices are in francs since May.'], ['Prices are in euros.', 'The ferry leaves from pier 2.'])
  t.same([after.decisions, after.findings], [
    ['Prices are in euros.'],
    ['The ferry leaves from pier 2.', 'Prices are in francs since May.']
  ])
  t.same(after.doubted, [
    { entry: 'The ferry leaves from pier 2.', kind: 'findings' },
    { entry: 'Prices are in euros.', kind: 'decisions' }
  ])
  t.equal(after.replaced, undefined)
  t.same(withLists(after, { decisions: ['Prices are in francs.'] }).doubted, [{ entry: 'The ferry leaves from pier 2.', kind: 'findings' }])
  t.same(withLists(after, { findings: after.findings, decisions: after.decisions }).doubted, undefined, 'what is kept is confirmed')
  t.end()
})

t.test('what a person gave stays when runs fill the memory', (t) => {
  const typed = withLists(none, { findings: ['The key is under the mat.'] })
  const full = mergeMemory(typed, { findings: Array.from({ length: 150 }, (_, n) => `Finding ${n}`) })
  t.equal(full.findings.length, 100)
  t.equal(full.findings[0], 'The key is under the mat.')
  t.equal(full.findings.at(-1), 'Finding 149')
  t.end()
})
