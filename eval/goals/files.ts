import { isDeepStrictEqual } from 'node:util'
import { answers, file, fileThat, gone, nothingElse, untouched } from '../checks.ts'
import type { Goal } from '../goal.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')
const SETTINGS = ['; Größe und Maße', '[server]', 'port=8080', 'host=localhost', '', '[log]', 'level=info', '']

const PHOTOS = { 'IMG_0412.jpg': 'photo A', 'IMG_0413.jpg': 'photo B', 'IMG_0420.jpg': 'photo C', 'DSC_0007.JPG': 'photo D' }
const PHOTO_DATES = `file,taken
IMG_0413.jpg,2026-03-14 09:12
IMG_0412.jpg,2026-03-14 17:40
IMG_0420.jpg,2026-04-01 08:05
DSC_0007.JPG,2026-02-28 21:30
`

const CONTACTS = `name,company,age,city
"Okafor, Ada",Lantern & Sons,41,Leeds
Mei Lin,,29,Taipei
"Jan ""Jens"" Bakker",Waterland,,Edam
Zoë Brûlé,Atelier 9,35,Orléans
`
const CONTACTS_AS_JSON = [
  { name: 'Okafor, Ada', company: 'Lantern & Sons', age: 41, city: 'Leeds' },
  { name: 'Mei Lin', company: null, age: 29, city: 'Taipei' },
  { name: 'Jan "Jens" Bakker', company: 'Waterland', age: null, city: 'Edam' },
  { name: 'Zoë Brûlé', company: 'Atelier 9', age: 35, city: 'Orléans' }
]

const SHOPPING = '# 買い物リスト\n- 卵\n- パン\n- りんご\n\n# メモ\n- 傘を返す\n'

const TEXTS = { greeting: 'Good morning, {name}!', unread: 'You have {count} unread messages.', quit: 'Quit' }
const placeholders = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort()
const isTranslated = (found: Record<string, unknown>) =>
  isDeepStrictEqual(Object.keys(found).sort(), Object.keys(TEXTS).sort()) &&
  Object.entries(TEXTS).every(([key, text]) => {
    const other = found[key]
    return typeof other === 'string' && other.trim() !== '' && other !== text && isDeepStrictEqual(placeholders(other), placeholders(text))
  })

/** Files on a desktop: named, sorted, changed and converted, and nothing else touched. */
export const files: Goal[] = [
  {
    name: 'rename-photos',
    measures: 'many renames by a rule from another file, with two names that meet',
    files: { ...PHOTOS, 'dates.csv': PHOTO_DATES, 'notes.txt': 'Ask about the frames.\n' },
    says: [
      'Rename the photos in this folder to the date on which they were taken, like 2026-01-31.jpg. If two are of the same day, the ' +
      'later one gets -2 behind the date. The dates are in dates.csv; leave that file as it is.'
    ],
    checks: [
      file('2026-03-14.jpg', 'photo B'),
      file('2026-03-14-2.jpg', 'photo A'),
      file('2026-04-01.jpg', 'photo C'),
      file('2026-02-28.jpg', 'photo D'),
      gone(...Object.keys(PHOTOS)),
      nothingElse('2026-03-14.jpg', '2026-03-14-2.jpg', '2026-04-01.jpg', '2026-02-28.jpg', ...Object.keys(PHOTOS))
    ]
  },
  {
    name: 'keep-crlf',
    measures: 'an edit that keeps line ends and encoding (Windows-1252) of a file',
    files: { 'settings.ini': latin1(SETTINGS.join('\r\n')), 'README.txt': 'See settings.ini.\n' },
    says: ['In settings.ini, set the port to 9090 and add the line timeout=30 right below it. Keep all the rest exactly as it is.'],
    checks: [
      file('settings.ini', latin1(SETTINGS.join('\r\n').replace('port=8080', 'port=9090\r\ntimeout=30'))),
      nothingElse('settings.ini')
    ]
  },
  {
    name: 'csv-to-json',
    measures: 'a conversion with quotes, commas and empty fields',
    files: { 'contacts.csv': CONTACTS },
    says: [
      'Convert contacts.csv to contacts.json: an array with one object per row, keyed by the headings. Ages are numbers, and an empty ' +
      'field is null.'
    ],
    checks: [
      fileThat('contacts.json', 'has the four contacts', (text) => isDeepStrictEqual(JSON.parse(text), CONTACTS_AS_JSON)),
      nothingElse('contacts.json')
    ]
  },
  {
    name: 'tidy-folder',
    measures: 'a folder sorted by a rule, asked for in German',
    files: {
      'rechnung.pdf': '%PDF-1.4 Rechnung',
      'brief.pdf': '%PDF-1.4 Brief',
      'Urlaub.JPG': 'Bild Urlaub',
      'katze.png': 'Bild Katze',
      'liste.txt': 'Milch\n'
    },
    says: [
      'Räum diesen Ordner auf: PDFs kommen in den Unterordner Dokumente, Bilder in den Unterordner Bilder. Alles andere bleibt, wo es ist.'
    ],
    checks: [
      file('Dokumente/rechnung.pdf', '%PDF-1.4 Rechnung'),
      file('Dokumente/brief.pdf', '%PDF-1.4 Brief'),
      file('Bilder/Urlaub.JPG', 'Bild Urlaub'),
      file('Bilder/katze.png', 'Bild Katze'),
      gone('rechnung.pdf', 'brief.pdf', 'Urlaub.JPG', 'katze.png'),
      untouched('liste.txt')
    ]
  },
  {
    name: 'shopping-list',
    measures: 'one line added at the right place, asked for and answered in Japanese',
    files: { 'メモ.txt': SHOPPING },
    says: ['メモ.txt の買い物リストの最後に「牛乳」を追加してください。ほかの行は変えないでください。'],
    checks: [
      file('メモ.txt', SHOPPING.replace('- りんご\n', '- りんご\n- 牛乳\n')),
      nothingElse('メモ.txt'),
      answers('is in Japanese', /[\u3040-\u30ff]/)
    ]
  },
  {
    name: 'translate-texts',
    measures: 'a translation that keeps keys and placeholders, asked for in Spanish',
    files: { 'en.json': `${JSON.stringify(TEXTS, null, 2)}\n` },
    says: ['Traduce los textos de en.json al español y guárdalos en es.json. Las claves y lo que está entre llaves quedan como están.'],
    checks: [
      fileThat('es.json', 'has every text, another one, with its placeholders', (text) => isTranslated(JSON.parse(text))),
      fileThat('es.json', 'is in Spanish', /buen[oa]s d[ií]as/i),
      nothingElse('es.json')
    ]
  }
]
