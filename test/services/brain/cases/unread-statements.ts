// What is said of whom and how it is meant: denials, changes, jokes, the words of others, secrets.
import { fact, type MemoryCase } from './case-types.ts'

export const statements: MemoryCase[] = [
  // Negations
  {
    name: 'no car at all',
    language: 'English',
    messages: ['Should I take the motorway?', "No. I don't drive, so buses only please."],
    right: [fact(1, "I don't drive")],
    expect: { learned: ["I don't drive, so buses only please."], neverLearned: [] }
  },
  {
    name: 'non before the sentence',
    language: 'French',
    messages: ['Non, je ne mange pas de porc. Tu as une autre idée de rôti ?'],
    right: [fact(0, 'je ne mange pas de porc')],
    expect: { learned: ['Non, je ne mange pas de porc.'], neverLearned: [] }
  },
  {
    name: 'hayır before the denial',
    language: 'Turkish',
    messages: ['Hayır, kedim yok, köpeğim var. Veteriner önerir misin?'],
    right: [fact(0, 'köpeğim var')],
    expect: { learned: ['Hayır, kedim yok, köpeğim var.'], neverLearned: [] }
  },
  {
    name: 'never lived there',
    language: 'Russian',
    messages: ['Нет, я никогда не жил в Москве. Подскажи, как доехать до аэропорта.'],
    right: [fact(0, 'я никогда не жил в Москве')],
    expect: { learned: ['Нет, я никогда не жил в Москве.'], neverLearned: [] }
  },
  // Corrections, divorces, moves, work
  {
    name: 'a name put right',
    language: 'Spanish',
    known: [{ id: 'm2', fact: 'Me llamo Ana María.' }],
    messages: ['Corrijo: me llamo Anamaría, todo junto.'],
    right: [fact(0, 'me llamo Anamaría, todo junto', { replaces: ['m2'] })],
    expect: { learned: ['Corrijo: me llamo Anamaría, todo junto.'], replaced: ['m2'], neverLearned: [] }
  },
  {
    name: 'corrected one message later',
    language: 'Chinese',
    messages: ['帮我写一张结婚纪念卡，我们结婚七年了。', '说错了，我们结婚已经八年了，不是七年。'],
    right: [fact(1, '我们结婚已经八年了')],
    expect: { learned: ['说错了，我们结婚已经八年了，不是七年。'], neverLearned: [] }
  },
  {
    name: 'separated since spring',
    language: 'Portuguese',
    known: [{ id: 'm1', fact: 'Sou casada com o Rui.' }, { id: 'm9', fact: 'Moro em Braga.' }],
    messages: ['Preciso de rever o seguro. O Rui e eu divorciámo-nos na primavera.'],
    right: [fact(0, 'O Rui e eu divorciámo-nos na primavera.', { replaces: ['m1'] })],
    expect: { learned: ['O Rui e eu divorciámo-nos na primavera.'], replaced: ['m1'], neverLearned: [] }
  },
  {
    name: 'moved to the sea',
    language: 'Japanese',
    known: [{ id: 'm3', fact: '名古屋に住んでいます。' }],
    messages: ['先月、名古屋から鎌倉に引っ越しました。近くの病院を探してください。'],
    right: [fact(0, '鎌倉に引っ越しました', { replaces: ['m3'] })],
    expect: { learned: ['先月、名古屋から鎌倉に引っ越しました。'], replaced: ['m3'], neverLearned: [] }
  },
  {
    name: 'from the ward to teaching',
    language: 'German',
    known: [{ id: 'm4', fact: 'Ich arbeite als Krankenpfleger.' }],
    messages: ['Ich habe die Pflege aufgegeben und unterrichte seit August an einer Berufsschule.'],
    right: [fact(0, 'unterrichte seit August an einer Berufsschule', { replaces: ['m4'] })],
    expect: {
      learned: ['Ich habe die Pflege aufgegeben und unterrichte seit August an einer Berufsschule.'],
      replaced: ['m4'],
      neverLearned: []
    }
  },
  {
    name: 'retired',
    language: 'English',
    known: [{ id: 'm5', fact: 'I teach physics at a high school.' }],
    messages: ['I retired from teaching last summer. Help me plan a long cycling trip.'],
    right: [fact(0, 'I retired from teaching last summer.', { replaces: ['m5'] })],
    expect: { learned: ['I retired from teaching last summer.'], replaced: ['m5'], neverLearned: [] }
  },
  // Jokes, irony, role play, suppositions, questions
  {
    name: 'a joke about coffee',
    language: 'Italian',
    messages: ['Ormai nelle vene ho solo caffè, sono un espresso con le gambe 😂. Quanti ne posso bere al giorno?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'irony about meetings',
    language: 'English',
    messages: ["Oh sure, I absolutely adore three-hour status meetings. Draft an excuse for tomorrow's."],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'role play of a king',
    language: 'Spanish',
    messages: ['Juguemos a rol: soy el rey de Numenia y tengo siete hijas. Tú eres mi consejera.'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'practice with a doctor',
    language: 'Turkish',
    messages: ['Doktor rolü yap. Ben elli yaşında, sigara içen bir hastayım ve öksürüyorum.'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'if I had a garden',
    language: 'German',
    messages: ['Wenn ich einen Garten hätte, würde ich Quitten pflanzen. Geht das auch im Kübel?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'suppose I earn more',
    language: 'Chinese',
    messages: ['假如我月薪五万，每个月要交多少税？'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'asks about being too old',
    language: 'Portuguese',
    messages: ['Será que sou velha demais para aprender piano?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a question with a guess in it',
    language: 'Japanese',
    messages: ['私って朝型の人間だと思いますか？'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  // What others wrote
  {
    name: 'a mail in quoted lines',
    language: 'English',
    messages: ["Please reply that Thursday works.\n\n> Hi, I'm Dana, the new landlord.\n> I live in Austin and I'm allergic to dogs."],
    right: [],
    expect: { learned: [], neverLearned: ["I'm Dana", 'I live in Austin', 'allergic to dogs'] }
  },
  {
    name: 'a config with a token, beside a sentence',
    language: 'German',
    messages: [
      'Ich betreue die Server eines Sportvereins. Warum startet das nicht?\n```yaml\ntoken: "t0k_8sHf2Qx9LmZr7VbN"\nowner: ' +
      '"Ich heiße Klaus"\n```'
    ],
    right: [fact(0, 'Ich betreue die Server eines Sportvereins.')],
    expect: {
      learned: [],
      proposed: ['Ich betreue die Server eines Sportvereins.'],
      neverLearned: ['t0k_8sHf2Qx9LmZr7VbN', 'Ich heiße Klaus']
    }
  },
  {
    name: 'what the teacher said',
    language: 'Russian',
    messages: ['Учительница сказала: «Я не люблю современную музыку». Как с ней поспорить вежливо?'],
    right: [],
    expect: { learned: [], neverLearned: ['Я не люблю современную музыку'] }
  },
  {
    name: 'a line to translate',
    language: 'Chinese',
    messages: ['请把“我每天早上游泳”翻译成法语。'],
    right: [],
    expect: { learned: [], neverLearned: ['我每天早上游泳'] }
  },
  {
    name: 'a long plan is proposed',
    language: 'French',
    messages: [
      'Aide-moi à préparer la fête de quartier. Je suis trésorière de l’association depuis 2019. Il faut réserver la place ' +
      'auprès de la mairie, ' +
      'trouver des tables et des bancs pour environ cent vingt personnes, prévenir les riverains de la rue des Tanneurs, commander ' +
      'du pain et des boissons, ' +
      'vérifier les branchements électriques près de la fontaine et prévoir un abri au cas où il pleuvrait. L’an dernier, la sono ' +
      'est tombée en panne vers vingt heures ' +
      'et les enfants se sont ennuyés, alors il faudrait aussi deux ou trois jeux simples qui ne coûtent presque rien. Le budget ' +
      'total est de neuf cents euros, ' +
      'et les bénévoles sont disponibles à partir de quatorze heures. Propose un calendrier par semaine, avec une liste courte des ' +
      'tâches pour chacun.'
    ],
    right: [fact(0, 'Je suis trésorière de l’association depuis 2019.')],
    expect: { learned: [], proposed: ['Je suis trésorière de l’association depuis 2019.'], neverLearned: [] }
  },
  // Secrets
  {
    name: 'a token in passing',
    language: 'French',
    messages: ['Mon jeton est ghp_4kTz9QwLx7Vb2NmR8sYc1HdJf6Pe0aUo, clone le dépôt. Je travaille à Lyon.'],
    right: [fact(0, 'Je travaille à Lyon.')],
    expect: { learned: ['Je travaille à Lyon.'], neverLearned: ['ghp_4kTz9QwLx7Vb2NmR8sYc1HdJf6Pe0aUo'] }
  },
  {
    name: 'a card for the hotel',
    language: 'English',
    messages: ['Book it with my card 5555 5555 5555 4444, the code is on file.'],
    right: [fact(0, 'my card 5555 5555 5555 4444', { sensitive: true })],
    expect: { learned: [], neverLearned: ['5555 5555 5555 4444'] }
  },
  {
    name: 'an IBAN for the rent',
    language: 'Italian',
    messages: ['Il mio IBAN è IT60 X054 2811 1010 0000 0123 456. Affitto un bilocale a Parma.'],
    right: [fact(0, 'Affitto un bilocale a Parma.')],
    expect: { learned: ['Affitto un bilocale a Parma.'], neverLearned: ['IT60 X054 2811 1010 0000 0123 456'] }
  },
  {
    name: 'a password for the mail',
    language: 'Spanish',
    messages: ['Mi contraseña es Girasol#2023, entra en mi correo y busca la factura.'],
    right: [fact(0, 'Mi contraseña es Girasol#2023', { sensitive: true })],
    expect: { learned: [], neverLearned: ['Girasol#2023'] }
  },
  {
    name: 'a password between two sentences',
    language: 'Japanese',
    messages: ['札幌で働いています。パスワードはYuki_8842!です。ログインして残高を見てください。'],
    right: [fact(0, '札幌で働いています。')],
    expect: { learned: ['札幌で働いています。'], neverLearned: ['Yuki_8842!'] }
  }
]
