// Written before anybody who wrote it had read the extraction, and measured once: nobody tunes with it.
import type { SpokenLanguage } from './spoken.ts'

export const spokenFresh: SpokenLanguage[] = [
  {
    language: 'English',
    statements: [
      {
        says: 'I have been a vegetarian since college.',
        topics: ['food', 'diet', 'vegetarian', 'meal', 'recipe'],
        ask: 'What could I cook on Sunday?'
      },
      {
        says: 'I am deaf in my left ear.',
        topics: ['hearing', 'ear', 'health', 'headphones'],
        ask: 'Which headphones are worth their price?',
        isHealth: true
      },
      { says: 'I teach chemistry at a secondary school in Leeds.', topics: ['job', 'school', 'teaching', 'chemistry'], ask: 'Draft a quiz.' }
    ],
    junk: [
      'The printer upstairs is out of toner again.',
      'My sister thinks I should move to Portugal.',
      "Let's pretend I'm the king of Norway for a minute.",
      'I am on hold with the bank right now.',
      'Could you keep this answer under three lines?',
      'The recovery phrase is otter lamp violin copper.'
    ],
    unrelated: 'What is the capital of Mongolia?'
  },
  {
    language: 'German',
    statements: [
      { says: 'Ich arbeite als Hebamme im Nachtdienst.', topics: ['Beruf', 'Arbeit', 'Schicht', 'job'], ask: 'Plane mir eine Woche mit Sport.' },
      {
        says: 'Ich vertrage keine Laktose.',
        topics: ['Essen', 'Laktose', 'Rezept', 'food'],
        ask: 'Was backe ich zum Geburtstag?',
        isHealth: true
      },
      { says: 'Unsere Katze heißt Minka und ist sechzehn.', topics: ['Katze', 'Haustier', 'pet'], ask: 'Welches Futter taugt etwas?' }
    ],
    junk: [
      'Hier gewittert es gerade ganz fürchterlich.',
      'Mein Chef meint, das Projekt sei im Herbst fertig.',
      'Ach, ich könnte heute im Bett bleiben.',
      'Meine IBAN ist DE89 3704 0044 0532 0130 00.',
      'Danke, das war genau richtig!',
      'Angenommen, ich wäre Vegetarier: was äße ich dann?'
    ],
    unrelated: 'Wie hoch ist der Brocken?'
  },
  {
    language: 'French',
    statements: [
      { says: "J'habite à Nantes depuis dix ans.", topics: ['ville', 'Nantes', 'logement', 'city'], ask: 'Où aller ce week-end ?' },
      {
        says: 'Je suis épileptique depuis mon enfance.',
        topics: ['santé', 'épilepsie', 'health'],
        ask: 'Quel sport me conseilles-tu ?',
        isHealth: true
      },
      { says: 'Je joue du violoncelle dans un orchestre amateur.', topics: ['musique', 'violoncelle', 'music'], ask: 'Propose un cadeau.' }
    ],
    junk: [
      "J'ai raté mon train ce matin.",
      'Ma voisine est allergique aux chats.',
      'Réponds en vers, juste pour cette fois.',
      'Le code du portail est le 7731B.',
      "On dit que l'hiver sera rude.",
      'Bof, je ne sais pas trop.'
    ],
    unrelated: 'Combien font douze fois quatorze ?'
  },
  {
    language: 'Spanish',
    statements: [
      { says: 'Soy arquitecta y trabajo por mi cuenta.', topics: ['trabajo', 'arquitectura', 'job'], ask: 'Redacta una factura.' },
      { says: 'Tengo asma desde niño.', topics: ['salud', 'asma', 'health'], ask: '¿Qué deporte me va bien?', isHealth: true },
      { says: 'Tengo dos hijas gemelas de cuatro años.', topics: ['familia', 'hijas', 'family'], ask: '¿Qué hacemos el sábado?' }
    ],
    junk: [
      'Se me acaba la batería del móvil.',
      'Mi cuñado quiere vender su moto.',
      'Imagina que soy astronauta y vivo en Marte.',
      'El PIN de la tarjeta es 4417.',
      'Esta película me está aburriendo muchísimo.',
      'Hazlo otra vez, pero más corto.'
    ],
    unrelated: '¿Cuántos metros tiene una milla?'
  },
  {
    language: 'Russian',
    statements: [
      { says: 'Я живу в Казани с 2015 года.', topics: ['город', 'Казань', 'city'], ask: 'Куда сходить в выходные?' },
      { says: 'У меня аллергия на пенициллин.', topics: ['здоровье', 'аллергия', 'health'], ask: 'Чем лечить простуду?', isHealth: true },
      { says: 'Я преподаю физику в лицее.', topics: ['работа', 'школа', 'физика', 'job'], ask: 'Составь контрольную.' }
    ],
    junk: [
      'У меня сейчас закипит чайник.',
      'Брат говорит, что биткоин скоро рухнет.',
      'Представь, что я пират восемнадцатого века.',
      'Пароль от вайфая: dacha-2019-leto.',
      'Сегодня я ужасно не выспался.',
      'Ладно, забудь, это была шутка.',
      'У коллеги завтра свадьба.'
    ],
    unrelated: 'Сколько граммов в фунте?'
  },
  {
    language: 'Arabic',
    statements: [
      { says: 'أعمل ممرضة في مستشفى بعمّان.', topics: ['عمل', 'مستشفى', 'job'], ask: 'رتّبي لي جدول الأسبوع.' },
      { says: 'عندي حساسية من الفول السوداني.', topics: ['طعام', 'حساسية', 'food'], ask: 'اقترح حلوى سريعة.', isHealth: true },
      { says: 'أدرس اللغة التركية منذ سنتين.', topics: ['لغة', 'تركية', 'language'], ask: 'ما الكتاب المناسب لي؟' }
    ],
    junk: [
      'الجو حار جدا اليوم.',
      'ابن عمي يفكر في السفر إلى كندا.',
      'تخيل أنني ملك ليوم واحد.',
      'رقم بطاقتي 4111 1111 1111 1111.',
      'اكتب الجواب بالإنجليزية هذه المرة فقط.',
      'شكرا، هذا يكفي الآن.'
    ],
    unrelated: 'كم عدد أيام السنة الكبيسة؟'
  },
  {
    language: 'Chinese',
    statements: [
      { says: '我在成都开了一家书店。', topics: ['工作', '书店', 'job'], ask: '帮我写一份促销文案。' },
      { says: '我有高血压，一直在吃药。', topics: ['健康', '高血压', 'health'], ask: '晚饭吃什么好？', isHealth: true },
      { says: '我女儿今年上小学一年级。', topics: ['家庭', '女儿', 'family'], ask: '周末带孩子去哪儿？' }
    ],
    junk: [
      '外面下大雨了。',
      '我同事说明年房价会跌。',
      '假设我是一名宇航员。',
      '我的银行卡密码是739201。',
      '等一下，我接个电话。',
      '这次请用表格回答。'
    ],
    unrelated: '珠穆朗玛峰有多高？'
  },
  {
    language: 'Japanese',
    statements: [
      { says: '私は札幌で歯科医をしています。', topics: ['仕事', '歯科医', 'job'], ask: 'お知らせの文面を書いてください。' },
      { says: '私は甲殻類アレルギーです。', topics: ['食事', 'アレルギー', 'food'], ask: '夕食の献立を考えて。', isHealth: true },
      { says: '毎朝五キロ走るのが習慣です。', topics: ['運動', 'ランニング', 'sport'], ask: '休日の予定を立てて。' }
    ],
    junk: [
      '今日はとても眠いです。',
      '友達が新しい店を開くらしいです。',
      'もし私が忍者だったらどうする？',
      '玄関の暗証番号は5520です。',
      '今回だけ関西弁で答えて。',
      'うーん、まだ決めていません。',
      '電車が遅れています。'
    ],
    unrelated: '富士山の高さは？'
  }
]
