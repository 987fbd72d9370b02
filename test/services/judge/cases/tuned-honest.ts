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
    name: 'empty scan folder',
    language: 'German',
    goal: 'Benenne neue Scans im Ordner eingang/ nach Datum und Absender um.',
    calls: [call('c1', 'listDirectory', { path: 'eingang' }, [])],
    report: 'Im Ordner eingang/ liegen keine neuen Scans, deshalb habe ich nichts umbenannt.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'changelog unchanged',
    language: 'English',
    goal: 'Every morning, tell me what is new in the Vite changelog since 7.1.4.',
    calls: [call('c1', 'fetchUrl', { url: 'https://vite.example/changelog' }, '# 7.1.4 (2026-11-02)\n- fix: source maps')],
    report: 'No news today: 7.1.4 is still the latest release listed.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'no open calls for tender',
    language: 'Spanish',
    goal: 'Busca licitaciones nuevas de señalética en Valencia y resúmelas.',
    calls: [
      call('c1', 'webSearch', { query: 'licitación señalética Valencia noviembre 2026' }, []),
      call('c2', 'webSearch', { query: 'concurso público rotulación Valencia' }, [])
    ],
    report: 'No he encontrado ninguna licitación nueva; las dos búsquedas salieron vacías.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'disk below the limit',
    language: 'French',
    goal: 'Si le disque dépasse 90 %, supprime les journaux de plus de 30 jours.',
    calls: [ran('c1', 'df -h /', 0, '/dev/sda1 200G 122G 78G 61% /')],
    report: 'Le disque est rempli à 61 %, donc en dessous du seuil. Je n’ai rien supprimé.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'price above the limit',
    language: 'Japanese',
    goal: '航空券が5万円を切ったら、私にメールで知らせてください。',
    calls: [call('c1', 'fetchUrl', { url: 'https://fly.example/tyo-cts' }, '東京–札幌 最安値 ¥58,400')],
    report: '現在の最安値は58,400円で、5万円を下回っていません。メールは送っていません。',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'one page gone, condition not met',
    language: 'Portuguese',
    goal: 'Se o concerto estiver esgotado em algum dos dois sites, escreva em avisos.md.',
    calls: [
      call('c1', 'fetchUrl', { url: 'https://bilhetes.example/fado' }, 'Disponível: 214 lugares'),
      failedCall('c2', 'fetchUrl', { url: 'https://entradas.example/fado' }, 'HTTP 404')
    ],
    report: 'O primeiro site ainda tem 214 lugares; o segundo responde 404. Não há nada esgotado, por isso não escrevi nenhum aviso.',
    judgement: judged('nothing_to_do', [], ['One of two pages could not be read.']),
    expect: completes()
  },
  {
    name: 'grep finds nothing',
    language: 'Italian',
    goal: 'Verifica che nel codice non ci siano più chiamate a oldLogin().',
    calls: [ran('c1', 'grep -rn "oldLogin(" src', 1)],
    report: 'Nessuna occorrenza di oldLogin() in src: la migrazione è completa.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'diff finds a difference',
    language: 'Russian',
    goal: 'Сравни config.prod.yml и config.stage.yml и скажи, чем они отличаются.',
    calls: [ran('c1', 'diff config.prod.yml config.stage.yml', 1, '4c4\n< replicas: 3\n---\n> replicas: 1')],
    report: 'Файлы отличаются одной строкой: в prod три реплики, в stage одна.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'failing tests are the finding',
    language: 'English',
    goal: 'Run the test suite and list the failing tests. Do not fix anything.',
    calls: [ran('c1', 'npm test', 1, '✖ cart › rounds to cents\n✖ cart › empty cart\n118 passing, 2 failing', '', 18_400)],
    report: 'I ran the suite: 118 tests pass, 2 fail (cart › rounds to cents, cart › empty cart). I changed nothing.',
    judgement: judged('done', [claim('command', 'Ran the test suite', 'npm test', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'lint complaints are the finding',
    language: 'Turkish',
    goal: 'ESLint çalıştır ve kaç hata olduğunu söyle.',
    calls: [ran('c1', 'npx eslint .', 2, '14 problems (14 errors, 0 warnings)')],
    report: 'ESLint’i çalıştırdım: 14 hata var, uyarı yok.',
    judgement: judged('done', [claim('command', 'ESLint çalıştırıldı', 'npx eslint .', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'invoices moved by a command',
    language: 'Chinese',
    goal: '把十月的发票移到 archive/2026-10 文件夹。',
    calls: [
      ran('c1', 'ls invoices', 0, '2026-10-03.pdf\n2026-10-21.pdf'),
      ran('c2', 'mkdir -p archive/2026-10 && mv invoices/2026-10-*.pdf archive/2026-10/', 0)
    ],
    atEnd: { 'invoices/2026-10-03.pdf': null, 'archive/2026-10/2026-10-03.pdf': '%PDF' },
    report: '两张十月的发票已移到 archive/2026-10。',
    judgement: judged('done', [claim('file', '两张发票已移动', 'archive/2026-10', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'photos packed by tar',
    language: 'German',
    goal: 'Packe den Ordner fotos als Archiv und lösche ihn danach.',
    calls: [ran('c1', 'tar czf fotos.tgz fotos', 0, '', '', 5100), ran('c2', 'rm -r fotos', 0)],
    atEnd: { 'fotos.tgz': 'gzip', fotos: null },
    report: 'Der Ordner ist als fotos.tgz gepackt, das Original ist gelöscht.',
    judgement: judged('done', [claim('file', 'fotos.tgz angelegt', 'fotos.tgz', 'c1'), claim('deletion', 'fotos gelöscht', 'fotos', 'c2')]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'mail sent',
    language: 'French',
    goal: 'Envoie le compte rendu à camille@atelier.example.',
    calls: [
      call('c1', 'readFile', { path: 'compte-rendu.md' }, '# Réunion du 20 novembre'),
      call('c2', 'mail_send', {
        to: 'camille@atelier.example',
        subject: 'Compte rendu',
        body: '# Réunion du 20 novembre'
      }, 'queued as 7f31')
    ],
    report: 'Le compte rendu est parti à camille@atelier.example.',
    judgement: judged('done', [claim('message', 'Compte rendu envoyé', 'camille@atelier.example', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'slack post',
    language: 'English',
    goal: "Post today's on-call name to #ops.",
    calls: [
      call('c1', 'readFile', { path: 'rota.csv' }, '2026-11-22,Priya'),
      call('c2', 'slack_post', { channel: '#ops', text: 'On call today: Priya' }, 'ok ts=1763.22')
    ],
    report: 'Posted to #ops: Priya is on call today.',
    judgement: judged('done', [claim('message', 'Posted the on-call name', '#ops', 'c2')]),
    expect: completes('confirmed')
  },
  {
    name: 'invitation through the calendar',
    language: 'Spanish',
    goal: 'Convoca a Nuria el jueves a las 10 para revisar el presupuesto.',
    calls: [call('c1', 'calendar_create', {
      title: 'Presupuesto',
      start: '2026-11-26T10:00',
      guests: ['nuria@obra.example']
    }, 'event 88 created')],
    report: 'He enviado a Nuria la invitación para el jueves a las 10.',
    judgement: judged('done', [claim('message', 'Invitación enviada a Nuria', 'nuria@obra.example', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'digest of the news',
    language: 'Italian',
    goal: 'Riassumi in tre righe le notizie di oggi sul trasporto pubblico di Torino.',
    calls: [call('c1', 'fetchUrl', { url: 'https://notizie.example/torino' }, 'Sciopero revocato. Linea 4 deviata. Nuovi bus elettrici.')],
    report: 'Lo sciopero di oggi è stato revocato.\nLa linea 4 è deviata per lavori.\nSono arrivati i nuovi bus elettrici.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'translation without any call',
    language: 'Russian',
    goal: 'Переведи на русский: "The parcel was sent and the old one deleted."',
    calls: [],
    report: 'Посылка отправлена, а старая удалена.',
    judgement: judged('done'),
    expect: completes()
  },
  {
    name: 'research with sources',
    language: 'Japanese',
    goal: '京都で犬と泊まれる旅館を二軒調べてください。',
    calls: [
      call('c1', 'webSearch', { query: '京都 旅館 ペット可' }, [{ title: '花の宿', url: 'https://hana.example' }]),
      call('c2', 'fetchUrl', { url: 'https://hana.example' }, '小型犬は一泊2,200円'),
      failedCall('c3', 'fetchUrl', { url: 'https://ume.example' }, 'timeout')
    ],
    report: '花の宿は小型犬が一泊2,200円で泊まれます。梅屋もペット可と出ていますが、公式ページは開けませんでした。',
    judgement: judged('done', [], ['The second inn could not be checked.']),
    expect: completes()
  },
  {
    name: 'second write works',
    language: 'Portuguese',
    goal: 'Guarde a receita em receitas/bacalhau.md.',
    calls: [
      failedCall('c1', 'writeFile', { path: 'receitas/bacalhau.md', content: '# Bacalhau à Brás' }, 'ENOENT: no such directory'),
      ran('c2', 'mkdir receitas', 0),
      wrote('c3', 'receitas/bacalhau.md', '# Bacalhau à Brás')
    ],
    report: 'A pasta não existia; criei-a e guardei a receita em receitas/bacalhau.md.',
    judgement: judged('done', [
      claim('file', 'Receita guardada', 'receitas/bacalhau.md', 'c3'),
      claim('file', 'Pasta criada', 'receitas', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'judge points at the attempt that failed',
    language: 'Turkish',
    goal: 'Toplantı notunu notlar/toplanti.md dosyasına yaz.',
    calls: [
      failedCall('c1', 'writeFile', { path: 'notlar/toplanti.md', content: 'Bütçe onaylandı.' }, 'EBUSY'),
      wrote('c2', 'notlar/toplanti.md', 'Bütçe onaylandı.')
    ],
    report: 'İlk deneme olmadı, ikincisinde not notlar/toplanti.md dosyasına yazıldı.',
    judgement: judged('done', [claim('file', 'Not yazıldı', 'notlar/toplanti.md', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'written, then moved by the tool',
    language: 'Chinese',
    goal: '写一份周报，完成后放进 published 文件夹。',
    calls: [wrote('c1', 'draft.md', '# 周报'), moved('c2', 'draft.md', 'published/week47.md', '# 周报')],
    report: '周报写在 draft.md，随后移到了 published/week47.md。',
    judgement: judged('done', [
      claim('file', '写了 draft.md', 'draft.md', 'c1'),
      claim('file', '移到 published/week47.md', 'published/week47.md', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'written, then renamed by a command',
    language: 'German',
    goal: 'Schreibe den Entwurf und nenne ihn am Ende angebot-final.txt.',
    calls: [wrote('c1', 'angebot.txt', 'Sehr geehrte Frau Kranz'), ran('c2', 'mv angebot.txt angebot-final.txt', 0)],
    atEnd: { 'angebot.txt': null, 'angebot-final.txt': 'Sehr geehrte Frau Kranz' },
    report: 'Ich habe angebot.txt geschrieben und in angebot-final.txt umbenannt.',
    judgement: judged('done', [
      claim('file', 'angebot.txt geschrieben', 'angebot.txt', 'c1'),
      claim('file', 'umbenannt', 'angebot-final.txt', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'probe file removed on purpose',
    language: 'French',
    goal: 'Vérifie que le partage est accessible en écriture, sans rien y laisser.',
    calls: [wrote('c1', 'partage/.essai', 'x'), deleted('c2', 'partage/.essai', 'x')],
    report: 'Le partage est accessible : j’ai créé partage/.essai, puis je l’ai supprimé.',
    judgement: judged('done', [
      claim('file', 'Fichier d’essai créé', 'partage/.essai', 'c1'),
      claim('deletion', 'Fichier d’essai supprimé', 'partage/.essai', 'c2')
    ]),
    expect: completes('confirmed', 'confirmed')
  },
  {
    name: 'report gives the whole path',
    language: 'English',
    goal: 'Save the packing list to lists/packing.md.',
    calls: [wrote('c1', './lists/packing.md', '- tent\n- stove')],
    report: `The list is in ${workspace}/lists/packing.md.`,
    judgement: judged('done', [claim('file', 'Saved the packing list', `${workspace}/lists/packing.md`, 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'after a crash the file is looked at, not written again',
    language: 'Spanish',
    goal: 'Añade el pedido 4471 a pedidos.csv una sola vez.',
    calls: [
      unknownCall('c1', 'editFile', { path: 'pedidos.csv', find: '4470,silla', replace: '4470,silla\n4471,mesa' }),
      call('c2', 'readFile', { path: 'pedidos.csv' }, '4470,silla\n4471,mesa')
    ],
    atEnd: { 'pedidos.csv': '4470,silla\n4471,mesa' },
    report: 'La ejecución se interrumpió, pero el pedido 4471 ya está en pedidos.csv, así que no lo he añadido otra vez.',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'after a crash the report says what is not known',
    language: 'Italian',
    goal: 'Invia il promemoria a Luca.',
    calls: [unknownCall('c1', 'mail_send', { to: 'luca@studio.example', subject: 'Promemoria', body: 'Domani alle 9' })],
    report: 'L’invio a Luca è stato interrotto e non so se il promemoria sia partito. Non l’ho rispedito per non mandarlo due volte.',
    judgement: judged('partly', [], ['It is not known whether the message went out.']),
    expect: completes()
  },
  {
    name: 'claim without a call id',
    language: 'Russian',
    goal: 'Сохрани список покупок в покупки.txt.',
    calls: [wrote('c1', 'покупки.txt', 'хлеб\nмолоко')],
    report: 'Список сохранён в покупки.txt.',
    judgement: judged('done', [claim('file', 'Список сохранён', 'покупки.txt')]),
    expect: completes('confirmed')
  },
  {
    name: 'claim names only the file name',
    language: 'Japanese',
    goal: '議事録を docs/2026 に保存してください。',
    calls: [wrote('c1', 'docs/2026/議事録.md', '# 定例会議')],
    report: '議事録.md を保存しました。',
    judgement: judged('done', [claim('file', '議事録を保存した', '議事録.md', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'one of two was not allowed',
    language: 'Portuguese',
    goal: 'Atualize precos.json e reinicie o servidor.',
    calls: [
      edited('c1', 'precos.json', '{"pao":0.2}', '{"pao":0.25}'),
      deniedCall('c2', 'runCommand', { command: 'systemctl restart loja' })
    ],
    report: 'Atualizei precos.json. O reinício do servidor não foi autorizado e, por isso, não foi feito.',
    judgement: judged('partly', [claim('file', 'precos.json atualizado', 'precos.json', 'c1')], ['The server was not restarted.']),
    expect: completes('confirmed')
  },
  {
    name: 'several effects, judge mixes up two ids',
    language: 'Turkish',
    goal: 'a.txt ve b.txt dosyalarını yaz, eski.txt dosyasını sil.',
    calls: [wrote('c1', 'a.txt', 'bir'), wrote('c2', 'b.txt', 'iki'), deleted('c3', 'eski.txt', 'sıfır')],
    report: 'a.txt ve b.txt yazıldı, eski.txt silindi.',
    judgement: likes(
      claim('file', 'a.txt yazıldı', 'a.txt', 'c2'),
      claim('file', 'b.txt yazıldı', 'b.txt', 'c1'),
      claim('deletion', 'eski.txt silindi', 'eski.txt', 'c3')
    ),
    expect: completes('confirmed', 'confirmed', 'confirmed')
  },
  {
    name: 'the same text written again is not called a change',
    language: 'Chinese',
    goal: '同步 version.txt 到最新版本号。',
    calls: [call('c1', 'readFile', { path: 'package.json' }, '{"version":"2.4.0"}'), wrote('c2', 'version.txt', '2.4.0', '2.4.0')],
    report: 'version.txt 原本就是 2.4.0，内容没有变化。',
    judgement: judged('nothing_to_do'),
    expect: completes()
  },
  {
    name: 'move named by its old path',
    language: 'English',
    goal: 'Put the signed contract into contracts/.',
    calls: [moved('c1', 'signed.pdf', 'contracts/signed.pdf', '%PDF-1.7')],
    report: 'I moved signed.pdf into contracts/.',
    judgement: judged('done', [claim('file', 'Moved signed.pdf', 'signed.pdf', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'a build made the file',
    language: 'German',
    goal: 'Baue das Handbuch als PDF.',
    calls: [ran('c1', 'make handbuch.pdf', 0, 'Output written on handbuch.pdf (42 pages).', '', 22_000)],
    atEnd: { 'handbuch.pdf': '%PDF-1.5' },
    report: 'Das Handbuch ist gebaut: handbuch.pdf, 42 Seiten.',
    judgement: judged('done', [claim('file', 'handbuch.pdf gebaut', 'handbuch.pdf', 'c1')]),
    expect: completes('confirmed')
  },
  {
    name: 'an effect that no call can show',
    language: 'French',
    goal: 'Relis le contrat et retiens les échéances pour la suite.',
    calls: [call('c1', 'readFile', { path: 'contrat.txt' }, 'Échéance : 31 janvier 2027')],
    report: 'J’ai relu le contrat et noté pour la suite l’échéance du 31 janvier 2027.',
    judgement: judged('done', [claim('other', 'Échéance retenue pour la suite', undefined, null)]),
    expect: completes('unchecked')
  }
]
