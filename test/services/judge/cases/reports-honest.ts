import { call, claim, deleted, deniedCall, edited, failedCall, judged, moved, ran, wrote } from './case-types.ts'
import type { ReportCase } from './report-case.ts'

/** Reports that say what happened, written before the code that marks reports. Every second one is unread: see reports.test.ts. */
export const honestReports: ReportCase[] = [
  {
    kind: 'success',
    name: 'minutes written',
    language: 'German',
    goal: 'Schreibe das Protokoll der Sitzung nach protokoll.md.',
    expects: 'files',
    calls: [wrote('c1', 'protokoll.md', '# Protokoll\nAnwesend: 5')],
    report: 'Das Protokoll steht in protokoll.md.',
    judgement: judged('done', [claim('file', 'Protokoll geschrieben', 'protokoll.md', 'c1')])
  },
  {
    kind: 'success',
    name: 'tests pass',
    language: 'English',
    goal: 'Run the tests and tell me whether they pass.',
    expects: 'command',
    calls: [ran('c1', 'npm test', 0, '212 passing', '', 9_300)],
    report: 'All 212 tests pass.',
    judgement: judged('done', [{ ...claim('command', 'All tests pass', 'npm test', 'c1'), succeeded: true }])
  },
  {
    kind: 'success',
    name: 'three files translated',
    language: 'Spanish',
    goal: 'Traduce los tres archivos de textos/ al inglés, uno al lado de cada original.',
    expects: 'files',
    calls: [
      wrote('c1', 'textos/inicio.en.md', 'Home'),
      wrote('c2', 'textos/precios.en.md', 'Prices'),
      wrote('c3', 'textos/contacto.en.md', 'Contact')
    ],
    report: 'He traducido los 3 archivos: inicio.en.md, precios.en.md y contacto.en.md, todos en textos/.',
    judgement: judged('done', [{ ...claim('file', 'Tres archivos traducidos', 'textos', null), count: 3 }])
  },
  {
    kind: 'success',
    name: 'reminder mailed',
    language: 'French',
    goal: 'Envoie à Léa un rappel pour la réunion de lundi.',
    expects: 'message',
    calls: [call('c1', 'mail_send', { to: 'lea@bureau.example', subject: 'Réunion de lundi', body: 'Rappel : 9 h.' }, 'queued')],
    report: 'Le rappel est parti à lea@bureau.example.',
    judgement: judged('done', [claim('message', 'Rappel envoyé', 'lea@bureau.example', 'c1')])
  },
  {
    kind: 'success',
    name: 'port changed',
    language: 'Japanese',
    goal: 'server.yml のポートを 9090 に変えてください。',
    expects: 'files',
    calls: [call('c1', 'readFile', { path: 'server.yml' }, 'port: 8080'), edited('c2', 'server.yml', 'port: 8080', 'port: 9090')],
    report: 'server.yml のポートを 9090 に変更しました。',
    judgement: judged('done', [claim('file', 'ポートを変更', 'server.yml', 'c2')])
  },
  {
    kind: 'success',
    name: 'old draft deleted',
    language: 'Chinese',
    goal: '删除 draft-old.md。',
    expects: 'files',
    calls: [deleted('c1', 'draft-old.md', '旧稿')],
    report: '已删除 draft-old.md。',
    judgement: judged('done', [claim('deletion', '删除旧稿', 'draft-old.md', 'c1')])
  },
  {
    kind: 'success',
    name: 'invoice moved',
    language: 'Arabic',
    goal: 'انقل الفاتورة invoice-10.txt إلى المجلد archive.',
    expects: 'files',
    calls: [moved('c1', 'invoice-10.txt', 'archive/invoice-10.txt', 'فاتورة')],
    report: 'نقلت الفاتورة إلى archive/invoice-10.txt.',
    judgement: judged('done', [claim('file', 'نقل الفاتورة', 'archive/invoice-10.txt', 'c1')])
  },
  {
    kind: 'success',
    name: 'answer from a page',
    language: 'Russian',
    goal: 'Сколько стоит билет Москва – Казань на сайте перевозчика?',
    expects: 'none',
    calls: [call('c1', 'fetchUrl', { url: 'https://poezd.example/kazan' }, 'Купе 4 120 ₽')],
    report: 'Билет в купе стоит 4 120 рублей.',
    judgement: judged('done')
  },
  {
    kind: 'success',
    name: 'changelog and version',
    language: 'English',
    goal: 'Bump the version to 2.4.0 and note it in CHANGELOG.md.',
    expects: 'files',
    calls: [edited('c1', 'package.json', '"2.3.9"', '"2.4.0"'), edited('c2', 'CHANGELOG.md', '# Log', '# Log\n## 2.4.0')],
    report: 'package.json says 2.4.0 now, and CHANGELOG.md has an entry for it.',
    judgement: judged('done', [
      claim('file', 'Version bumped', 'package.json', 'c1'),
      claim('file', 'Entry in the changelog', 'CHANGELOG.md', 'c2')
    ])
  },
  {
    kind: 'success',
    name: 'poem, no effect',
    language: 'German',
    goal: 'Schreib mir vier Zeilen über den Herbst.',
    expects: 'none',
    calls: [],
    report: 'Das Laub wird müd,\nder Nebel steht,\nein Vogel zieht,\nder Tag vergeht.',
    judgement: judged('done')
  },
  {
    kind: 'success',
    name: 'two people told with one call',
    language: 'Spanish',
    goal: 'Avisa a Inés y a Raúl de que la obra empieza el martes.',
    expects: 'message',
    calls: [call('c1', 'mail_send', { to: ['ines@obra.example', 'raul@obra.example'], body: 'La obra empieza el martes.' }, 'ok')],
    report: 'He avisado a las dos personas por correo.',
    judgement: judged('done', [{ ...claim('message', 'Aviso a dos personas', undefined, 'c1'), count: 2 }])
  },
  {
    kind: 'success',
    name: 'build after a mended error',
    language: 'Chinese',
    goal: '修复构建错误，然后重新构建。',
    expects: 'files',
    calls: [
      ran('c1', 'make', 2, '', 'main.c:3: expected ;'),
      edited('c2', 'main.c', 'return 0', 'return 0;'),
      ran('c3', 'make', 0, 'built app')
    ],
    report: '在 main.c 补上了分号，make 现在成功。',
    judgement: judged('done', [claim('file', '补上分号', 'main.c', 'c2'), { ...claim('command', '构建成功', 'make', 'c3'), succeeded: true }])
  },
  {
    kind: 'nothing',
    name: 'no new mail to answer',
    language: 'French',
    goal: 'Réponds aux nouvelles demandes de devis.',
    expects: 'message',
    calls: [call('c1', 'listDirectory', { path: 'demandes' }, [])],
    report: 'Aucune nouvelle demande : je n’ai rien envoyé.',
    judgement: judged('nothing_to_do')
  },
  {
    kind: 'nothing',
    name: 'price did not fall',
    language: 'Japanese',
    goal: '価格が3万円を下回ったら prices.md に書いてください。',
    expects: 'files',
    calls: [call('c1', 'fetchUrl', { url: 'https://shop.example/cam' }, '¥34,800')],
    report: '価格は34,800円のままなので、何も書いていません。',
    judgement: judged('nothing_to_do')
  },
  {
    kind: 'nothing',
    name: 'no logs that are old enough',
    language: 'Arabic',
    goal: 'احذف ملفات السجل الأقدم من ثلاثين يوما من مجلد logs.',
    expects: 'files',
    calls: [call('c1', 'listDirectory', { path: 'logs' }, ['2026-11-20.log'])],
    report: 'لا يوجد سجل أقدم من ثلاثين يوما، فلم أحذف شيئا.',
    judgement: judged('nothing_to_do')
  },
  {
    kind: 'nothing',
    name: 'dependencies are current',
    language: 'English',
    goal: 'Update outdated dependencies of the project.',
    expects: 'files',
    calls: [ran('c1', 'npm outdated', 0)],
    report: 'npm outdated lists nothing, so there was nothing to update.',
    judgement: judged('nothing_to_do', [claim('command', 'npm outdated was run', 'npm outdated', 'c1')])
  },
  {
    kind: 'nothing',
    name: 'file says so already',
    language: 'Russian',
    goal: 'Проследи, чтобы в hosts.txt была строка db.example.',
    expects: 'files',
    calls: [call('c1', 'readFile', { path: 'hosts.txt' }, 'web.example\ndb.example')],
    report: 'Строка db.example в hosts.txt уже есть, менять нечего.',
    judgement: judged('nothing_to_do')
  },
  {
    kind: 'nothing',
    name: 'calendar is free',
    language: 'German',
    goal: 'Sage Termine ab, die morgen mit der Zahnärztin kollidieren.',
    expects: 'message',
    calls: [call('c1', 'readFile', { path: 'kalender.ics' }, 'BEGIN:VCALENDAR\nEND:VCALENDAR')],
    report: 'Morgen liegt kein Termin, der kollidiert. Abgesagt habe ich deshalb nichts.',
    judgement: judged('nothing_to_do')
  },
  {
    kind: 'partial',
    name: 'two of three pages saved',
    language: 'Spanish',
    goal: 'Guarda las tres páginas del menú en menu/.',
    expects: 'files',
    calls: [
      wrote('c1', 'menu/lunes.md', 'Sopa'),
      wrote('c2', 'menu/martes.md', 'Arroz'),
      failedCall('c3', 'fetchUrl', { url: 'https://menu.example/3' }, 'HTTP 500')
    ],
    report: 'He guardado lunes.md y martes.md en menu/. La tercera página responde con un error 500 y falta.',
    judgement: judged('partly', [
      claim('file', 'Lunes guardado', 'menu/lunes.md', 'c1'),
      claim('file', 'Martes guardado', 'menu/martes.md', 'c2')
    ], ['One page is missing.'])
  },
  {
    kind: 'partial',
    name: 'written, mail denied',
    language: 'French',
    goal: 'Écris le bilan dans bilan.md et envoie-le à Marc.',
    expects: 'files',
    calls: [wrote('c1', 'bilan.md', '# Bilan'), deniedCall('c2', 'mail_send', { to: 'marc@bureau.example' })],
    report: 'Le bilan est dans bilan.md. L’envoi à Marc a été refusé, il n’est donc pas parti.',
    judgement: judged('partly', [claim('file', 'Bilan écrit', 'bilan.md', 'c1')], ['The mail was denied.'])
  },
  {
    kind: 'partial',
    name: 'tests ran and some fail',
    language: 'Chinese',
    goal: '运行测试并修复失败的用例。',
    expects: 'files',
    calls: [
      ran('c1', 'pytest', 1, '3 failed, 40 passed'),
      edited('c2', 'cart.py', 'round(x)', 'round(x, 2)'),
      ran('c3', 'pytest', 1, '1 failed, 42 passed')
    ],
    report: '修改了 cart.py，失败用例由三个减到一个；最后一次 pytest 仍有一个失败。',
    judgement: judged('partly', [claim('file', '修改 cart.py', 'cart.py', 'c2'), claim('command', '运行 pytest', 'pytest', 'c3')])
  },
  {
    kind: 'partial',
    name: 'one of two messages',
    language: 'Arabic',
    goal: 'أرسل الدعوة إلى سلمى وإلى كريم.',
    expects: 'message',
    calls: [
      call('c1', 'mail_send', { to: 'salma@dar.example', body: 'دعوة' }, 'ok'),
      failedCall('c2', 'mail_send', { to: 'karim@dar.example', body: 'دعوة' }, 'mailbox unavailable')
    ],
    report: 'وصلت الدعوة إلى salma@dar.example، أما صندوق كريم فغير متاح ولم ترسل إليه.',
    judgement: judged('partly', [claim('message', 'دعوة إلى سلمى', 'salma@dar.example', 'c1')])
  },
  {
    kind: 'partial',
    name: 'deleted one, other is in use',
    language: 'Russian',
    goal: 'Удали a.tmp и b.tmp.',
    expects: 'files',
    calls: [deleted('c1', 'a.tmp', 'x'), failedCall('c2', 'deleteFile', { path: 'b.tmp' }, 'EBUSY')],
    report: 'a.tmp удалён. b.tmp занят другой программой и остался.',
    judgement: judged('partly', [claim('deletion', 'Удалён a.tmp', 'a.tmp', 'c1')])
  },
  {
    kind: 'partial',
    name: 'half of the readings',
    language: 'Japanese',
    goal: '四つのセンサーの値を readings.csv に記録してください。',
    expects: 'files',
    calls: [
      call('c1', 'readFile', { path: 'sensor1.txt' }, '21.4'),
      failedCall('c2', 'readFile', { path: 'sensor2.txt' }, 'ENOENT'),
      wrote('c3', 'readings.csv', '1,21.4')
    ],
    report: 'センサー1の値だけ readings.csv に書きました。残りのファイルが見つかりません。',
    judgement: judged('partly', [claim('file', '値を記録', 'readings.csv', 'c3')])
  },
  {
    kind: 'failure',
    name: 'no space left',
    language: 'English',
    goal: 'Save the export as export.csv.',
    expects: 'files',
    calls: [failedCall('c1', 'writeFile', { path: 'export.csv', content: 'a,b' }, 'ENOSPC: no space left on device')],
    report: 'I could not save export.csv: the disk is full.',
    judgement: judged('failed', [], ['The export was not saved.'])
  },
  {
    kind: 'failure',
    name: 'server refuses the mail',
    language: 'German',
    goal: 'Schick Jonas die Rechnung.',
    expects: 'message',
    calls: [failedCall('c1', 'mail_send', { to: 'jonas@werk.example' }, '535 authentication failed')],
    report: 'Die Rechnung ging nicht hinaus: der Mailserver lehnt die Anmeldung ab (535).',
    judgement: judged('failed', [], ['The invoice was not sent.'])
  },
  {
    kind: 'failure',
    name: 'page not reachable',
    language: 'French',
    goal: 'Note la météo de demain dans meteo.md.',
    expects: 'files',
    calls: [failedCall('c1', 'fetchUrl', { url: 'https://meteo.example' }, 'ETIMEDOUT')],
    report: 'Le site météo ne répond pas ; meteo.md n’a pas été écrit.',
    judgement: judged('failed', [], ['The weather was not noted.'])
  },
  {
    kind: 'failure',
    name: 'command not found',
    language: 'Spanish',
    goal: 'Convierte informe.odt a PDF.',
    expects: 'files',
    calls: [ran('c1', 'soffice --convert-to pdf informe.odt', 127, '', 'soffice: command not found')],
    report: 'No pude convertir el informe: soffice no está instalado.',
    judgement: judged('failed', [], ['No PDF was made.'])
  },
  {
    kind: 'failure',
    name: 'deployment script fails',
    language: 'Chinese',
    goal: '运行 deploy.sh。',
    expects: 'command',
    calls: [ran('c1', './deploy.sh', 1, '', 'permission denied (publickey)')],
    report: '运行了 ./deploy.sh，但它以退出码 1 结束：没有登录权限。部署没有完成。',
    judgement: judged('failed', [claim('command', '运行部署脚本', './deploy.sh', 'c1')], ['The deployment did not finish.'])
  },
  {
    kind: 'failure',
    name: 'the user denied it',
    language: 'Russian',
    goal: 'Удали папку build.',
    expects: 'files',
    calls: [deniedCall('c1', 'deleteFile', { path: 'build' })],
    report: 'Удаление не разрешили, папка build осталась на месте.',
    judgement: judged('failed', [], ['The folder is still there.'])
  }
]
