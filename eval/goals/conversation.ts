import {
  answers,
  askedFirst,
  file,
  fileAfter,
  fileThat,
  gone,
  nothingElse,
  remembers,
  taskIs,
  taskRunsAt,
  untouched
} from '../checks.ts'
import type { Goal } from '../goal.ts'

const GUESTS = 'Zoë\nAda\nmilan\nBen\n'

const SNACKS = `rice crackers: rice, salt, oil
satay sticks: wheat, peanuts, chili
dried mango: mango
trail mix: raisins, peanuts, almonds
`

const TODO = `# Boat
- [ ] paint the hull
- [x] order rope
- [ ] check the pump
  - [ ] buy a seal
- [x] sail to Edam

A line in between - [ ] that is no point.
- [ ] winter cover
`

const isWeekdayAt = (date: Date, hours: number, minutes: number) =>
  date.getDay() >= 1 && date.getDay() <= 5 && date.getHours() === hours && date.getMinutes() === minutes

/** Goals that need several messages or some time: questions, memory, follow-ups and tasks. */
export const conversation: Goal[] = [
  {
    name: 'which-port',
    measures: 'a question where two things can be meant, before anything is changed',
    files: {
      'shop.json': '{\n  "name": "shop",\n  "port": 3000\n}\n',
      'admin.json': '{\n  "name": "admin",\n  "port": 3000\n}\n'
    },
    replies: { choose: /shop/i, say: 'Only that of the shop.' },
    says: ['Set the port to 8080, but only in one of the two servers. Ask me which if you are not sure.'],
    checks: [
      askedFirst('which of the two', /shop|admin|which/i),
      file('shop.json', '{\n  "name": "shop",\n  "port": 8080\n}\n'),
      nothingElse('shop.json')
    ]
  },
  {
    name: 'remember',
    measures: 'something told in one conversation that counts in the next',
    files: { 'snacks.txt': SNACKS },
    says: [
      'Please remember that I am allergic to peanuts.',
      { anew: 'Which of the snacks in snacks.txt are all right for me, and which are not?' }
    ],
    checks: [
      remembers('has the allergy', /peanut/i),
      answers('names what is all right', /rice crackers[^]*mango|mango[^]*rice crackers/i),
      answers('names the reason', /peanut|allerg/i),
      nothingElse()
    ]
  },
  {
    name: 'follow-up',
    measures: 'a second message that means what the first answer named, in French',
    files: { 'lettre.txt': 'x'.repeat(900), 'vacances.mov': 'x'.repeat(150_000), 'photo.png': 'x'.repeat(40_000) },
    says: ['Quel est le plus gros fichier de ce dossier ?', 'Supprime-le.'],
    checks: [
      answers('names the file', /vacances\.mov/, 0),
      gone('vacances.mov'),
      nothingElse('vacances.mov')
    ]
  },
  {
    name: 'put-back',
    measures: 'a change that is taken back to the last byte',
    files: { 'guests.txt': GUESTS, 'menu.txt': 'soup\n' },
    says: [
      'Sort the lines of guests.txt from A to Z; small and capital letters count the same.',
      'I liked it better before. Put the file back as it was.'
    ],
    checks: [
      fileAfter(0, 'guests.txt', 'Ada\nBen\nmilan\nZoë\n'),
      file('guests.txt', GUESTS),
      untouched('menu.txt')
    ]
  },
  {
    name: 'every-weekday',
    measures: 'a task with a schedule out of a sentence, in German',
    files: { 'zeiten.csv': 'tag,stunden\n' },
    says: ['Erinnere mich jeden Werktag um 8:30 Uhr daran, meine Stunden in zeiten.csv einzutragen.'],
    checks: [
      taskRunsAt('on weekdays at 8:30', (date) => isWeekdayAt(date, 8, 30)),
      taskIs('names what it is about', /zeiten\.csv|Stunden/i),
      nothingElse()
    ]
  },
  {
    name: 'background-task',
    measures: 'a task in the background that leaves a right file behind',
    files: { 'todo.md': TODO },
    task: {
      goal: 'Count the open points of todo.md: lines that begin with "- [ ]", indented or not. Write the line "open: <number>" to ' +
        'report.txt.',
      approval: { mode: 'never' }
    },
    checks: [
      fileThat('report.txt', 'has the number', /^open: 4\s*$/),
      nothingElse('report.txt')
    ]
  }
]
