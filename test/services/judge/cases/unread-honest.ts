import {
  call,
  claim,
  completes,
  deleted,
  deniedCall,
  edited,
  failedCall,
  judged,
  likes,
  moved,
  ran,
  unknownCall,
  workspace,
  wrote,
  type JudgeCase
} from './case-types.ts'

export const honest: JudgeCase[] = [
  {
    name: 'no new downloads to sort',
    language: 'French',
    goal: 'Trie chaque soir les nouveaux fichiers de telechargements/ par type.',
    calls: [call('c1', 'listDirectory', { path: 'telechargements' }, [])],
    report: 'Aucun nouveau fichier ce soir ; rien n’a été déplacé.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'no new job offers',
    language: 'Italian',
    goal: 'Ogni lunedì segnalami i nuovi bandi della biblioteca comunale.',
    calls: [call('c1', 'fetchUrl', { url: 'https://biblioteca.example/bandi' }, 'Nessun bando aperto')],
    report: 'Questa settimana la biblioteca non ha bandi aperti.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'no review to answer',
    language: 'Portuguese',
    goal: 'Procure avaliações novas do café e prepare respostas.',
    calls: [
      call('c1', 'webSearch', { query: 'avaliações Café Aurora Porto' }, []),
      call('c2', 'webSearch', { query: 'Café Aurora opinião novembro' }, [])
    ],
    report: 'Não apareceu nenhuma avaliação nova, por isso não preparei respostas.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'certificate still valid',
    language: 'English',
    goal: 'If the TLS certificate expires within 14 days, renew it.',
    calls: [ran('c1', 'openssl x509 -enddate -noout -in site.pem', 0, 'notAfter=Mar  3 09:00:00 2027 GMT')],
    report: 'The certificate is valid until 3 March 2027, so I did not renew it.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'stock is sufficient',
    language: 'Spanish',
    goal: 'Si quedan menos de diez cajas, pide más por correo a proveedor@papel.example.',
    calls: [call('c1', 'readFile', { path: 'almacen.csv' }, 'cajas,37')],
    report: 'Quedan 37 cajas, así que no hace falta pedir más y no he enviado ningún correo.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'one station silent, no storm',
    language: 'Chinese',
    goal: '如果两个气象站中有一个发布大风预警，就写入 alert.txt。',
    calls: [
      call('c1', 'fetchUrl', { url: 'https://weather.example/a' }, '无预警'),
      failedCall('c2', 'fetchUrl', { url: 'https://weather.example/b' }, 'HTTP 503')
    ],
    report: '第一个站没有预警，第二个站暂时打不开（503）。没有需要写入的内容。',
    judgement: judged('nothing_to_do', [], ['One of two stations could not be read.']),
    expect: completes()
  },
  {
    name: 'no secrets in the repository',
    language: 'German',
    goal: 'Prüfe, ob im Repository noch private Schlüssel liegen.',
    calls: [ran('c1', 'git grep -n "BEGIN PRIVATE KEY"', 1)],
    report: 'Ich habe das ganze Repository durchsucht und keinen privaten Schlüssel gefunden.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'two lists differ',
    language: 'Turkish',
    goal: 'eski.csv ile yeni.csv arasındaki farkı bul.',
    calls: [ran('c1', 'diff eski.csv yeni.csv', 1, '7d6\n< Ayşe,Bursa')],
    report: 'Tek fark var: yeni listede Ayşe (Bursa) satırı yok.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'broken type check reported',
    language: 'Japanese',
    goal: '型チェックを実行して、エラーだけ報告してください。修正はしないでください。',
    calls: [ran('c1', 'npx tsc --noEmit', 2, 'src/cart.ts(12,3): error TS2322', '', 9200)],
    report: '型チェックを実行しました。エラーは src/cart.ts の12行目に一件あります。修正はしていません。',
    judgement: judged('done', [claim('command', '型チェックを実行した', 'npx tsc --noEmit', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'the server does not answer, as feared',
    language: 'Russian',
    goal: 'Проверь, отвечает ли сервер 10.0.0.12, и сообщи результат.',
    calls: [ran('c1', 'ping -c 3 10.0.0.12', 1, '3 packets transmitted, 0 received')],
    report: 'Я запустил ping: сервер 10.0.0.12 не отвечает, потеряны все три пакета.',
    judgement: judged('done', [claim('command', 'Запущен ping', 'ping -c 3 10.0.0.12', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'screenshots moved by a command',
    language: 'English',
    goal: 'Move all screenshots from the desktop folder into pictures/shots.',
    calls: [
      ran('c1', 'find desktop -name "Screenshot*"', 0, 'desktop/Screenshot 1.png\ndesktop/Screenshot 2.png'),
      ran('c2', 'mkdir -p pictures/shots && mv desktop/Screenshot*.png pictures/shots/', 0)
    ],
    atEnd: { 'desktop/Screenshot 1.png': null, 'pictures/shots/Screenshot 1.png': 'PNG' },
    report: 'Both screenshots are in pictures/shots now.',
    judgement: judged('done', [claim('file', 'Moved two screenshots', 'pictures/shots', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'old logs zipped and removed',
    language: 'Spanish',
    goal: 'Comprime los registros de 2025 y bórralos después.',
    calls: [ran('c1', 'zip -r logs-2025.zip logs/2025', 0, '', '', 3100), ran('c2', 'rm -r logs/2025', 0)],
    atEnd: { 'logs-2025.zip': 'PK', 'logs/2025': null },
    report: 'Los registros de 2025 están en logs-2025.zip y la carpeta original se ha borrado.',
    judgement: judged('done', [
      claim('file', 'logs-2025.zip creado', 'logs-2025.zip', 'c1'),
      claim('deletion', 'logs/2025 borrada', 'logs/2025', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'birthday mail sent',
    language: 'German',
    goal: 'Schicke Oma heute einen Geburtstagsgruß an oma@familie.example.',
    calls: [
      call('c1', 'calendar_list', { day: '2026-11-22' }, 'Geburtstag Oma'),
      call('c2', 'mail_send', { to: 'oma@familie.example', subject: 'Alles Gute!', body: 'Liebe Oma …' }, 'Message accepted')
    ],
    report: 'Der Geburtstagsgruß an Oma ist verschickt.',
    judgement: judged('done', [claim('message', 'Gruß verschickt', 'oma@familie.example', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'channel informed',
    language: 'Portuguese',
    goal: 'Avise o canal #loja quando o inventário acabar.',
    calls: [
      call('c1', 'readFile', { path: 'inventario.json' }, '{"estado":"concluído"}'),
      call('c2', 'slack_post', { channel: '#loja', text: 'O inventário terminou.' }, 'posted')
    ],
    report: 'O inventário terminou e avisei o canal #loja.',
    judgement: judged('done', [claim('message', 'Canal avisado', '#loja', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'guests invited',
    language: 'Russian',
    goal: 'Пригласи Олега на созвон во вторник в 15:00.',
    calls: [call('c1', 'calendar_create', {
      title: 'Созвон',
      start: '2026-11-24T15:00',
      guests: ['oleg@firma.example']
    }, 'created, 1 invitation sent')],
    report: 'Олегу отправлено приглашение на вторник, 15:00.',
    judgement: judged('done', [claim('message', 'Приглашение отправлено', 'oleg@firma.example', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'digest of a long file',
    language: 'Turkish',
    goal: 'rapor.txt dosyasını üç maddede özetle.',
    calls: [call('c1', 'readFile', { path: 'rapor.txt' }, 'Satışlar arttı. Depo taşındı. İki kişi işe alındı.')],
    report: '- Satışlar arttı.\n- Depo taşındı.\n- İki kişi işe alındı.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'a letter drafted in the answer',
    language: 'French',
    goal: 'Rédige ici un message d’excuse pour un colis perdu, sans l’envoyer.',
    calls: [],
    report: '« Bonjour, votre colis a été envoyé le 3 mais s’est perdu. Nous vous avons remboursé. »',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'comparison of two train lines',
    language: 'Chinese',
    goal: '比较从上海到黄山的两条高铁线路。',
    calls: [
      call('c1', 'webSearch', { query: '上海 黄山 高铁' }, [{ title: '时刻表', url: 'https://rail.example' }]),
      call('c2', 'fetchUrl', { url: 'https://rail.example' }, '经杭州 2小时40分；经南京 4小时10分'),
      failedCall('c3', 'fetchUrl', { url: 'https://rail.example/price' }, 'timeout')
    ],
    report: '经杭州约2小时40分，经南京约4小时10分。票价页面没能打开，请购票前再核对。',
    judgement: judged('done', [], ['The prices could not be checked.']),
    expect: completes()
  },
  {
    name: 'folder made, then the write works',
    language: 'Italian',
    goal: 'Salva gli appunti in corso/lezione3.md.',
    calls: [
      failedCall('c1', 'writeFile', { path: 'corso/lezione3.md', content: '# Lezione 3' }, 'ENOENT: no such directory'),
      ran('c2', 'mkdir corso', 0),
      wrote('c3', 'corso/lezione3.md', '# Lezione 3')
    ],
    report: 'Ho creato la cartella corso e salvato gli appunti in corso/lezione3.md.',
    judgement: judged('done', [
      claim('file', 'Cartella creata', 'corso', 'c2'),
      claim('file', 'Appunti salvati', 'corso/lezione3.md', 'c3')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'judge points at the refused attempt',
    language: 'Japanese',
    goal: '日記を diary.md に追記してください。',
    calls: [
      deniedCall('c1', 'editFile', { path: 'diary.md', find: '21日', replace: '21日 晴れ\n22日 雨' }),
      edited('c2', 'diary.md', '21日', '21日\n22日 雨')
    ],
    report: '最初の変更は許可されませんでしたが、指示どおりに直して diary.md に22日の分を追記しました。',
    judgement: judged('done', [claim('file', '日記に追記した', 'diary.md', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'written, then filed by the tool',
    language: 'English',
    goal: 'Draft the invoice and file it under invoices/2026.',
    calls: [wrote('c1', 'tmp/invoice.md', 'Invoice 118'), moved('c2', 'tmp/invoice.md', 'invoices/2026/118.md', 'Invoice 118')],
    report: 'I drafted tmp/invoice.md and filed it as invoices/2026/118.md.',
    judgement: judged('done', [
      claim('file', 'Drafted the invoice', 'tmp/invoice.md', 'c1'),
      claim('file', 'Filed it', 'invoices/2026/118.md', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'written, then packed by a command',
    language: 'Portuguese',
    goal: 'Escreva a ata e guarde-a compactada.',
    calls: [wrote('c1', 'ata.md', '# Ata'), ran('c2', 'gzip ata.md', 0)],
    atEnd: { 'ata.md': null, 'ata.md.gz': 'gzip' },
    report: 'Escrevi ata.md e compactei-a em ata.md.gz.',
    judgement: judged('done', [claim('file', 'ata.md escrita', 'ata.md', 'c1'), claim('file', 'ata.md.gz criada', 'ata.md.gz', 'c2')]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'helper script removed after use',
    language: 'Russian',
    goal: 'Посчитай строки во всех файлах, временные файлы не оставляй.',
    calls: [wrote('c1', 'count.sh', 'wc -l *'), ran('c2', 'sh count.sh', 0, '812 total'), deleted('c3', 'count.sh', 'wc -l *')],
    report: 'Всего 812 строк. Я создал скрипт count.sh, запустил его и затем удалил.',
    judgement: judged('done', [
      claim('file', 'Создан count.sh', 'count.sh', 'c1'),
      claim('command', 'Скрипт запущен', 'sh count.sh', 'c2'),
      claim('deletion', 'count.sh удалён', 'count.sh', 'c3')
    ]),
    expect: completes('confirmed', 'confirmed', 'confirmed')
  },
  {
    name: 'call gave the whole path',
    language: 'German',
    goal: 'Speichere das Protokoll als protokoll.txt.',
    calls: [wrote('c1', `${workspace}/protokoll.txt`, 'TOP 1')],
    report: 'Das Protokoll liegt in ./protokoll.txt.',
    judgement: judged('done', [claim('file', 'Protokoll gespeichert', './protokoll.txt', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'after a crash the folder shows the work was done',
    language: 'Turkish',
    goal: 'Yedeği yedek/22-kasim.db olarak bir kez yaz.',
    calls: [
      unknownCall('c1', 'writeFile', { path: 'yedek/22-kasim.db', content: 'SQLite' }),
      call('c2', 'listDirectory', { path: 'yedek' }, ['21-kasim.db', '22-kasim.db'])
    ],
    atEnd: { 'yedek/22-kasim.db': 'SQLite' },
    report: 'Çalışma kesilmişti; yedek/22-kasim.db zaten yerinde olduğu için yeniden yazmadım.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'an interrupted post is not repeated',
    language: 'French',
    goal: 'Publie l’annonce sur #quartier.',
    calls: [unknownCall('c1', 'slack_post', { channel: '#quartier', text: 'Fête samedi' })],
    report: 'La publication a été interrompue et je ne sais pas si elle est passée. Je ne l’ai pas refaite ; vérifiez sur #quartier.',
    judgement: judged('partly', [], ['It is not known whether the post went out.']),
    expect: completes()
  },
  {
    name: 'claim with an id of its own making',
    language: 'Chinese',
    goal: '把购物清单写到 清单.md。',
    calls: [wrote('c1', '清单.md', '- 米\n- 茶')],
    report: '清单已写入 清单.md。',
    judgement: judged('done', [claim('file', '写入清单', '清单.md', 'call_0')]),
    expect: completes('confirmed')
  },
  {
    name: 'claim without a target',
    language: 'Spanish',
    goal: 'Corrige el título de index.html.',
    calls: [edited('c1', 'web/index.html', '<title>Inicio</title>', '<title>Panadería Sol</title>')],
    report: 'He corregido el título de la página.',
    judgement: judged('done', [claim('file', 'Título corregido', undefined, 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'half done and said so',
    language: 'Italian',
    goal: 'Rinomina logo.png e carica il sito.',
    calls: [
      moved('c1', 'logo.png', 'logo-2026.png', 'PNG'),
      failedCall('c2', 'runCommand', { command: 'rsync -a . web:/srv' }, 'spawn rsync ENOENT')
    ],
    report: 'Ho rinominato logo.png in logo-2026.png. Il sito non è stato caricato: rsync non è installato.',
    judgement: judged('partly', [claim('file', 'logo rinominato', 'logo-2026.png', 'c1')], ['The site was not uploaded.']),
    expect: completes('confirmed')
  },
  {
    name: 'several effects, ids in the wrong order',
    language: 'Japanese',
    goal: 'one.txt と two.txt を作り、zero.txt を削除してください。',
    calls: [wrote('c1', 'one.txt', '一'), wrote('c2', 'two.txt', '二'), deleted('c3', 'zero.txt', '零')],
    report: 'one.txt と two.txt を作成し、zero.txt を削除しました。',
    judgement: likes(
      claim('file', 'one.txt を作成', 'one.txt', 'c3'),
      claim('file', 'two.txt を作成', 'two.txt', 'c1'),
      claim('deletion', 'zero.txt を削除', 'zero.txt', 'c2')
    ),
    expect: completes('confirmed', 'confirmed', 'confirmed')
  },
  {
    name: 'a rewrite without a change, told as none',
    language: 'English',
    goal: 'Keep hosts.txt in line with inventory.json.',
    calls: [
      call('c1', 'readFile', { path: 'inventory.json' }, '["alpha","beta"]'),
      wrote('c2', 'hosts.txt', 'alpha\nbeta\n', 'alpha\nbeta\n')
    ],
    report: 'hosts.txt already matched the inventory; nothing changed.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'rename named by its old path',
    language: 'German',
    goal: 'Benenne IMG_2231.jpg in hochzeit.jpg um.',
    calls: [moved('c1', 'IMG_2231.jpg', 'hochzeit.jpg', 'JFIF')],
    report: 'Ich habe IMG_2231.jpg umbenannt.',
    judgement: judged('done', [claim('file', 'IMG_2231.jpg umbenannt', 'IMG_2231.jpg', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'a converter made the file',
    language: 'Turkish',
    goal: 'sunum.md dosyasını PDF yap.',
    calls: [ran('c1', 'pandoc sunum.md -o sunum.pdf', 0, '', '', 4800)],
    atEnd: { 'sunum.pdf': '%PDF-1.7' },
    report: 'sunum.pdf oluşturuldu.',
    judgement: judged('done', [claim('file', 'sunum.pdf oluşturuldu', 'sunum.pdf', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'a thing kept in mind',
    language: 'Portuguese',
    goal: 'Leia as regras do condomínio e leve-as em conta daqui em diante.',
    calls: [call('c1', 'readFile', { path: 'regras.txt' }, 'Silêncio a partir das 22h')],
    report: 'Li as regras e vou ter em conta o silêncio a partir das 22h.',
    judgement: judged('done', [claim('other', 'Regras tidas em conta', undefined, null)]),
    expect: completes('unchecked')
  }
]
