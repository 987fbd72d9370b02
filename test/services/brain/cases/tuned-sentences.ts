// Wishes, bounds of sentences, retractions, further languages.
import { fact, instruction, preference, type MemoryCase } from './case-types.ts'

export const sentences: MemoryCase[] = [
  // Standing instructions and preferences
  {
    name: 'always metric units',
    language: 'English',
    messages: ['Always answer in metric units. How far is Boston from New York?'],
    right: [instruction(0, 'Always answer in metric units.')],
    expect: { learned: [], proposed: ['Always answer in metric units.'], neverLearned: [] }
  },
  {
    name: 'always in short points',
    language: 'Italian',
    messages: ['D’ora in poi rispondimi sempre con elenchi brevi. Come si pulisce il rame?'],
    right: [instruction(0, 'D’ora in poi rispondimi sempre con elenchi brevi.')],
    expect: { learned: [], proposed: ['D’ora in poi rispondimi sempre con elenchi brevi.'], neverLearned: [] }
  },
  {
    name: 'answer in simplified Chinese',
    language: 'Chinese',
    messages: ['以后都用简体中文回答我。这篇英文文章讲了什么？'],
    right: [instruction(0, '以后都用简体中文回答我。')],
    expect: { learned: [], proposed: ['以后都用简体中文回答我。'], neverLearned: [] }
  },
  {
    name: 'favourite colour',
    language: 'English',
    messages: ['My favourite colour is teal, so make the slides match.'],
    right: [preference(0, 'My favourite colour is teal', 'favourite colour', 'teal')],
    expect: { learned: [], preferences: { 'favourite colour': 'teal' }, neverLearned: [] }
  },
  {
    name: 'preferred editor',
    language: 'Portuguese',
    messages: ['O meu editor preferido é o Helix. Como mudo o tema?'],
    right: [preference(0, 'O meu editor preferido é o Helix.', 'editor', 'Helix')],
    expect: { learned: [], preferences: { editor: 'Helix' }, neverLearned: [] }
  },
  {
    name: 'favourite drink',
    language: 'Japanese',
    messages: ['好きな飲み物はほうじ茶です。'],
    right: [preference(0, '好きな飲み物はほうじ茶です。', '好きな飲み物', 'ほうじ茶')],
    expect: { learned: [], preferences: { 好きな飲み物: 'ほうじ茶' }, neverLearned: [] }
  },
  {
    name: 'a value that is not said makes it a fact',
    language: 'Turkish',
    messages: ['Toplantıları öğleden önce yapmayı severim.'],
    right: [preference(0, 'Toplantıları öğleden önce yapmayı severim.', 'toplantı saati', 'sabah')],
    expect: { learned: ['Toplantıları öğleden önce yapmayı severim.'], preferences: {}, neverLearned: [] }
  },
  // Abbreviations
  {
    name: 'a title inside the sentence',
    language: 'German',
    messages: ['Mein Hausarzt ist Dr. Meier in Fulda. Wie erreiche ich ihn am Wochenende?'],
    right: [fact(0, 'Mein Hausarzt ist Dr. Meier')],
    expect: { learned: ['Mein Hausarzt ist Dr. Meier in Fulda.'], neverLearned: [] }
  },
  {
    name: 'for example inside the sentence',
    language: 'German',
    messages: ['Ich sammle alte Werkzeuge, z. B. Hobel und Zangen. Kennst du Märkte dafür?'],
    right: [fact(0, 'Ich sammle alte Werkzeuge')],
    expect: { learned: ['Ich sammle alte Werkzeuge, z. B. Hobel und Zangen.'], neverLearned: [] }
  },
  {
    name: 'a country with points',
    language: 'English',
    messages: ['I moved to the U.S. in 2015 and never looked back.'],
    right: [fact(0, 'in 2015')],
    expect: { learned: ['I moved to the U.S. in 2015 and never looked back.'], neverLearned: [] }
  },
  // No blanks between words
  {
    name: 'two sentences, one of them lasting',
    language: 'Japanese',
    messages: ['大阪で看護師をしています。明日の天気はどうですか。'],
    right: [fact(0, '大阪で看護師をしています')],
    expect: { learned: ['大阪で看護師をしています。'], neverLearned: [] }
  },
  {
    name: 'two facts in one breath',
    language: 'Chinese',
    messages: ['我在成都开面馆，有两个女儿。帮我写一份招聘启事！'],
    right: [fact(0, '有两个女儿')],
    expect: { learned: ['我在成都开面馆，有两个女儿。'], neverLearned: [] }
  },
  // Limits
  {
    name: 'a limit in the next clause',
    language: 'English',
    messages: ['I like coffee, but only before noon.'],
    right: [fact(0, 'I like coffee')],
    expect: { learned: ['I like coffee, but only before noon.'], neverLearned: [] }
  },
  {
    name: 'a limit in the next sentence',
    language: 'Spanish',
    messages: ['Como pescado. Pero nunca crudo. ¿Qué pido hoy?'],
    right: [fact(0, 'Como pescado. Pero nunca crudo.')],
    expect: { learned: ['Como pescado. Pero nunca crudo.'], neverLearned: [] }
  },
  {
    name: 'a limit before the statement',
    language: 'Russian',
    messages: ['Если нет дождя, я езжу на работу на велосипеде.'],
    right: [fact(0, 'я езжу на работу на велосипеде')],
    expect: { learned: ['Если нет дождя, я езжу на работу на велосипеде.'], neverLearned: [] }
  },
  // Several facts, emoji
  {
    name: 'an introduction',
    language: 'French',
    messages: ['Je m’appelle Léa. J’habite à Nantes et je répare des vélos. Tu peux m’aider avec mon site ?'],
    right: [fact(0, 'Je m’appelle Léa.'), fact(0, 'J’habite à Nantes et je répare des vélos.')],
    expect: { learned: ['Je m’appelle Léa.', 'J’habite à Nantes et je répare des vélos.'], neverLearned: [] }
  },
  {
    name: 'facts over several messages',
    language: 'Russian',
    messages: ['Меня зовут Игорь.', 'Я преподаю химию в Казани. Придумай задачу про соли.', 'Спасибо!'],
    right: [fact(0, 'Меня зовут Игорь.'), fact(1, 'Я преподаю химию в Казани.')],
    expect: { learned: ['Меня зовут Игорь.', 'Я преподаю химию в Казани.'], neverLearned: [] }
  },
  {
    name: 'emoji before the end',
    language: 'Italian',
    messages: ['Ho due cani 🐕🐕! Mi consigli un agriturismo?'],
    right: [fact(0, 'Ho due cani')],
    expect: { learned: ['Ho due cani 🐕🐕!'], neverLearned: [] }
  },
  {
    name: 'emoji and a flag',
    language: 'Turkish',
    messages: ['Berlin’de 🇩🇪 yaşıyorum. Buradan trenle nereye gidilir? 🚆'],
    right: [fact(0, 'Berlin’de 🇩🇪 yaşıyorum.')],
    expect: { learned: ['Berlin’de 🇩🇪 yaşıyorum.'], neverLearned: [] }
  },
  // About others, passing, sensitive
  {
    name: 'about the sister',
    language: 'English',
    messages: ['My sister plays the cello in an orchestra. What should I give her?'],
    right: [fact(0, 'My sister plays the cello in an orchestra.', { about: 'other' })],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'tired today',
    language: 'Portuguese',
    messages: ['Hoje estou cansadíssimo e só quero uma série leve.'],
    right: [fact(0, 'Hoje estou cansadíssimo', { lasting: false })],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'an illness',
    language: 'French',
    messages: ['Je suis suivie pour une dépression depuis un an. Quels sports sont adaptés ?'],
    right: [fact(0, 'Je suis suivie pour une dépression depuis un an.', { sensitive: true })],
    expect: { learned: [], neverLearned: [] }
  },
  // Retractions, typed and pinned
  {
    name: 'no cat any more',
    language: 'Chinese',
    known: [{ id: 'f4', fact: '我养了一只猫。' }],
    messages: ['我已经不养猫了。'],
    right: [fact(0, '我已经不养猫了。', { lasting: false, replaces: ['f4'] })],
    expect: { learned: [], replaced: ['f4'], neverLearned: [] }
  },
  {
    name: 'forget that',
    language: 'English',
    known: [{ id: 'f2', fact: 'I am a vegetarian.' }, { id: 'f5', fact: 'I have a garden.' }],
    messages: ['Please forget that I am a vegetarian.'],
    right: [fact(0, 'Please forget that I am a vegetarian.', { lasting: false, replaces: ['f2'] })],
    expect: { learned: [], replaced: ['f2'], neverLearned: [] }
  },
  {
    name: 'what was typed is only proposed to go',
    language: 'German',
    known: [{ id: 't1', fact: 'Ich wohne in Bonn.', typed: true }],
    messages: ['Ich wohne jetzt in Trier.'],
    right: [fact(0, 'Ich wohne jetzt in Trier.', { replaces: ['t1'] })],
    expect: { learned: [], proposed: ['Ich wohne jetzt in Trier.'], replaced: [], neverLearned: [] }
  },
  {
    name: 'what is pinned is only proposed to go',
    language: 'Italian',
    known: [{ id: 'p1', fact: 'Suono il violino.', pinned: true }],
    messages: ['Ho venduto il violino e adesso suono la batteria.'],
    right: [fact(0, 'adesso suono la batteria', { replaces: ['p1'] })],
    expect: { learned: [], proposed: ['Ho venduto il violino e adesso suono la batteria.'], replaced: [], neverLearned: [] }
  },
  // URLs and markup
  {
    name: 'beside an address',
    language: 'Italian',
    messages: ['Gestisco un piccolo albergo a Lecce. Guarda https://albergo.example/camere e dimmi cosa migliorare.'],
    right: [fact(0, 'Gestisco un piccolo albergo a Lecce.')],
    expect: { learned: [], proposed: ['Gestisco un piccolo albergo a Lecce.'], neverLearned: [] }
  },
  {
    name: 'beside a marked-up list',
    language: 'Portuguese',
    messages: ['## Viagem\n- **Voo**: TP 440\n- **Hotel**: Lisboa\n\nSou arquiteta e viajo muito a trabalho.'],
    right: [fact(0, 'Sou arquiteta e viajo muito a trabalho.')],
    expect: { learned: [], proposed: ['Sou arquiteta e viajo muito a trabalho.'], neverLearned: [] }
  },
  // Pasted without marks, inline code, asked to remember
  {
    name: 'a letter pasted as it is',
    language: 'German',
    messages: [
      'Übersetze den Brief ins Englische:\n\nLiebe Tante Ilse,\nich bin gut in Rom angekommen und wohne bei Paola. Ich ' +
      'esse jetzt jeden Tag Pasta.\nDein Felix'
    ],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a chat pasted as it is',
    language: 'Chinese',
    messages: ['总结一下这段聊天：\n小王：我下个月搬去北京。\n小李：太好了，我也在北京上班。'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a password in inline code',
    language: 'English',
    messages: ['Staging uses `DB_PASS=Tr0ub4dor&3x` these days. I work from Denver.'],
    right: [fact(0, 'I work from Denver.')],
    expect: { learned: [], proposed: ['I work from Denver.'], neverLearned: ['Tr0ub4dor&3x'] }
  },
  {
    name: 'asked to remember',
    language: 'Spanish',
    messages: ['Recuerda que soy zurda. ¿Qué guitarra me compro?'],
    right: [fact(0, 'soy zurda')],
    expect: { learned: ['Recuerda que soy zurda.'], neverLearned: [] }
  },
  {
    name: 'the code of the safe',
    language: 'Portuguese',
    messages: ['A senha do cofre é Leao-77-Mar!, não te esqueças. Moro em Setúbal.'],
    right: [fact(0, 'A senha do cofre é Leao-77-Mar!', { sensitive: true }), fact(0, 'Moro em Setúbal.')],
    expect: { learned: ['Moro em Setúbal.'], neverLearned: ['Leao-77-Mar!'] }
  },
  {
    name: 'German quotation marks',
    language: 'German',
    messages: ['Im Inserat steht: „Ich vermiete nur an Nichtraucher.“ Ist das erlaubt? Ich rauche nicht.'],
    right: [fact(0, 'Ich rauche nicht.')],
    expect: { learned: ['Ich rauche nicht.'], neverLearned: ['Ich vermiete nur an Nichtraucher'] }
  },
  // Further languages and scripts
  {
    name: 'lives in Busan',
    language: 'Korean',
    messages: ['저는 부산에 살고 있어요. 주말에 갈 만한 곳을 추천해 주세요.'],
    right: [fact(0, '저는 부산에 살고 있어요.')],
    expect: { learned: ['저는 부산에 살고 있어요.'], neverLearned: [] }
  },
  {
    name: 'does not drink coffee',
    language: 'Arabic',
    messages: ['لا، أنا لا أشرب القهوة. ماذا تقترح بدلاً منها؟'],
    right: [fact(0, 'أنا لا أشرب القهوة')],
    expect: { learned: ['لا، أنا لا أشرب القهوة.'], neverLearned: [] }
  },
  {
    name: 'lives in Jaipur',
    language: 'Hindi',
    messages: ['मैं जयपुर में रहता हूँ। कल बारिश होगी क्या?'],
    right: [fact(0, 'मैं जयपुर में रहता हूँ')],
    expect: { learned: ['मैं जयपुर में रहता हूँ।'], neverLearned: [] }
  },
  {
    name: 'a teacher in Chiang Mai',
    language: 'Thai',
    messages: ['ฉันเป็นครูอยู่ที่เชียงใหม่'],
    right: [fact(0, 'ฉันเป็นครู')],
    expect: { learned: ['ฉันเป็นครูอยู่ที่เชียงใหม่'], neverLearned: [] }
  },
  {
    name: 'lives in Haifa',
    language: 'Hebrew',
    messages: ['אני גר בחיפה. איפה כדאי לטייל בשבת?'],
    right: [fact(0, 'אני גר בחיפה.')],
    expect: { learned: ['אני גר בחיפה.'], neverLearned: [] }
  },
  {
    name: 'a nurse in Thessaloniki',
    language: 'Greek',
    messages: ['Δουλεύω ως νοσοκόμα στη Θεσσαλονίκη. Τι να μαγειρέψω απόψε;'],
    right: [fact(0, 'Δουλεύω ως νοσοκόμα')],
    expect: { learned: ['Δουλεύω ως νοσοκόμα στη Θεσσαλονίκη.'], neverLearned: [] }
  },
  {
    name: 'no meat',
    language: 'Polish',
    messages: ['Nie, nie jem mięsa. Masz przepis na zupę?'],
    right: [fact(0, 'nie jem mięsa')],
    expect: { learned: ['Nie, nie jem mięsa.'], neverLearned: [] }
  },
  {
    name: 'moved to Utrecht',
    language: 'Dutch',
    known: [{ id: 'f1', fact: 'Ik woon in Zwolle.' }],
    messages: ['Ik ben vorig jaar van Zwolle naar Utrecht verhuisd.'],
    right: [fact(0, 'naar Utrecht verhuisd', { replaces: ['f1'] })],
    expect: { learned: ['Ik ben vorig jaar van Zwolle naar Utrecht verhuisd.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'if I were rich',
    language: 'Ukrainian',
    messages: ['Якби я був багатим, я б купив будинок в Одесі. Скільки він коштує?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  }
]
