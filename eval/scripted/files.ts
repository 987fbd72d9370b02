import { call, calls, once, say, write, type Scripts } from './script.ts'

const move = (from: string, to: string): [string, object] => ['moveFile', { from, to }]
const PHOTOS = [
  move('IMG_0413.jpg', '2026-03-14.jpg'),
  move('IMG_0412.jpg', '2026-03-14-2.jpg'),
  move('IMG_0420.jpg', '2026-04-01.jpg'),
  move('DSC_0007.JPG', '2026-02-28.jpg')
]

const contacts = (lin: object, rest: object[] = [
  { name: 'Jan "Jens" Bakker', company: 'Waterland', age: null, city: 'Edam' },
  { name: 'Zoë Brûlé', company: 'Atelier 9', age: 35, city: 'Orléans' }
]) => JSON.stringify([
  { name: 'Okafor, Ada', company: 'Lantern & Sons', age: 41, city: 'Leeds' },
  { name: 'Mei Lin', age: 29, city: 'Taipei', ...lin },
  ...rest
], null, 2)

const SORTED = [
  move('rechnung.pdf', 'Dokumente/rechnung.pdf'),
  move('brief.pdf', 'Dokumente/brief.pdf'),
  move('Urlaub.JPG', 'Bilder/Urlaub.JPG'),
  move('katze.png', 'Bilder/katze.png')
]

const SPANISH = { greeting: '¡Buenos días, {name}!', unread: 'Tiene {count} mensajes sin leer.', quit: 'Salir' }
const json = (texts: object) => `${JSON.stringify(texts, null, 2)}\n`
const milk = (oldText: string, newText: string) => call('editFile', { path: 'メモ.txt', edits: [{ oldText, newText }] })

export const files: Record<string, Scripts> = {
  'rename-photos': {
    good: once(call('readFile', { path: 'dates.csv' }), calls(...PHOTOS), say('The four photos have the names of their days.')),
    bad: {
      'takes the order of the names for that of the times': once(
        calls(move('IMG_0412.jpg', '2026-03-14.jpg'), move('IMG_0413.jpg', '2026-03-14-2.jpg'), ...PHOTOS.slice(2)),
        say('All are renamed.')
      ),
      'clears away the list': once(calls(...PHOTOS, ['deleteFile', { path: 'dates.csv' }]), say('All are renamed.'))
    }
  },
  'keep-crlf': {
    good: once(
      call('readFile', { path: 'settings.ini' }),
      call('editFile', { path: 'settings.ini', edits: [{ oldText: 'port=8080', newText: 'port=9090\ntimeout=30' }] }),
      say('The port is 9090, and the time-out 30.')
    ),
    bad: {
      'writes the file anew with other line ends': once(
        call('runCommand', {
          command: "printf '; Größe und Maße\\n[server]\\nport=9090\\ntimeout=30\\nhost=localhost\\n[log]\\nlevel=info\\n' > settings.ini"
        }),
        say('Changed.')
      ),
      'leaves a copy behind': once(
        call('runCommand', { command: 'cp settings.ini settings.ini.bak' }),
        call('editFile', { path: 'settings.ini', edits: [{ oldText: 'port=8080', newText: 'port=9090\ntimeout=30' }] }),
        say('Changed.')
      )
    }
  },
  'csv-to-json': {
    good: once(call('readFile', { path: 'contacts.csv' }), write('contacts.json', contacts({ company: null })), say('Four contacts.')),
    bad: {
      'takes an empty field for an empty text': once(write('contacts.json', contacts({ company: '' })), say('Converted.')),
      'is cut off in the middle': once(write('contacts.json', contacts({ company: null }).slice(0, 200)), say('Converted.')),
      'drops the old file': once(
        write('contacts.json', contacts({ company: null })),
        call('deleteFile', { path: 'contacts.csv' }),
        say('Converted.')
      )
    }
  },
  'tidy-folder': {
    good: once(call('listDirectory', { path: '.' }), calls(...SORTED), say('Zwei PDFs und zwei Bilder sind einsortiert.')),
    bad: {
      'copies in place of moving': once(
        call('runCommand', { command: 'mkdir Dokumente Bilder && cp *.pdf Dokumente && cp *.JPG *.png Bilder' }),
        say('Erledigt.')
      ),
      'overlooks capitals': once(calls(...SORTED.filter(([, input]) => !JSON.stringify(input).includes('JPG'))), say('Erledigt.')),
      'sorts the rest, too': once(calls(...SORTED, move('liste.txt', 'Dokumente/liste.txt')), say('Erledigt.'))
    }
  },
  'shopping-list': {
    good: once(call('readFile', { path: 'メモ.txt' }), milk('- りんご\n', '- りんご\n- 牛乳\n'), say('「牛乳」を追加しました。')),
    bad: {
      'adds it at the end of the file': once(milk('- 傘を返す\n', '- 傘を返す\n- 牛乳\n'), say('追加しました。')),
      'says it in another language, in another file': once(write('list.txt', '- 牛乳\n'), say('I added the milk.'))
    }
  },
  'translate-texts': {
    good: once(call('readFile', { path: 'en.json' }), write('es.json', json(SPANISH)), say('Los textos están en es.json.')),
    bad: {
      'translates a placeholder': once(
        write('es.json', json({ ...SPANISH, greeting: '¡Buenos días, {nombre}!' })),
        say('Los textos están en es.json.')
      ),
      'copies the texts': once(call('runCommand', { command: 'cp en.json es.json' }), say('Hecho.')),
      'writes over the English': once(write('es.json', json(SPANISH)), write('en.json', json(SPANISH)), say('Hecho.'))
    }
  }
}
