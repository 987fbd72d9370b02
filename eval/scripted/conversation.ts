import { call, calls, once, say, write, type Scripts } from './script.ts'

const port = (path: string): [string, object] => ['editFile', { path, edits: [{ oldText: '3000', newText: '8080' }] }]
const ASK = call('askUser', {
  questions: [{
    id: 'server',
    text: 'Which server?',
    options: [{ value: 'admin.json', label: 'Admin' }, { value: 'shop.json', label: 'Shop' }],
    required: true
  }]
})

const SPAN = 'Please remember that I am allergic to peanuts.'
const ALL_RIGHT = 'Rice crackers and dried mango are all right for you. Satay sticks and trail mix hold peanuts.'

const SORTED = 'Ada\nBen\nmilan\nZoë\n'
const BIGGEST = [call('listDirectory', { path: '.' }), say('Le plus gros fichier est vacances.mov.')]

const task = (every: string, goal: string) => once(call('createTask', { goal, when: { every } }), say('Erledigt: Es läuft als Aufgabe.'))
const REMIND = 'Daran erinnern, die Stunden in zeiten.csv einzutragen'

export const conversation: Record<string, Scripts> = {
  'which-port': {
    good: once(ASK, calls(port('shop.json')), say('The port of the shop is 8080.')),
    bad: {
      guesses: once(calls(port('admin.json')), say('The port is 8080.')),
      'changes both': once(ASK, calls(port('shop.json'), port('admin.json')), say('The port is 8080.'))
    }
  },
  remember: {
    good: {
      turns: [
        [call('remember', { span: SPAN, kind: 'fact' }), say('I remember it.')],
        [call('readFile', { path: 'snacks.txt' }), say(ALL_RIGHT)]
      ]
    },
    bad: {
      'says that it remembers': { turns: [[say('I remember it.')], [say('All four snacks are all right for you.')]] },
      'notes it in the folder': { turns: [[write('memory.txt', 'peanuts\n'), say('I noted it.')], [say(ALL_RIGHT)]] }
    }
  },
  'follow-up': {
    good: { turns: [BIGGEST, [call('deleteFile', { path: 'vacances.mov' }), say('vacances.mov est supprimé.')]] },
    bad: {
      'deletes another one': { turns: [BIGGEST, [call('deleteFile', { path: 'photo.png' }), say('Supprimé.')]] },
      'deletes what it did not name': {
        turns: [[say('Le plus gros fichier fait 150 ko.')], [call('deleteFile', { path: 'vacances.mov' }), say('Supprimé.')]]
      }
    }
  },
  'put-back': {
    good: {
      turns: [
        [call('readFile', { path: 'guests.txt' }), write('guests.txt', SORTED), say('Sorted.')],
        [write('guests.txt', 'Zoë\nAda\nmilan\nBen\n'), say('It is as it was.')]
      ]
    },
    bad: {
      'sorts by code and restores from memory': {
        turns: [
          [write('guests.txt', 'Ada\nBen\nZoë\nmilan\n'), say('Sorted.')],
          [write('guests.txt', 'Zoë\nAda\nMilan\nBen\n'), say('It is as it was.')]
        ]
      },
      'puts too much back': {
        turns: [[write('guests.txt', SORTED), write('menu.txt', 'stew\n'), say('Sorted.')], [say('It is as it was.')]]
      }
    }
  },
  'every-weekday': {
    good: task('weekdays at 8:30', REMIND),
    bad: {
      'plans every day': task('daily at 8:30', REMIND),
      'plans something else': task('weekdays at 8:30', 'Guten Morgen sagen'),
      'writes a note': once(write('erinnerung.txt', 'jeden Werktag 8:30\n'), say('Gern, ich erinnere dich.'))
    }
  },
  'background-task': {
    good: once(call('readFile', { path: 'todo.md' }), write('report.txt', 'open: 4\n'), say('Four points are open; report.txt says so.')),
    bad: {
      miscounts: once(write('report.txt', 'open: 5\n'), say('report.txt says how many points are open.')),
      'ticks the points': once(
        call('editFile', { path: 'todo.md', edits: [{ oldText: '- [ ] paint', newText: '- [x] paint' }] }),
        write('report.txt', 'open: 4\n'),
        say('report.txt says how many points are open.')
      )
    }
  }
}
