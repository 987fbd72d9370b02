import t from 'tap'
import { parseSchedule } from '../../../../../services/calendar/parse-schedule.ts'
import { offline } from './converse.ts'

async function structured (name: string | undefined, message: string): Promise<any> {
  const model = await offline.languageModel('assistant')
  const { content } = await model.doGenerate({
    prompt: [{ role: 'user', content: [{ type: 'text', text: message }] }],
    responseFormat: { type: 'json', name }
  })
  return JSON.parse((content[0] as { text: string }).text)
}
const complexity = async (message: string) => (await structured('analysis', message)).complexity

t.test('a request is classed by its commands and by words of time and care', async (t) => {
  const rows: Array<[string, string]> = [
    ['hello', 'simple'],
    ['list the files in src', 'simple'],
    ['read a.txt', 'simple'],
    ["write 'x' to a.txt", 'standard'],
    ['run `ls`', 'standard'],
    ['list the files, then read a.txt', 'standard'],
    ['list here, read a.txt, read b.txt, read c.txt', 'complex'],
    ['compare a.txt and b.txt thoroughly', 'complex'],
    ['analyze the sources in depth', 'complex'],
    ['every morning read news.txt', 'long_running'],
    ['check the page every 10 minutes', 'long_running'],
    ['keep watching the folder', 'long_running'],
    ['monitor https://example.com', 'long_running'],
    ['do this in the background', 'long_running'],
    ['read daily.md', 'simple'],
    ['write "every day at 9" to a.txt', 'standard'],
    ['list the files in weekly', 'simple'],
    ['what happens every day at 9?', 'simple']
  ]
  for (const [message, expected] of rows) t.equal(await complexity(message), expected, message)
})

t.test('work for the background is told from how often it is wanted', async (t) => {
  const rows: Array<[string, string, string]> = [
    ['every day at 9 list the files here', 'list the files here', 'every day at 9:00'],
    ['Please summarise news.txt every evening at 8', 'summarise news.txt', 'daily at 20:00'],
    [
      'could you every monday and thursday at 5pm write "every day" to a.txt',
      'write "every day" to a.txt',
      'every monday and thursday at 5pm'
    ],
    [
      'check https://example.com every 10 minutes and tell me what it says',
      'check https://example.com and tell me what it says',
      'every 10 minutes'
    ],
    ['back up a.txt once a week', 'back up a.txt', 'every week'],
    ['keep an eye on "my folder/x.txt"', 'look at "my folder/x.txt"', 'hourly'],
    ['run `npm test` in the background', 'run `npm test`', '']
  ]
  for (const [message, goal, interval] of rows) {
    t.match(await structured('analysis', message), { complexity: 'long_running', goal, interval }, message)
    if (interval !== '') t.ok(await parseSchedule({ interval }, { timezone: 'UTC', now: 0 }), 'schedules can be written so')
  }
})

t.test('an analysis says what it found', async (t) => {
  const found = await structured('analysis', "read a.txt then write 'x' to b.txt")
  t.match(found, {
    goal: "read a.txt then write 'x' to b.txt",
    thinking: /two|2 commands: readFile, then writeFile/,
    qualityCriteria: [/a\.txt/, /b\.txt/]
  })
})

t.test('a plan has one phase a command, or the request as its only phase', async (t) => {
  t.strictSame(await structured('plan', 'list here then read a.txt'), {
    phases: [{ description: 'listDirectory .' }, { description: 'readFile a.txt' }],
    qualityCriteria: []
  })
  t.strictSame(await structured('plan', 'Think about it.'), { phases: [{ description: 'Think about it.' }], qualityCriteria: [] })
})

t.test('a question without a rule gets an answer that fits no schema', async (t) => {
  for (const name of ['summary', 'constructor', undefined]) t.strictSame(await structured(name, 'x'), {})
})
