// The half that the rules may be tuned with.
import { fact, instruction, preference, type MemoryCase } from './case-types.ts'

export const tuned: MemoryCase[] = [
  // Negations
  {
    name: 'a sentence that begins with no', language: 'English', messages: ['Any ideas for dinner?', 'No, I don\'t eat meat.'],
    right: [fact(1, 'I don\'t eat meat')], expect: { learned: ['No, I don\'t eat meat.'], neverLearned: [] },
    offline: { learned: ['No, I don\'t eat meat.'] }
  },
  {
    name: 'nein before the sentence', language: 'German', messages: ['Nein, ich trinke keinen Alkohol. Was passt sonst zu Fondue?'],
    right: [fact(0, 'ich trinke keinen Alkohol')], expect: { learned: ['Nein, ich trinke keinen Alkohol.'], neverLearned: [] }
  },
  {
    name: 'no and then the denial', language: 'Spanish', messages: ['No, no tengo coche. ¿Cómo llego a Segovia?'],
    right: [fact(0, 'no tengo coche')], expect: { learned: ['No, no tengo coche.'], neverLearned: [] }
  },
  {
    name: 'iie before the denial', language: 'Japanese', messages: ['いいえ、車の免許は持っていません。電車で行ける温泉を教えてください。'],
    right: [fact(0, '車の免許は持っていません')], expect: { learned: ['いいえ、車の免許は持っていません。'], neverLearned: [] }
  },
  // Corrections, divorces, moves, work
  {
    name: 'a birthday put right', language: 'French', known: [{ id: 'f1', fact: 'Mon anniversaire est le 3 mai.' }],
    messages: ['Tu te trompes, mon anniversaire est le 13 mai.'],
    right: [fact(0, 'mon anniversaire est le 13 mai', { replaces: ['f1'] })],
    expect: { learned: ['Tu te trompes, mon anniversaire est le 13 mai.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'corrected in the same conversation', language: 'Portuguese',
    messages: ['Tenho dois gatos, ajuda-me a escolher ração.', 'Enganei-me: tenho três gatos.'],
    right: [fact(1, 'tenho três gatos')], expect: { learned: ['Enganei-me: tenho três gatos.'], neverLearned: [] }
  },
  {
    name: 'divorced', language: 'German', known: [{ id: 'f1', fact: 'Ich bin mit Jana verheiratet.' }, { id: 'f2', fact: 'Ich wohne in Kassel.' }],
    messages: ['Jana und ich sind seit März geschieden. Welche Steuerklasse habe ich jetzt?'],
    right: [fact(0, 'Jana und ich sind seit März geschieden.', { replaces: ['f1'] })],
    expect: { learned: ['Jana und ich sind seit März geschieden.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'moved house', language: 'Spanish', known: [{ id: 'f7', fact: 'Vivo en Sevilla.' }],
    messages: ['Busco un fontanero. Ahora vivo en Bilbao, ya no en Sevilla.'],
    right: [fact(0, 'Ahora vivo en Bilbao', { replaces: ['f7'] })],
    expect: { learned: ['Ahora vivo en Bilbao, ya no en Sevilla.'], replaced: ['f7'], neverLearned: [] }
  },
  {
    name: 'changed jobs', language: 'Italian', known: [{ id: 'f1', fact: 'Lavoro in banca.' }],
    messages: ['Da ottobre non lavoro più in banca ma insegno matematica.'],
    right: [fact(0, 'Da ottobre non lavoro più in banca ma insegno matematica.', { replaces: ['f1'] })],
    expect: { learned: ['Da ottobre non lavoro più in banca ma insegno matematica.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'left the company', language: 'English', known: [{ id: 'f3', fact: 'I work at Northwind as a buyer.' }],
    messages: ['Update my CV, please. I left Northwind in June and now run my own bakery.'],
    right: [fact(0, 'I left Northwind in June and now run my own bakery.', { replaces: ['f3'] })],
    expect: { learned: ['I left Northwind in June and now run my own bakery.'], replaced: ['f3'], neverLearned: [] },
    offline: { learned: ['I left Northwind in June and now run my own bakery.'] }
  },
  // Jokes, irony, role play, suppositions, questions
  {
    name: 'a joke about being a cat', language: 'English', messages: ['I\'m basically a cat: I sleep 16 hours and hate Mondays, haha.'],
    right: [], expect: { learned: [], neverLearned: [] }, offline: { learned: [] }
  },
  {
    name: 'irony about overtime', language: 'German', messages: ['Klar, ich liebe es ja auch, sonntags um sechs Rechnungen zu sortieren. Mach das bitte für mich.'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'role play of a pirate', language: 'French', messages: ['Jouons : je suis capitaine d’un navire pirate et j’habite à Tortuga. Toi, tu es mon mousse.'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'practice for an interview', language: 'Japanese', messages: ['面接の練習をしましょう。私は応募者の佐藤で、銀行に十年勤めています。質問してください。'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'if I lived elsewhere', language: 'Spanish', messages: ['Si viviera en Oslo, ¿cuánto pagaría de calefacción?'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'suppose I am a student', language: 'Russian', messages: ['Допустим, я студент и мне двадцать лет. Какие льготы на поезд мне положены?'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a question about oneself', language: 'Turkish', messages: ['Ben vejetaryen miyim sence, haftada bir balık yiyorsam?'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a question is no statement', language: 'Chinese', messages: ['我是不是应该搬到深圳去工作？'],
    right: [], expect: { learned: [], neverLearned: [] }
  },
  // What others wrote
  {
    name: 'a letter in quoted lines', language: 'German',
    messages: ['Was antworte ich darauf?\n\n> Hallo, ich bin Tom und ziehe im Mai nach Leipzig.\n> Ich suche ein Zimmer und habe einen Hund.'],
    right: [], expect: { learned: [], neverLearned: ['ich bin Tom', 'ziehe im Mai nach Leipzig', 'Ich suche ein Zimmer', 'habe einen Hund'] }
  },
  {
    name: 'code with a key, beside a sentence', language: 'English',
    messages: ['I maintain three Rails apps. Why does this fail?\n```ruby\nAPI_KEY = "pk9fQ2xLm7TzR4vB8nKc1Y"\nname = "I live in Rome"\n```'],
    right: [fact(0, 'I maintain three Rails apps.')],
    expect: { learned: [], proposed: ['I maintain three Rails apps.'], neverLearned: ['pk9fQ2xLm7TzR4vB8nKc1Y', 'I live in Rome'] },
    offline: { learned: [] }
  },
  {
    name: 'what the neighbour said', language: 'French', messages: ['Mon voisin m’a dit : « Je déteste les chiens. » Comment lui répondre poliment ?'],
    right: [], expect: { learned: [], neverLearned: ['Je déteste les chiens'] }
  },
  {
    name: 'a line from a novel', language: 'Japanese', messages: ['「私は猫が大嫌いだ」という台詞を英語に訳してください。'],
    right: [], expect: { learned: [], neverLearned: ['私は猫が大嫌いだ'] }
  },
  {
    name: 'a long message is proposed', language: 'Portuguese',
    messages: ['Preciso de ajuda para reorganizar a minha semana. Trabalho como enfermeira no turno da noite em Coimbra. Na segunda-feira há uma reunião com a escola, ' +
      'na terça chega o técnico da caldeira entre as nove e o meio-dia, na quarta temos o aniversário da vizinha do terceiro andar, e na quinta preciso de passar pela oficina ' +
      'para deixar o carro, que anda a fazer um barulho estranho sempre que travo. Na sexta gostava de ter a tarde livre para ir ao mercado e preparar o jantar com calma, ' +
      'porque chegam visitas do Porto e ficam até domingo ao fim do dia. Faz-me um plano simples, com horas, e deixa pelo menos sete horas seguidas de descanso depois de cada noite.'],
    right: [fact(0, 'Trabalho como enfermeira no turno da noite em Coimbra.')],
    expect: { learned: [], proposed: ['Trabalho como enfermeira no turno da noite em Coimbra.'], neverLearned: [] }
  },
  // Secrets
  {
    name: 'an API key in passing', language: 'English', messages: ['My API key is sk-test-51Hq8ZtXw2LmN0pRvB7cYd, use it for the demo. I live in Leeds.'],
    right: [fact(0, 'My API key is sk-test-51Hq8ZtXw2LmN0pRvB7cYd', { sensitive: true }), fact(0, 'I live in Leeds.')],
    expect: { learned: ['I live in Leeds.'], neverLearned: ['sk-test-51Hq8ZtXw2LmN0pRvB7cYd'] }, offline: { learned: ['I live in Leeds.'] }
  },
  {
    name: 'a card number', language: 'Spanish', messages: ['Mi tarjeta es 4111 1111 1111 1111 y caduca en 08/28. ¿Sirve para reservar el hotel?'],
    right: [fact(0, 'Mi tarjeta es 4111 1111 1111 1111', { sensitive: true })],
    expect: { learned: [], neverLearned: ['4111 1111 1111 1111'] }
  },
  {
    name: 'an IBAN', language: 'German', messages: ['Meine IBAN lautet DE89 3704 0044 0532 0130 00. Ich bin bei der Sparkasse Köln.'],
    right: [fact(0, 'Ich bin bei der Sparkasse Köln.')],
    expect: { learned: ['Ich bin bei der Sparkasse Köln.'], neverLearned: ['DE89 3704 0044 0532 0130 00'] }
  },
  {
    name: 'a password for the router', language: 'Russian', messages: ['Пароль от роутера: Zima2024!kot. Запиши его, пожалуйста, в заметки.'],
    right: [fact(0, 'Пароль от роутера: Zima2024!kot.', { sensitive: true })], expect: { learned: [], neverLearned: ['Zima2024!kot'] }
  },
  {
    name: 'a password in a sentence', language: 'Turkish', messages: ['Şifrem Gunes_1987x oldu, sisteme bununla gir. Ankara’da oturuyorum.'],
    right: [fact(0, 'Ankara’da oturuyorum.')], expect: { learned: ['Ankara’da oturuyorum.'], neverLearned: ['Gunes_1987x'] }
  },
  // Standing instructions and preferences
  {
    name: 'always metric units', language: 'English', messages: ['Always answer in metric units. How far is Boston from New York?'],
    right: [instruction(0, 'Always answer in metric units.')],
    expect: { learned: [], proposed: ['Always answer in metric units.'], neverLearned: [] }, offline: { learned: [] }
  },
  {
    name: 'always in short points', language: 'Italian', messages: ['D’ora in poi rispondimi sempre con elenchi brevi. Come si pulisce il rame?'],
    right: [instruction(0, 'D’ora in poi rispondimi sempre con elenchi brevi.')],
    expect: { learned: [], proposed: ['D’ora in poi rispondimi sempre con elenchi brevi.'], neverLearned: [] }
  },
  {
    name: 'answer in simplified Chinese', language: 'Chinese', messages: ['以后都用简体中文回答我。这篇英文文章讲了什么？'],
    right: [instruction(0, '以后都用简体中文回答我。')],
    expect: { learned: [], proposed: ['以后都用简体中文回答我。'], neverLearned: [] }
  },
  {
    name: 'favourite colour', language: 'English', messages: ['My favourite colour is teal, so make the slides match.'],
    right: [preference(0, 'My favourite colour is teal', 'favourite colour', 'teal')],
    expect: { learned: [], preferences: { 'favourite colour': 'teal' }, neverLearned: [] },
    offline: { learned: ['My favourite colour is teal, so make the slides match.'] }
  },
  {
    name: 'preferred editor', language: 'Portuguese', messages: ['O meu editor preferido é o Helix. Como mudo o tema?'],
    right: [preference(0, 'O meu editor preferido é o Helix.', 'editor', 'Helix')],
    expect: { learned: [], preferences: { editor: 'Helix' }, neverLearned: [] }
  },
  {
    name: 'favourite drink', language: 'Japanese', messages: ['好きな飲み物はほうじ茶です。'],
    right: [preference(0, '好きな飲み物はほうじ茶です。', '好きな飲み物', 'ほうじ茶')],
    expect: { learned: [], preferences: { 好きな飲み物: 'ほうじ茶' }, neverLearned: [] }
  },
  {
    name: 'a value that is not said makes it a fact', language: 'Turkish', messages: ['Toplantıları öğleden önce yapmayı severim.'],
    right: [preference(0, 'Toplantıları öğleden önce yapmayı severim.', 'toplantı saati', 'sabah')],
    expect: { learned: ['Toplantıları öğleden önce yapmayı severim.'], preferences: {}, neverLearned: [] }
  },
  // Abbreviations
  {
    name: 'a title inside the sentence', language: 'German', messages: ['Mein Hausarzt ist Dr. Meier in Fulda. Wie erreiche ich ihn am Wochenende?'],
    right: [fact(0, 'Mein Hausarzt ist Dr. Meier')], expect: { learned: ['Mein Hausarzt ist Dr. Meier in Fulda.'], neverLearned: [] }
  },
  {
    name: 'for example inside the sentence', language: 'German', messages: ['Ich sammle alte Werkzeuge, z. B. Hobel und Zangen. Kennst du Märkte dafür?'],
    right: [fact(0, 'Ich sammle alte Werkzeuge')], expect: { learned: ['Ich sammle alte Werkzeuge, z. B. Hobel und Zangen.'], neverLearned: [] }
  },
  {
    name: 'a country with points', language: 'English', messages: ['I moved to the U.S. in 2015 and never looked back.'],
    right: [fact(0, 'in 2015')], expect: { learned: ['I moved to the U.S. in 2015 and never looked back.'], neverLearned: [] },
    offline: { learned: ['I moved to the U.S. in 2015 and never looked back.'] }
  },
  // No blanks between words
  {
    name: 'two sentences, one of them lasting', language: 'Japanese', messages: ['大阪で看護師をしています。明日の天気はどうですか。'],
    right: [fact(0, '大阪で看護師をしています')], expect: { learned: ['大阪で看護師をしています。'], neverLearned: [] }
  },
  {
    name: 'two facts in one breath', language: 'Chinese', messages: ['我在成都开面馆，有两个女儿。帮我写一份招聘启事！'],
    right: [fact(0, '有两个女儿')], expect: { learned: ['我在成都开面馆，有两个女儿。'], neverLearned: [] }
  },
  // Limits
  {
    name: 'a limit in the next clause', language: 'English', messages: ['I like coffee, but only before noon.'],
    right: [fact(0, 'I like coffee')], expect: { learned: ['I like coffee, but only before noon.'], neverLearned: [] },
    offline: { learned: ['I like coffee, but only before noon.'] }
  },
  {
    name: 'a limit in the next sentence', language: 'Spanish', messages: ['Como pescado. Pero nunca crudo. ¿Qué pido hoy?'],
    right: [fact(0, 'Como pescado. Pero nunca crudo.')], expect: { learned: ['Como pescado. Pero nunca crudo.'], neverLearned: [] }
  },
  {
    name: 'a limit before the statement', language: 'Russian', messages: ['Если нет дождя, я езжу на работу на велосипеде.'],
    right: [fact(0, 'я езжу на работу на велосипеде')], expect: { learned: ['Если нет дождя, я езжу на работу на велосипеде.'], neverLearned: [] }
  },
  // Several facts, emoji
  {
    name: 'an introduction', language: 'French', messages: ['Je m’appelle Léa. J’habite à Nantes et je répare des vélos. Tu peux m’aider avec mon site ?'],
    right: [fact(0, 'Je m’appelle Léa.'), fact(0, 'J’habite à Nantes et je répare des vélos.')],
    expect: { learned: ['Je m’appelle Léa.', 'J’habite à Nantes et je répare des vélos.'], neverLearned: [] }
  },
  {
    name: 'facts over several messages', language: 'Russian', messages: ['Меня зовут Игорь.', 'Я преподаю химию в Казани. Придумай задачу про соли.', 'Спасибо!'],
    right: [fact(0, 'Меня зовут Игорь.'), fact(1, 'Я преподаю химию в Казани.')],
    expect: { learned: ['Меня зовут Игорь.', 'Я преподаю химию в Казани.'], neverLearned: [] }
  },
  {
    name: 'emoji before the end', language: 'Italian', messages: ['Ho due cani 🐕🐕! Mi consigli un agriturismo?'],
    right: [fact(0, 'Ho due cani')], expect: { learned: ['Ho due cani 🐕🐕!'], neverLearned: [] }
  },
  {
    name: 'emoji and a flag', language: 'Turkish', messages: ['Berlin’de 🇩🇪 yaşıyorum. Buradan trenle nereye gidilir? 🚆'],
    right: [fact(0, 'Berlin’de 🇩🇪 yaşıyorum.')], expect: { learned: ['Berlin’de 🇩🇪 yaşıyorum.'], neverLearned: [] }
  },
  // About others, passing, sensitive
  {
    name: 'about the sister', language: 'English', messages: ['My sister plays the cello in an orchestra. What should I give her?'],
    right: [fact(0, 'My sister plays the cello in an orchestra.', { about: 'other' })],
    expect: { learned: [], neverLearned: [] }, offline: { learned: [] }
  },
  {
    name: 'tired today', language: 'Portuguese', messages: ['Hoje estou cansadíssimo e só quero uma série leve.'],
    right: [fact(0, 'Hoje estou cansadíssimo', { lasting: false })], expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'an illness', language: 'French', messages: ['Je suis suivie pour une dépression depuis un an. Quels sports sont adaptés ?'],
    right: [fact(0, 'Je suis suivie pour une dépression depuis un an.', { sensitive: true })], expect: { learned: [], neverLearned: [] }
  },
  // Retractions, typed and pinned
  {
    name: 'no cat any more', language: 'Chinese', known: [{ id: 'f4', fact: '我养了一只猫。' }], messages: ['我已经不养猫了。'],
    right: [fact(0, '我已经不养猫了。', { lasting: false, replaces: ['f4'] })], expect: { learned: [], replaced: ['f4'], neverLearned: [] }
  },
  {
    name: 'forget that', language: 'English', known: [{ id: 'f2', fact: 'I am a vegetarian.' }, { id: 'f5', fact: 'I have a garden.' }],
    messages: ['Please forget that I am a vegetarian.'],
    right: [fact(0, 'Please forget that I am a vegetarian.', { lasting: false, replaces: ['f2'] })],
    expect: { learned: [], replaced: ['f2'], neverLearned: [] }, offline: { learned: [] }
  },
  {
    name: 'what was typed is only proposed to go', language: 'German', known: [{ id: 't1', fact: 'Ich wohne in Bonn.', typed: true }],
    messages: ['Ich wohne jetzt in Trier.'], right: [fact(0, 'Ich wohne jetzt in Trier.', { replaces: ['t1'] })],
    expect: { learned: [], proposed: ['Ich wohne jetzt in Trier.'], replaced: [], neverLearned: [] }
  },
  {
    name: 'what is pinned is only proposed to go', language: 'Italian', known: [{ id: 'p1', fact: 'Suono il violino.', pinned: true }],
    messages: ['Ho venduto il violino e adesso suono la batteria.'],
    right: [fact(0, 'adesso suono la batteria', { replaces: ['p1'] })],
    expect: { learned: [], proposed: ['Ho venduto il violino e adesso suono la batteria.'], replaced: [], neverLearned: [] }
  },
  // URLs and markup
  {
    name: 'beside an address', language: 'Italian', messages: ['Gestisco un piccolo albergo a Lecce. Guarda https://albergo.example/camere e dimmi cosa migliorare.'],
    right: [fact(0, 'Gestisco un piccolo albergo a Lecce.')],
    expect: { learned: [], proposed: ['Gestisco un piccolo albergo a Lecce.'], neverLearned: [] }
  },
  {
    name: 'beside a marked-up list', language: 'Portuguese', messages: ['## Viagem\n- **Voo**: TP 440\n- **Hotel**: Lisboa\n\nSou arquiteta e viajo muito a trabalho.'],
    right: [fact(0, 'Sou arquiteta e viajo muito a trabalho.')],
    expect: { learned: [], proposed: ['Sou arquiteta e viajo muito a trabalho.'], neverLearned: [] }
  },
  // Further languages and scripts
  {
    name: 'lives in Busan', language: 'Korean', messages: ['저는 부산에 살고 있어요. 주말에 갈 만한 곳을 추천해 주세요.'],
    right: [fact(0, '저는 부산에 살고 있어요.')], expect: { learned: ['저는 부산에 살고 있어요.'], neverLearned: [] }
  },
  {
    name: 'does not drink coffee', language: 'Arabic', messages: ['لا، أنا لا أشرب القهوة. ماذا تقترح بدلاً منها؟'],
    right: [fact(0, 'أنا لا أشرب القهوة')], expect: { learned: ['لا، أنا لا أشرب القهوة.'], neverLearned: [] }
  },
  {
    name: 'lives in Jaipur', language: 'Hindi', messages: ['मैं जयपुर में रहता हूँ। कल बारिश होगी क्या?'],
    right: [fact(0, 'मैं जयपुर में रहता हूँ')], expect: { learned: ['मैं जयपुर में रहता हूँ।'], neverLearned: [] }
  },
  {
    name: 'a teacher in Chiang Mai', language: 'Thai', messages: ['ฉันเป็นครูอยู่ที่เชียงใหม่'],
    right: [fact(0, 'ฉันเป็นครู')], expect: { learned: ['ฉันเป็นครูอยู่ที่เชียงใหม่'], neverLearned: [] }
  },
  {
    name: 'lives in Haifa', language: 'Hebrew', messages: ['אני גר בחיפה. איפה כדאי לטייל בשבת?'],
    right: [fact(0, 'אני גר בחיפה.')], expect: { learned: ['אני גר בחיפה.'], neverLearned: [] }
  },
  {
    name: 'a nurse in Thessaloniki', language: 'Greek', messages: ['Δουλεύω ως νοσοκόμα στη Θεσσαλονίκη. Τι να μαγειρέψω απόψε;'],
    right: [fact(0, 'Δουλεύω ως νοσοκόμα')], expect: { learned: ['Δουλεύω ως νοσοκόμα στη Θεσσαλονίκη.'], neverLearned: [] }
  },
  {
    name: 'no meat', language: 'Polish', messages: ['Nie, nie jem mięsa. Masz przepis na zupę?'],
    right: [fact(0, 'nie jem mięsa')], expect: { learned: ['Nie, nie jem mięsa.'], neverLearned: [] }
  },
  {
    name: 'moved to Utrecht', language: 'Dutch', known: [{ id: 'f1', fact: 'Ik woon in Zwolle.' }], messages: ['Ik ben vorig jaar van Zwolle naar Utrecht verhuisd.'],
    right: [fact(0, 'naar Utrecht verhuisd', { replaces: ['f1'] })],
    expect: { learned: ['Ik ben vorig jaar van Zwolle naar Utrecht verhuisd.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'if I were rich', language: 'Ukrainian', messages: ['Якби я був багатим, я б купив будинок в Одесі. Скільки він коштує?'],
    right: [], expect: { learned: [], neverLearned: [] }
  }
]
