/** What a user told earlier, what is to be forgotten, and the places of the facts that must go; the others must stay. */
export const FORGETTING: Array<{ language: string, facts: string[], request: string, gone: number[] }> = [
  /** English: two lakes; two jobs. */
  {
    language: 'English',
    facts: [
      'I spend every August at Lake Orta.',
      'My boat lies in a small harbour on Lake Vänern.',
      'The house on Lake Orta belongs to my aunt.',
      'I swim two kilometres a day in summer.',
      'On Lake Vänern I once caught a pike of nine kilos.'
    ],
    request: 'Forget everything about Lake Orta.',
    gone: [0, 2]
  },
  {
    language: 'English',
    facts: [
      'I worked as a baker in Leeds for six years.',
      'I now work as a nurse in Bristol.',
      'My boss at the bakery was called Mr Holt.',
      'My boss at the hospital is called Dr Shaw.'
    ],
    request: 'Please delete what you know about my time at the bakery.',
    gone: [0, 2]
  },
  /** German: two allergies; two pets. */
  {
    language: 'German',
    facts: [
      'Ich bin allergisch gegen Haselnüsse.',
      'Ich bin allergisch gegen Birkenpollen.',
      'Wegen der Haselnüsse habe ich immer ein Notfallset dabei.',
      'Im Frühjahr nehme ich Tabletten gegen den Heuschnupfen.'
    ],
    request: 'Vergiss bitte meine Allergie gegen Haselnüsse und alles, was damit zu tun hat.',
    gone: [0, 2]
  },
  {
    language: 'German',
    facts: [
      'Mein Hund heißt Bruno.',
      'Meine Katze heißt Mimi.',
      'Bruno bekommt abends Trockenfutter.',
      'Mimi mag kein Trockenfutter.',
      'Mein Bruder hat auch einen Hund, er heißt Rex.'
    ],
    request: 'Vergiss alles über Bruno.',
    gone: [0, 2]
  },
  /** French: two journeys; two people by one first name. */
  {
    language: 'French',
    facts: [
      'Je pars à Lisbonne en mai.',
      'Je pars à Oslo en octobre.',
      "L'hôtel à Lisbonne s'appelle Casa Azul.",
      'À Oslo, je dors chez une amie.',
      "Je voyage toujours en train quand c'est possible."
    ],
    request: 'Oublie tout ce qui concerne mon voyage à Lisbonne.',
    gone: [0, 2]
  },
  {
    language: 'French',
    facts: [
      'Mon voisin Paul joue du violon.',
      'Mon oncle Paul vit à Lyon.',
      'Le voisin Paul fête ses cinquante ans en juin.',
      "L'oncle Paul m'a appris à jouer aux échecs."
    ],
    request: 'Efface ce que tu sais de mon voisin Paul, mais pas de mon oncle.',
    gone: [0, 2]
  },
  /** Spanish: two instruments; two flats. */
  {
    language: 'Spanish',
    facts: [
      'Toco la guitarra desde los doce años.',
      'Estoy aprendiendo a tocar el piano.',
      'Mi guitarra es una Alhambra de segunda mano.',
      'Mi profesora de piano se llama Inés.'
    ],
    request: 'Olvida todo lo de la guitarra.',
    gone: [0, 2]
  },
  {
    language: 'Spanish',
    facts: [
      'Tengo un piso alquilado en Sevilla.',
      'El piso de Sevilla cuesta 850 euros al mes.',
      'Mis padres tienen un piso en Cádiz.',
      'En el piso de Cádiz hay dos dormitorios.'
    ],
    request: 'Borra lo que sabes de mi piso de Sevilla.',
    gone: [0, 1]
  },
  /** Italian: two cars; two courses. */
  {
    language: 'Italian',
    facts: [
      'La mia macchina è una Panda rossa.',
      'Mia moglie ha una macchina elettrica.',
      'La Panda deve fare la revisione a maggio.',
      'La macchina di mia moglie si ricarica in garage.',
      'Abitiamo a Parma.'
    ],
    request: 'Dimentica tutto sulla mia Panda.',
    gone: [0, 2]
  },
  {
    language: 'Italian',
    facts: [
      'Il lunedì ho lezione di inglese.',
      'Il giovedì ho lezione di yoga.',
      "L'insegnante di yoga si chiama Carla.",
      "L'insegnante di inglese si chiama Mark."
    ],
    request: 'Non ricordare più niente del mio corso di yoga.',
    gone: [1, 2]
  },
  /** Polish: two sisters; two sports. */
  {
    language: 'Polish',
    facts: [
      'Moja siostra Ania mieszka w Gdańsku.',
      'Moja siostra Kasia mieszka w Krakowie.',
      'Ania jest weterynarzem.',
      'Kasia ma dwoje dzieci.'
    ],
    request: 'Zapomnij wszystko o mojej siostrze Ani.',
    gone: [0, 2]
  },
  {
    language: 'Polish',
    facts: [
      'W każdą środę gram w tenisa.',
      'W każdą sobotę gram w szachy.',
      'Moją rakietę tenisową kupiłem w Poznaniu.',
      'W szachach mam ranking 1650.',
      'Pracuję w Poznaniu.'
    ],
    request: 'Usuń wszystko, co wiesz o moim tenisie.',
    gone: [0, 2]
  },
  /** Japanese: two cities; two drinks. */
  {
    language: 'Japanese',
    facts: [
      '私は大阪で生まれました。',
      '今は札幌に住んでいます。',
      '大阪の実家には犬がいます。',
      '札幌の家は駅から歩いて五分です。'
    ],
    request: '大阪についてのことは全部忘れてください。',
    gone: [0, 2]
  },
  {
    language: 'Japanese',
    facts: [
      '毎朝コーヒーを二杯飲みます。',
      '緑茶は寝る前に飲みます。',
      'コーヒーは深煎りが好きです。',
      '緑茶は静岡から取り寄せています。',
      '朝ごはんはパンです。'
    ],
    request: 'コーヒーに関することを消してください。',
    gone: [0, 2]
  },
  /** Turkish: two children; two complaints. */
  {
    language: 'Turkish',
    facts: [
      'Oğlum ilkokula gidiyor.',
      'Kızım liseye gidiyor.',
      'Oğlumun öğretmeninin adı Selma.',
      'Kızımın öğretmeninin adı Murat.'
    ],
    request: 'Oğlum hakkında bildiğin her şeyi unut.',
    gone: [0, 2]
  },
  {
    language: 'Turkish',
    facts: [
      'Sağ dizimden ameliyat oldum.',
      'Sırtım için fizik tedavi görüyorum.',
      'Diz ameliyatım geçen kasım ayındaydı.',
      'Sırt ağrım oturunca artıyor.'
    ],
    request: 'Dizimle ilgili her şeyi sil.',
    gone: [0, 2]
  }
]
