// The half that the rules may be tuned with.
import type { Dialogue, SpokenLanguage } from './spoken.ts'

export const spokenTuned: SpokenLanguage[] = [
  {
    language: 'English',
    statements: [
      {
        says: "I'm allergic to peanuts.",
        topics: ['food', 'dinner', 'cooking', 'snack', 'restaurant'],
        ask: 'What should I cook for dinner tonight?',
        isHealth: true
      },
      {
        says: 'My sister Joan lives in Aberdeen.',
        topics: ['family', 'visit', 'Scotland'],
        ask: 'Find me a train to Aberdeen on Friday.'
      },
      {
        says: 'I restore old accordions for a living.',
        topics: ['work', 'job', 'instruments', 'music'],
        ask: 'Write a short bio about my work for the website.'
      }
    ],
    junk: ['I am so tired today.', 'My neighbour thinks the moon landing was staged.'],
    unrelated: 'How do I reverse a list in Python?'
  },
  {
    language: 'German',
    statements: [
      {
        says: 'Ich habe Zöliakie und vertrage kein Gluten.',
        topics: ['Essen', 'Kochen', 'Backen', 'Restaurant', 'food'],
        ask: 'Was kann ich heute zum Kochen einkaufen?',
        isHealth: true
      },
      {
        says: 'Unser Hund heißt Bruno.',
        topics: ['Haustier', 'pet', 'dog'],
        ask: 'Schreib ein Gedicht über unseren Hund.'
      },
      {
        says: 'Ich unterrichte Physik an einem Gymnasium in Kassel.',
        topics: ['Beruf', 'Arbeit', 'Schule', 'work', 'teaching'],
        ask: 'Entwirf eine Prüfung für meine Physikklasse.'
      }
    ],
    junk: ['Heute regnet es hier ohne Pause.', 'Mein Chef mag keinen Kaffee.'],
    unrelated: 'Wie hoch ist der Mount Everest?'
  },
  {
    language: 'French',
    statements: [
      {
        says: 'Je suis diabétique.',
        topics: ['santé', 'repas', 'dessert', 'sucre', 'cuisine', 'food'],
        ask: 'Propose-moi un dessert pour dimanche.',
        isHealth: true
      },
      {
        says: 'Ma fille Louise joue du violoncelle.',
        topics: ['famille', 'musique', 'cadeau', 'music'],
        ask: 'Quelles partitions de violoncelle conviennent à une débutante ?'
      },
      {
        says: "J'habite à Grenoble depuis dix ans.",
        topics: ['ville', 'domicile', 'home', 'Alpes'],
        ask: 'Que faire ce week-end autour de Grenoble ?'
      }
    ],
    junk: ["J'ai mal dormi cette nuit.", 'Mon collègue déteste les lundis.'],
    unrelated: 'Traduis ce paragraphe en anglais.'
  },
  {
    language: 'Spanish',
    statements: [
      {
        says: 'Soy intolerante a la lactosa.',
        topics: ['comida', 'receta', 'queso', 'leche', 'food'],
        ask: 'Dame una receta para la cena.',
        isHealth: true
      },
      {
        says: 'Trabajo de noche como enfermera en Sevilla.',
        topics: ['trabajo', 'horario', 'sueño', 'work', 'schedule'],
        ask: 'Hazme un horario de estudio para esta semana.'
      },
      {
        says: 'Mi coche es un Seat Ibiza de 2009.',
        topics: ['coche', 'taller', 'car'],
        ask: '¿Qué aceite lleva mi coche?'
      }
    ],
    junk: ['Hoy tengo mucha prisa.', 'Mi vecina quiere mudarse a Lugo.'],
    unrelated: '¿Cuántos planetas hay?'
  },
  {
    language: 'Russian',
    statements: [
      {
        says: 'У меня аллергия на орехи.',
        topics: ['еда', 'ужин', 'готовка', 'рецепт', 'food'],
        ask: 'Что приготовить на ужин?',
        isHealth: true
      },
      {
        says: 'Мы с женой живём в Томске.',
        topics: ['дом', 'город', 'home'],
        ask: 'Какая погода завтра в Томске?'
      },
      {
        says: 'Я пишу на языке Rust уже пять лет.',
        topics: ['программирование', 'код', 'programming'],
        ask: 'Напиши пример кода для чтения файла.'
      }
    ],
    junk: ['Сегодня я очень устал.', 'Мой брат не любит зиму.'],
    unrelated: 'Сколько километров до Луны?'
  },
  {
    language: 'Arabic',
    statements: [
      {
        says: 'عندي حساسية من السمك.',
        topics: ['طعام', 'عشاء', 'مطعم', 'طبخ', 'food'],
        ask: 'اقترح وصفة للعشاء الليلة.',
        isHealth: true
      },
      {
        says: 'أسكن في مدينة طنجة مع والدتي.',
        topics: ['بيت', 'عائلة', 'home'],
        ask: 'ما هي الأماكن الجميلة في طنجة؟'
      },
      {
        says: 'أعمل مهندسا في شركة سيارات.',
        topics: ['عمل', 'هندسة', 'work'],
        ask: 'اكتب رسالة عن خبرتي في الهندسة.'
      }
    ],
    junk: ['أنا متعب اليوم.', 'صديقي يكره الشتاء.'],
    unrelated: 'كم عدد الكواكب؟'
  },
  {
    language: 'Chinese',
    statements: [
      { says: '我对花生过敏。', topics: ['饮食', '晚饭', '做饭', '餐厅', 'food'], ask: '今天晚饭做什么好？', isHealth: true },
      { says: '我在成都开了一家书店。', topics: ['工作', '生意', '书', 'work'], ask: '帮我给书店写一张海报。' },
      { says: '我女儿今年上小学三年级。', topics: ['家庭', '孩子', '教育', 'family'], ask: '推荐几本适合小学生的书。' }
    ],
    junk: ['今天好热。', '我同事不喜欢下雨。'],
    unrelated: '月亮离地球多远？'
  },
  {
    language: 'Japanese',
    statements: [
      {
        says: '私は卵アレルギーです。',
        topics: ['食事', '夕食', '料理', 'レシピ', 'food'],
        ask: '今夜の夕食は何がいいですか。',
        isHealth: true
      },
      { says: '札幌で猫を二匹飼っています。', topics: ['ペット', '動物', 'pet', '猫'], ask: '猫のおもちゃを探しています。' },
      { says: '毎朝五時に起きて走っています。', topics: ['運動', 'ランニング', '習慣', 'exercise'], ask: 'ランニングの計画を立ててください。' }
    ],
    junk: ['今日はとても眠いです。', '友達は納豆が嫌いです。'],
    unrelated: '光の速さを教えてください。'
  }
]

export const dialoguesTuned: Dialogue[] = [
  {
    language: 'English',
    name: 'an answer to a question of the assistant',
    day: '2026-03-10',
    lines: [
      'Plan a menu for my week.',
      { assistant: 'Gladly. Is there anything that you cannot eat?' },
      'Shellfish, it gives me hives.',
      { assistant: 'Here is the menu. Anything else?' },
      'No, that was all.'
    ],
    points: [{ message: 1, span: 'Shellfish, it gives me hives.', isHealth: true }],
    known: ['Shellfish, it gives me hives.'],
    never: ['that was all', 'Plan a menu'],
    junk: ['No, that was all.']
  },
  {
    language: 'German',
    name: 'a day by its distance',
    day: '2026-03-11',
    lines: [
      'Ich ziehe nächsten Freitag nach Leipzig.',
      { assistant: 'Viel Glück!' },
      'Danke, ich bin gerade etwas nervös.'
    ],
    points: [{ message: 0, span: 'Ich ziehe nächsten Freitag nach Leipzig.', on: '2026-03-20' }],
    known: ['Ich ziehe nächsten Freitag nach Leipzig.'],
    never: ['nervös'],
    junk: ['Danke, ich bin gerade etwas nervös.']
  },
  {
    language: 'French',
    name: 'a key among facts',
    day: '2026-04-02',
    lines: [
      'Mon mot de passe est Chaton2024!x et je suis comptable à Nantes.',
      { assistant: 'Ne me donnez pas de mot de passe.' },
      'Désolé. Je suis comptable à Nantes.',
      'Mon numéro de client est 88213347.'
    ],
    points: [
      { message: 1, span: 'Je suis comptable à Nantes.' },
      { message: 2, span: 'Mon numéro de client est 88213347.' }
    ],
    known: ['Je suis comptable à Nantes.'],
    never: ['Chaton2024', '88213347'],
    junk: ['Mon numéro de client est 88213347.']
  },
  {
    language: 'Russian',
    name: 'an answer in one word',
    day: '2026-05-05',
    lines: [
      'Помоги выбрать подарок.',
      { assistant: 'Кем вы работаете?' },
      'Учителем.',
      { assistant: 'А какой у вас бюджет на этот раз?' },
      'Две тысячи рублей.'
    ],
    points: [{ message: 1, span: 'Учителем.' }],
    known: ['Учителем.'],
    never: ['Две тысячи'],
    junk: ['Две тысячи рублей.']
  },
  {
    language: 'Japanese',
    name: 'health that is plain, and of others',
    day: '2026-06-01',
    lines: ['来週の月曜日に手術を受けます。', { assistant: 'お大事に。' }, '私は高血圧です。', '母は糖尿病です。'],
    points: [
      { message: 1, span: '私は高血圧です。', isHealth: true },
      { message: 0, span: '来週の月曜日に手術を受けます。', on: '2026-06-08', isHealth: true }
    ],
    known: ['来週の月曜日に手術を受けます。', '私は高血圧です。'],
    never: ['母は'],
    junk: ['母は糖尿病です。']
  }
]
