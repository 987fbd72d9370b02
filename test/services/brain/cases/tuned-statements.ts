// What is said of whom and how it is meant: denials, changes, jokes, the words of others, secrets.
import { fact, type MemoryCase } from './case-types.ts'

export const statements: MemoryCase[] = [
  // Negations
  {
    name: 'a sentence that begins with no',
    language: 'English',
    messages: ['Any ideas for dinner?', "No, I don't eat meat."],
    right: [fact(1, "I don't eat meat")],
    expect: { learned: ["No, I don't eat meat."], neverLearned: [] }
  },
  {
    name: 'nein before the sentence',
    language: 'German',
    messages: ['Nein, ich trinke keinen Alkohol. Was passt sonst zu Fondue?'],
    right: [fact(0, 'ich trinke keinen Alkohol')],
    expect: { learned: ['Nein, ich trinke keinen Alkohol.'], neverLearned: [] }
  },
  {
    name: 'no and then the denial',
    language: 'Spanish',
    messages: ['No, no tengo coche. ¿Cómo llego a Segovia?'],
    right: [fact(0, 'no tengo coche')],
    expect: { learned: ['No, no tengo coche.'], neverLearned: [] }
  },
  {
    name: 'iie before the denial',
    language: 'Japanese',
    messages: ['いいえ、車の免許は持っていません。電車で行ける温泉を教えてください。'],
    right: [fact(0, '車の免許は持っていません')],
    expect: { learned: ['いいえ、車の免許は持っていません。'], neverLearned: [] }
  },
  // Corrections, divorces, moves, work
  {
    name: 'a birthday put right',
    language: 'French',
    known: [{ id: 'f1', fact: 'Mon anniversaire est le 3 mai.' }],
    messages: ['Tu te trompes, mon anniversaire est le 13 mai.'],
    right: [fact(0, 'mon anniversaire est le 13 mai', { replaces: ['f1'] })],
    expect: { learned: ['Tu te trompes, mon anniversaire est le 13 mai.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'corrected in the same conversation',
    language: 'Portuguese',
    messages: ['Tenho dois gatos, ajuda-me a escolher ração.', 'Enganei-me: tenho três gatos.'],
    right: [fact(1, 'tenho três gatos')],
    expect: { learned: ['Enganei-me: tenho três gatos.'], neverLearned: [] }
  },
  {
    name: 'divorced',
    language: 'German',
    known: [{ id: 'f1', fact: 'Ich bin mit Jana verheiratet.' }, { id: 'f2', fact: 'Ich wohne in Kassel.' }],
    messages: ['Jana und ich sind seit März geschieden. Welche Steuerklasse habe ich jetzt?'],
    right: [fact(0, 'Jana und ich sind seit März geschieden.', { replaces: ['f1'] })],
    expect: { learned: ['Jana und ich sind seit März geschieden.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'moved house',
    language: 'Spanish',
    known: [{ id: 'f7', fact: 'Vivo en Sevilla.' }],
    messages: ['Busco un fontanero. Ahora vivo en Bilbao, ya no en Sevilla.'],
    right: [fact(0, 'Ahora vivo en Bilbao', { replaces: ['f7'] })],
    expect: { learned: ['Ahora vivo en Bilbao, ya no en Sevilla.'], replaced: ['f7'], neverLearned: [] }
  },
  {
    name: 'changed jobs',
    language: 'Italian',
    known: [{ id: 'f1', fact: 'Lavoro in banca.' }],
    messages: ['Da ottobre non lavoro più in banca ma insegno matematica.'],
    right: [fact(0, 'Da ottobre non lavoro più in banca ma insegno matematica.', { replaces: ['f1'] })],
    expect: { learned: ['Da ottobre non lavoro più in banca ma insegno matematica.'], replaced: ['f1'], neverLearned: [] }
  },
  {
    name: 'left the company',
    language: 'English',
    known: [{ id: 'f3', fact: 'I work at Northwind as a buyer.' }],
    messages: ['Update my CV, please. I left Northwind in June and now run my own bakery.'],
    right: [fact(0, 'I left Northwind in June and now run my own bakery.', { replaces: ['f3'] })],
    expect: { learned: ['I left Northwind in June and now run my own bakery.'], replaced: ['f3'], neverLearned: [] }
  },
  // Jokes, irony, role play, suppositions, questions
  {
    name: 'a joke about being a cat',
    language: 'English',
    messages: ["I'm basically a cat: I sleep 16 hours and hate Mondays, haha."],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'irony about overtime',
    language: 'German',
    messages: ['Klar, ich liebe es ja auch, sonntags um sechs Rechnungen zu sortieren. Mach das bitte für mich.'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'role play of a pirate',
    language: 'French',
    messages: ['Jouons : je suis capitaine d’un navire pirate et j’habite à Tortuga. Toi, tu es mon mousse.'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'practice for an interview',
    language: 'Japanese',
    messages: ['面接の練習をしましょう。私は応募者の佐藤で、銀行に十年勤めています。質問してください。'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'if I lived elsewhere',
    language: 'Spanish',
    messages: ['Si viviera en Oslo, ¿cuánto pagaría de calefacción?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'suppose I am a student',
    language: 'Russian',
    messages: ['Допустим, я студент и мне двадцать лет. Какие льготы на поезд мне положены?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a question about oneself',
    language: 'Turkish',
    messages: ['Ben vejetaryen miyim sence, haftada bir balık yiyorsam?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a question is no statement',
    language: 'Chinese',
    messages: ['我是不是应该搬到深圳去工作？'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  // What others wrote
  {
    name: 'a letter in quoted lines',
    language: 'German',
    messages: [
      'Was antworte ich darauf?\n\n> Hallo, ich bin Tom und ziehe im Mai nach Leipzig.\n> Ich suche ein Zimmer und habe ' +
      'einen Hund.'
    ],
    right: [],
    expect: { learned: [], neverLearned: ['ich bin Tom', 'ziehe im Mai nach Leipzig', 'Ich suche ein Zimmer', 'habe einen Hund'] }
  },
  {
    name: 'code with a key, beside a sentence',
    language: 'English',
    messages: [
      'I maintain three Rails apps. Why does this fail?\n```ruby\nAPI_KEY = "pk9fQ2xLm7TzR4vB8nKc1Y"\nname = "I live in ' +
      'Rome"\n```'
    ],
    right: [fact(0, 'I maintain three Rails apps.')],
    expect: { learned: [], proposed: ['I maintain three Rails apps.'], neverLearned: ['pk9fQ2xLm7TzR4vB8nKc1Y', 'I live in Rome'] }
  },
  {
    name: 'what the neighbour said',
    language: 'French',
    messages: ['Mon voisin m’a dit : « Je déteste les chiens. » Comment lui répondre poliment ?'],
    right: [],
    expect: { learned: [], neverLearned: ['Je déteste les chiens'] }
  },
  {
    name: 'a line from a novel',
    language: 'Japanese',
    messages: ['「私は猫が大嫌いだ」という台詞を英語に訳してください。'],
    right: [],
    expect: { learned: [], neverLearned: ['私は猫が大嫌いだ'] }
  },
  {
    name: 'a long message is proposed',
    language: 'Portuguese',
    messages: [
      'Preciso de ajuda para reorganizar a minha semana. Trabalho como enfermeira no turno da noite em Coimbra. Na ' +
      'segunda-feira há uma reunião com a escola, ' +
      'na terça chega o técnico da caldeira entre as nove e o meio-dia, na quarta temos o aniversário da vizinha do terceiro andar, ' +
      'e na quinta preciso de passar pela oficina ' +
      'para deixar o carro, que anda a fazer um barulho estranho sempre que travo. Na sexta gostava de ter a tarde livre para ir ao ' +
      'mercado e preparar o jantar com calma, ' +
      'porque chegam visitas do Porto e ficam até domingo ao fim do dia. Faz-me um plano simples, com horas, e deixa pelo menos ' +
      'sete horas seguidas de descanso depois de cada noite.'
    ],
    right: [fact(0, 'Trabalho como enfermeira no turno da noite em Coimbra.')],
    expect: { learned: [], proposed: ['Trabalho como enfermeira no turno da noite em Coimbra.'], neverLearned: [] }
  },
  // Secrets
  {
    name: 'an API key in passing',
    language: 'English',
    messages: ['My API key is sk-test-51Hq8ZtXw2LmN0pRvB7cYd, use it for the demo. I live in Leeds.'],
    right: [fact(0, 'My API key is sk-test-51Hq8ZtXw2LmN0pRvB7cYd', { sensitive: true }), fact(0, 'I live in Leeds.')],
    expect: { learned: ['I live in Leeds.'], neverLearned: ['sk-test-51Hq8ZtXw2LmN0pRvB7cYd'] }
  },
  {
    name: 'a card number',
    language: 'Spanish',
    messages: ['Mi tarjeta es 4111 1111 1111 1111 y caduca en 08/28. ¿Sirve para reservar el hotel?'],
    right: [fact(0, 'Mi tarjeta es 4111 1111 1111 1111', { sensitive: true })],
    expect: { learned: [], neverLearned: ['4111 1111 1111 1111'] }
  },
  {
    name: 'an IBAN',
    language: 'German',
    messages: ['Meine IBAN lautet DE89 3704 0044 0532 0130 00. Ich bin bei der Sparkasse Köln.'],
    right: [fact(0, 'Ich bin bei der Sparkasse Köln.')],
    expect: { learned: ['Ich bin bei der Sparkasse Köln.'], neverLearned: ['DE89 3704 0044 0532 0130 00'] }
  },
  {
    name: 'a password for the router',
    language: 'Russian',
    messages: ['Пароль от роутера: Zima2024!kot. Запиши его, пожалуйста, в заметки.'],
    right: [fact(0, 'Пароль от роутера: Zima2024!kot.', { sensitive: true })],
    expect: { learned: [], neverLearned: ['Zima2024!kot'] }
  },
  {
    name: 'a password in a sentence',
    language: 'Turkish',
    messages: ['Şifrem Gunes_1987x oldu, sisteme bununla gir. Ankara’da oturuyorum.'],
    right: [fact(0, 'Ankara’da oturuyorum.')],
    expect: { learned: ['Ankara’da oturuyorum.'], neverLearned: ['Gunes_1987x'] }
  }
]
