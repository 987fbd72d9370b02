// The half whose texts nobody tunes with.
import type { Dialogue, SpokenLanguage } from './spoken.ts'

export const spokenUnread: SpokenLanguage[] = [
  {
    language: 'English',
    statements: [
      {
        says: 'I cannot eat anything with soy in it.',
        topics: ['food', 'meal', 'lunch', 'recipe', 'restaurant'],
        ask: 'Suggest a quick lunch.',
        isHealth: true
      },
      {
        says: 'We have a wooden boat moored in Falmouth.',
        topics: ['sailing', 'boat', 'hobby', 'sea'],
        ask: 'Which varnish is best for boats?'
      },
      {
        says: "I'm studying for the bar exam in July.",
        topics: ['law', 'study', 'exam', 'education'],
        ask: 'Make me a study timetable.'
      }
    ],
    junk: ['The bus was late again this morning.', 'My uncle says crypto will double.'],
    unrelated: 'Convert 12 inches to centimetres.'
  },
  {
    language: 'German',
    statements: [
      {
        says: 'Ich nehme Blutverdünner.',
        topics: ['Gesundheit', 'Medikamente', 'Schmerzen', 'Tablette', 'health'],
        ask: 'Welche Tablette hilft gegen Kopfweh?',
        isHealth: true
      },
      {
        says: 'Meine Tochter Frieda ist sieben.',
        topics: ['Familie', 'Kind', 'Geschenk', 'family'],
        ask: 'Ich suche ein Geschenk für ein Kind.'
      },
      {
        says: 'Wir haben einen Schrebergarten in Halle.',
        topics: ['Garten', 'Pflanzen', 'Gemüse', 'garden'],
        ask: 'Wann pflanzt man Tomaten im Garten?'
      }
    ],
    junk: ['Ich muss gleich zum Zug.', 'Meine Nachbarin hat ein neues Auto.'],
    unrelated: 'Was ist die Hauptstadt von Peru?'
  },
  {
    language: 'French',
    statements: [
      {
        says: 'Je ne mange pas de porc.',
        topics: ['repas', 'cuisine', 'viande', 'restaurant', 'food'],
        ask: 'Quel restaurant pour un repas en famille ?'
      },
      {
        says: "Je suis asthmatique depuis l'enfance.",
        topics: ['santé', 'sport', 'respiration', 'health'],
        ask: 'Prépare-moi un programme de sport.',
        isHealth: true
      },
      {
        says: 'Nous avons deux ruches au fond du jardin.',
        topics: ['abeilles', 'miel', 'jardin', 'bees'],
        ask: 'Quand récolter le miel ?'
      }
    ],
    junk: ['Je pars dans cinq minutes.', 'Mon frère préfère le train.'],
    unrelated: 'Quelle est la vitesse de la lumière ?'
  },
  {
    language: 'Spanish',
    statements: [
      {
        says: 'Estoy embarazada de cinco meses.',
        topics: ['salud', 'embarazo', 'comida', 'ejercicio', 'health'],
        ask: '¿Qué ejercicio me conviene por la mañana?',
        isHealth: true
      },
      {
        says: 'Mi hijo Mateo estudia en Valencia.',
        topics: ['familia', 'universidad', 'viaje', 'family'],
        ask: 'Busca un hotel en Valencia.'
      },
      {
        says: 'Toco la guitarra en una banda de jazz.',
        topics: ['música', 'concierto', 'guitarra', 'music'],
        ask: '¿Qué cuerdas de guitarra recomiendas?'
      }
    ],
    junk: ['Acabo de llegar a la oficina.', 'Mi jefe odia las reuniones.'],
    unrelated: 'Explica la fotosíntesis.'
  },
  {
    language: 'Russian',
    statements: [
      {
        says: 'Я не ем мясо уже десять лет.',
        topics: ['еда', 'обед', 'рецепт', 'ресторан', 'food'],
        ask: 'Посоветуй рецепт на выходные.'
      },
      {
        says: 'У меня астма.',
        topics: ['здоровье', 'спорт', 'дыхание', 'health'],
        ask: 'Каким спортом мне заняться?',
        isHealth: true
      },
      {
        says: 'Мой сын Лёва занимается шахматами.',
        topics: ['семья', 'шахматы', 'подарок', 'family'],
        ask: 'Какую книгу по шахматам купить?'
      }
    ],
    junk: ['Я сейчас в метро.', 'Моя соседка купила рояль.'],
    unrelated: 'Кто написал эту симфонию?'
  },
  {
    language: 'Arabic',
    statements: [
      {
        says: 'أنا مصاب بالسكري.',
        topics: ['صحة', 'طعام', 'حلويات', 'رياضة', 'health'],
        ask: 'أريد وصفة حلويات سهلة.',
        isHealth: true
      },
      { says: 'لدي ثلاثة أطفال.', topics: ['عائلة', 'أطفال', 'family'], ask: 'اقترح لعبة للأطفال في البيت.' },
      {
        says: 'أدرس الطب في جامعة الإسكندرية.',
        topics: ['دراسة', 'طب', 'جامعة', 'study'],
        ask: 'ساعدني في تنظيم وقت الدراسة.'
      }
    ],
    junk: ['سأخرج بعد قليل.', 'جاري اشترى سيارة جديدة.'],
    unrelated: 'ما هي أعلى قمة جبلية؟'
  },
  {
    language: 'Chinese',
    statements: [
      { says: '我有高血压。', topics: ['健康', '饮食', '运动', 'health'], ask: '我应该做什么运动？', isHealth: true },
      { says: '我父母住在哈尔滨。', topics: ['家人', '父母', '旅行', 'family'], ask: '哈尔滨冬天有什么好玩的？' },
      { says: '我正在学法语。', topics: ['语言', '学习', '法语', 'language'], ask: '怎样练习法语听力？' }
    ],
    junk: ['我马上要开会。', '我邻居买了新车。'],
    unrelated: '水的沸点是多少？'
  },
  {
    language: 'Japanese',
    statements: [
      {
        says: '私は小麦が食べられません。',
        topics: ['食事', 'パン', '料理', '昼食', 'food'],
        ask: '簡単な昼食を教えてください。',
        isHealth: true
      },
      { says: '京都の大学で歴史を研究しています。', topics: ['仕事', '研究', '歴史', 'work'], ask: '歴史の論文の題名を考えてください。' },
      { says: '娘は来年高校を卒業します。', topics: ['家族', '学校', '娘', 'family'], ask: '娘への贈り物は何がいいでしょうか。' }
    ],
    junk: ['今から出かけます。', '隣の人は犬が苦手です。'],
    unrelated: '富士山の高さを教えてください。'
  }
]

export const dialoguesUnread: Dialogue[] = [
  {
    language: 'Spanish',
    name: 'an answer to a question of the assistant',
    day: '2026-02-03',
    lines: [
      'Organiza una cena para seis.',
      { assistant: '¿Alguna alergia que deba tener en cuenta?' },
      'Sí, a las nueces.',
      { assistant: '¿A qué hora?' },
      'A las nueve.'
    ],
    points: [{ message: 1, span: 'Sí, a las nueces.', isHealth: true }],
    known: ['Sí, a las nueces.'],
    never: ['A las nueve'],
    junk: ['A las nueve.']
  },
  {
    language: 'English',
    name: 'a day by its distance',
    day: '2026-07-15',
    lines: [
      'I start my new job at the harbour office tomorrow.',
      { assistant: 'Congratulations.' },
      "I'm off to bed now."
    ],
    points: [{ message: 0, span: 'I start my new job at the harbour office tomorrow.', on: '2026-07-16' }],
    known: ['I start my new job at the harbour office tomorrow.'],
    never: ['off to bed'],
    junk: ["I'm off to bed now."]
  },
  {
    language: 'Chinese',
    name: 'a key among facts',
    day: '2026-08-08',
    lines: ['我的身份证号是110101199003077758。', { assistant: '请不要告诉我。' }, '我是会计。', '我现在有点饿。'],
    points: [{ message: 0, span: '我的身份证号是110101199003077758。' }, { message: 1, span: '我是会计。' }],
    known: ['我是会计。'],
    never: ['110101199003077758', '饿'],
    junk: ['我的身份证号是110101199003077758。', '我现在有点饿。']
  },
  {
    language: 'Arabic',
    name: 'an answer in one word',
    day: '2026-09-09',
    lines: [
      'أريد نصيحة.',
      { assistant: 'ما هي مهنتك؟' },
      'نجار.',
      { assistant: 'كم الساعة عندك الآن؟' },
      'الخامسة مساء.'
    ],
    points: [{ message: 1, span: 'نجار.' }],
    known: ['نجار.'],
    never: ['الخامسة'],
    junk: ['الخامسة مساء.']
  },
  {
    language: 'German',
    name: 'health that is plain, and of others',
    day: '2026-10-10',
    lines: [
      'Übermorgen bekomme ich einen Herzschrittmacher.',
      { assistant: 'Alles Gute.' },
      'Ich bin Epileptiker.',
      'Mein Onkel hat Gicht.'
    ],
    points: [
      { message: 0, span: 'Übermorgen bekomme ich einen Herzschrittmacher.', on: '2026-10-12', isHealth: true },
      { message: 1, span: 'Ich bin Epileptiker.', isHealth: true }
    ],
    known: ['Übermorgen bekomme ich einen Herzschrittmacher.', 'Ich bin Epileptiker.'],
    never: ['Onkel'],
    junk: ['Mein Onkel hat Gicht.']
  }
]
