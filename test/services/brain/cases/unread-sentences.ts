// Wishes, bounds of sentences, retractions, further languages.
import { fact, instruction, preference, type MemoryCase } from './case-types.ts'

export const sentences: MemoryCase[] = [
  // Standing instructions and preferences
  {
    name: 'address me informally',
    language: 'German',
    messages: ['Sprich mich bitte immer mit du an. Was ist ein Erbbaurecht?'],
    right: [instruction(0, 'Sprich mich bitte immer mit du an.')],
    expect: { learned: [], proposed: ['Sprich mich bitte immer mit du an.'], neverLearned: [] }
  },
  {
    name: 'never use emoji',
    language: 'English',
    messages: ["From now on, never use emoji when you write to me. What's the capital of Peru?"],
    right: [instruction(0, 'From now on, never use emoji when you write to me.')],
    expect: { learned: [], proposed: ['From now on, never use emoji when you write to me.'], neverLearned: [] }
  },
  {
    name: 'always cite sources',
    language: 'Portuguese',
    messages: ['Quando eu pedir números, indica sempre a fonte. Quantas pessoas vivem em Évora?'],
    right: [instruction(0, 'Quando eu pedir números, indica sempre a fonte.')],
    expect: { learned: [], proposed: ['Quando eu pedir números, indica sempre a fonte.'], neverLearned: [] }
  },
  {
    name: 'preferred airline seat',
    language: 'English',
    messages: ["My preferred seat is 12A whenever it's free."],
    right: [preference(0, "My preferred seat is 12A whenever it's free.", 'seat', '12A')],
    expect: { learned: [], preferences: { seat: '12A' }, neverLearned: [] }
  },
  {
    name: 'favourite newspaper',
    language: 'French',
    messages: ['Mon journal préféré est Ouest-France. Résume la une.'],
    right: [preference(0, 'Mon journal préféré est Ouest-France.', 'journal', 'Ouest-France')],
    expect: { learned: [], preferences: { journal: 'Ouest-France' }, neverLearned: [] }
  },
  {
    name: 'favourite tea',
    language: 'Chinese',
    messages: ['我最喜欢的茶是龙井。'],
    right: [preference(0, '我最喜欢的茶是龙井。', '茶', '龙井')],
    expect: { learned: [], preferences: { 茶: '龙井' }, neverLearned: [] }
  },
  {
    name: 'a value in other words makes it a fact',
    language: 'Russian',
    messages: ['Я предпочитаю летать только днём.'],
    right: [preference(0, 'Я предпочитаю летать только днём.', 'рейсы', 'дневные')],
    expect: { learned: ['Я предпочитаю летать только днём.'], preferences: {}, neverLearned: [] }
  },
  // Abbreviations
  {
    name: 'a doctor with a title',
    language: 'English',
    messages: ['My dentist is Dr. Okafor on Mill Lane. Remind me what to ask her?'],
    right: [fact(0, 'My dentist is Dr. Okafor')],
    expect: { learned: ['My dentist is Dr. Okafor on Mill Lane.'], neverLearned: [] }
  },
  {
    name: 'for example in the middle',
    language: 'Spanish',
    messages: ['Colecciono monedas antiguas, p. ej. reales y maravedíes. ¿Dónde las limpian?'],
    right: [fact(0, 'Colecciono monedas antiguas')],
    expect: { learned: ['Colecciono monedas antiguas, p. ej. reales y maravedíes.'], neverLearned: [] }
  },
  {
    name: 'a street with a short form',
    language: 'German',
    messages: ['Unser Laden ist in der Goethestr. 12 in Weimar, seit ca. zwanzig Jahren. Entwirf ein Schild.'],
    right: [fact(0, 'Unser Laden ist in der Goethestr. 12 in Weimar')],
    expect: { learned: ['Unser Laden ist in der Goethestr. 12 in Weimar, seit ca. zwanzig Jahren.'], neverLearned: [] }
  },
  // No blanks between words
  {
    name: 'one lasting sentence of three',
    language: 'Chinese',
    messages: ['今天好热。我在武汉当公交车司机。晚饭吃什么好？'],
    right: [fact(0, '我在武汉当公交车司机')],
    expect: { learned: ['我在武汉当公交车司机。'], neverLearned: [] }
  },
  {
    name: 'sons and a flower shop',
    language: 'Japanese',
    messages: ['息子が二人いて、福岡で花屋をしています。看板を考えてください！'],
    right: [fact(0, '福岡で花屋をしています')],
    expect: { learned: ['息子が二人いて、福岡で花屋をしています。'], neverLearned: [] }
  },
  // Limits
  {
    name: 'a limit after the comma',
    language: 'Portuguese',
    messages: ['Posso trabalhar aos sábados, mas só de quinze em quinze dias.'],
    right: [fact(0, 'Posso trabalhar aos sábados')],
    expect: { learned: ['Posso trabalhar aos sábados, mas só de quinze em quinze dias.'], neverLearned: [] }
  },
  {
    name: 'a limit that follows',
    language: 'English',
    messages: ['I eat cheese. Just not blue cheese. What pizza should I order?'],
    right: [fact(0, 'I eat cheese. Just not blue cheese.')],
    expect: { learned: ['I eat cheese. Just not blue cheese.'], neverLearned: [] }
  },
  {
    name: 'an exception at the start',
    language: 'Italian',
    messages: ['Tranne la domenica, mi alzo sempre alle sei.'],
    right: [fact(0, 'mi alzo sempre alle sei')],
    expect: { learned: ['Tranne la domenica, mi alzo sempre alle sei.'], neverLearned: [] }
  },
  // Several facts, emoji
  {
    name: 'an introduction with a trade',
    language: 'Italian',
    messages: ['Mi chiamo Davide. Abito a Trieste e restauro mobili. Mi scrivi una biografia breve?'],
    right: [fact(0, 'Mi chiamo Davide.'), fact(0, 'Abito a Trieste e restauro mobili.')],
    expect: { learned: ['Mi chiamo Davide.', 'Abito a Trieste e restauro mobili.'], neverLearned: [] }
  },
  {
    name: 'name first, work later',
    language: 'Turkish',
    messages: ['Adım Elif.', 'İzmir’de seramik atölyem var. Bana bir logo fikri ver.', 'Çok güzel, teşekkürler!'],
    right: [fact(0, 'Adım Elif.'), fact(1, 'İzmir’de seramik atölyem var.')],
    expect: { learned: ['Adım Elif.', 'İzmir’de seramik atölyem var.'], neverLearned: [] }
  },
  {
    name: 'emoji inside the sentence',
    language: 'Spanish',
    messages: ['Tengo un loro 🦜 que se llama Kiko. ¿Qué fruta le doy?'],
    right: [fact(0, 'Tengo un loro 🦜')],
    expect: { learned: ['Tengo un loro 🦜 que se llama Kiko.'], neverLearned: [] }
  },
  {
    name: 'emoji of a family',
    language: 'Russian',
    messages: ['У нас трое детей 👨‍👩‍👧‍👦! Куда поехать летом?'],
    right: [fact(0, 'У нас трое детей')],
    expect: { learned: ['У нас трое детей 👨‍👩‍👧‍👦!'], neverLearned: [] }
  },
  // About others, passing, sensitive
  {
    name: 'about the father',
    language: 'German',
    messages: ['Mein Vater sammelt Briefmarken aus Togo. Hast du eine Geschenkidee?'],
    right: [fact(0, 'Mein Vater sammelt Briefmarken aus Togo.', { about: 'other' })],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'late for the train',
    language: 'English',
    messages: ["I'm running late for the 9:40 train, which platform is it?"],
    right: [fact(0, "I'm running late for the 9:40 train", { lasting: false })],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a treatment',
    language: 'Turkish',
    messages: ['İki yıldır HIV tedavisi görüyorum. Seyahatte ilaçlarımı nasıl taşımalıyım?'],
    right: [fact(0, 'İki yıldır HIV tedavisi görüyorum.', { sensitive: true })],
    expect: { learned: [], neverLearned: [] }
  },
  // Retractions, typed and pinned
  {
    name: 'no choir any more',
    language: 'French',
    known: [{ id: 'm6', fact: 'Je chante dans une chorale.' }],
    messages: ['Je ne chante plus dans la chorale.'],
    right: [fact(0, 'Je ne chante plus dans la chorale.', { lasting: false, replaces: ['m6'] })],
    expect: { learned: [], replaced: ['m6'], neverLearned: [] }
  },
  {
    name: 'that is not so any more',
    language: 'English',
    known: [{ id: 'm7', fact: 'I take the 7:15 bus to work.' }, { id: 'm8', fact: 'I own a boat.' }],
    messages: ["That thing about the 7:15 bus isn't true any more."],
    right: [fact(0, "That thing about the 7:15 bus isn't true any more.", { lasting: false, replaces: ['m7'] })],
    expect: { learned: [], replaced: ['m7'], neverLearned: [] }
  },
  {
    name: 'typed long ago, changed since',
    language: 'Japanese',
    known: [{ id: 't2', fact: '犬を飼っています。', typed: true }],
    messages: ['犬は去年亡くなり、今は猫を飼っています。'],
    right: [fact(0, '今は猫を飼っています', { replaces: ['t2'] })],
    expect: { learned: [], proposed: ['犬は去年亡くなり、今は猫を飼っています。'], replaced: [], neverLearned: [] }
  },
  {
    name: 'pinned, but no longer so',
    language: 'Portuguese',
    known: [{ id: 'p2', fact: 'Estudo direito.', pinned: true }],
    messages: ['Mudei de curso e agora estudo enfermagem.'],
    right: [fact(0, 'Mudei de curso e agora estudo enfermagem.', { replaces: ['p2'] })],
    expect: { learned: [], proposed: ['Mudei de curso e agora estudo enfermagem.'], replaced: [], neverLearned: [] }
  },
  // URLs and markup
  {
    name: 'beside a link to reviews',
    language: 'Turkish',
    messages: ['Bodrum’da pansiyon işletiyorum. Şu sayfayı özetle: https://pansiyon.example/yorumlar'],
    right: [fact(0, 'Bodrum’da pansiyon işletiyorum.')],
    expect: { learned: [], proposed: ['Bodrum’da pansiyon işletiyorum.'], neverLearned: [] }
  },
  {
    name: 'beside a marked-up table',
    language: 'Spanish',
    messages: ['| Día | Turno |\n|---|---|\n| lunes | noche |\n\nSoy celadora en un hospital de Murcia.'],
    right: [fact(0, 'Soy celadora en un hospital de Murcia.')],
    expect: { learned: [], proposed: ['Soy celadora en un hospital de Murcia.'], neverLearned: [] }
  },
  // Pasted without marks, inline code, asked to remember
  {
    name: 'a note pasted as it is',
    language: 'French',
    messages: [
      'Corrige cette lettre :\n\nChère Madame,\nje suis étudiante à Rennes et je cherche un stage. Je parle trois ' +
      'langues.\nCordialement,\nInès'
    ],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a group chat pasted as it is',
    language: 'Japanese',
    messages: ['このやり取りを要約してください。\n鈴木：来月、仙台に引っ越します。\n高橋：私は仙台出身ですよ。'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  },
  {
    name: 'a connection string in inline code',
    language: 'English',
    messages: ['We connect with `postgres://app:Qw8-zebra-Lamp@db/main`, and it hangs. I look after the data team.'],
    right: [fact(0, 'I look after the data team.')],
    expect: { learned: [], proposed: ['I look after the data team.'], neverLearned: ['Qw8-zebra-Lamp'] }
  },
  {
    name: 'asked to keep in mind',
    language: 'Italian',
    messages: ['Ricordati che sono mancino. Quale mouse mi conviene?'],
    right: [fact(0, 'sono mancino')],
    expect: { learned: ['Ricordati che sono mancino.'], neverLearned: [] }
  },
  {
    name: 'the password of the bank',
    language: 'Chinese',
    messages: ['网银密码是Hua_9531!xm，帮我记一下。我在厦门开茶馆。'],
    right: [fact(0, '网银密码是Hua_9531!xm', { sensitive: true }), fact(0, '我在厦门开茶馆。')],
    expect: { learned: ['我在厦门开茶馆。'], neverLearned: ['Hua_9531!xm'] }
  },
  {
    name: 'curly quotation marks',
    language: 'English',
    messages: ['The ad says “I only rent to couples.” Is that legal? I live alone.'],
    right: [fact(0, 'I live alone.')],
    expect: { learned: ['I live alone.'], neverLearned: ['I only rent to couples'] }
  },
  // Further languages and scripts
  {
    name: 'drives a tram in Gothenburg',
    language: 'Swedish',
    messages: ['Jag kör spårvagn i Göteborg. Vad är öppet sent på kvällen?'],
    right: [fact(0, 'Jag kör spårvagn i Göteborg.')],
    expect: { learned: ['Jag kör spårvagn i Göteborg.'], neverLearned: [] }
  },
  {
    name: 'does not drink beer',
    language: 'Czech',
    messages: ['Ne, pivo nepiju. Co jiného se hodí ke guláši?'],
    right: [fact(0, 'pivo nepiju')],
    expect: { learned: ['Ne, pivo nepiju.'], neverLearned: [] }
  },
  {
    name: 'lives in Dhaka',
    language: 'Bengali',
    messages: ['আমি ঢাকায় থাকি। আজ কী রান্না করব?'],
    right: [fact(0, 'আমি ঢাকায় থাকি')],
    expect: { learned: ['আমি ঢাকায় থাকি।'], neverLearned: [] }
  },
  {
    name: 'an engineer in Da Nang',
    language: 'Vietnamese',
    messages: ['Tôi là kỹ sư xây dựng ở Đà Nẵng. Viết giúp tôi một email xin nghỉ phép.'],
    right: [fact(0, 'Tôi là kỹ sư xây dựng')],
    expect: { learned: ['Tôi là kỹ sư xây dựng ở Đà Nẵng.'], neverLearned: [] }
  },
  {
    name: 'lives in Shiraz',
    language: 'Persian',
    messages: ['من در شیراز زندگی می‌کنم. برای آخر هفته کجا بروم؟'],
    right: [fact(0, 'من در شیراز زندگی می‌کنم.')],
    expect: { learned: ['من در شیراز زندگی می‌کنم.'], neverLearned: [] }
  },
  {
    name: 'eats no fish',
    language: 'Finnish',
    messages: ['Ei, en syö kalaa. Mitä muuta voisin tarjota vieraille?'],
    right: [fact(0, 'en syö kalaa')],
    expect: { learned: ['Ei, en syö kalaa.'], neverLearned: [] }
  },
  {
    name: 'a teacher in Szeged',
    language: 'Hungarian',
    messages: ['Tanár vagyok Szegeden. Segíts egy dolgozatot összeállítani.'],
    right: [fact(0, 'Tanár vagyok Szegeden.')],
    expect: { learned: ['Tanár vagyok Szegeden.'], neverLearned: [] }
  },
  {
    name: 'moved to Bandung',
    language: 'Indonesian',
    known: [{ id: 'm1', fact: 'Saya tinggal di Jakarta.' }],
    messages: ['Saya sudah pindah dari Jakarta ke Bandung.'],
    right: [fact(0, 'ke Bandung', { replaces: ['m1'] })],
    expect: { learned: ['Saya sudah pindah dari Jakarta ke Bandung.'], replaced: ['m1'], neverLearned: [] }
  },
  {
    name: 'if I were taller',
    language: 'Romanian',
    messages: ['Dacă aș fi mai înalt, aș juca baschet la Cluj. Ce înălțime au jucătorii?'],
    right: [],
    expect: { learned: [], neverLearned: [] }
  }
]
