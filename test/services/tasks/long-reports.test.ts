import t from 'tap'
import { checkRules } from '../../../services/judge/rules/check-rules.ts'

const LONG = 30_000
const PARTS = [
  'a',
  'a.',
  'a/',
  'a-',
  './',
  'a.txt ',
  'I wrote ',
  'moved a to ',
  'is now in ',
  'which ',
  '"',
  '`',
  '“',
  '[',
  '[insert ',
  '```\n',
  '> ',
  '\n',
  ' ',
  '. ',
  'check ',
  'no x y '
]

// A pattern that looks at the same text again and again takes minutes here, and holds up the whole service.
t.test('reports, goals and files that try the patterns are judged at once', async (t) => {
  for (const part of PARTS) {
    const text = part.repeat(LONG / part.length)
    const calls = Array.from(
      { length: 4 },
      () => ({ tool: 'writeFile', input: { path: 'a.txt', content: text }, output: { path: '/a.txt' }, status: 'complete' as const })
    )
    for (const [goal, answer] of [['update a.txt', text], [text.slice(0, 20_000), 'All is well.']]) {
      t.ok(
        await checkRules({ goal, answer, calls, run: { phases: [] }, finishReason: 'stop', sizeOf: async () => 1 }),
        JSON.stringify(part)
      )
    }
  }
})
