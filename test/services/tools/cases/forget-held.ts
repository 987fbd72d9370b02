/** What a user told earlier, what is to be forgotten, and the places of the facts that must go; the others must stay. */
export const FORGETTING: Array<{ language: string, facts: string[], request: string, gone: number[] }> = [
  /** English: two marathons; two of the same trade. */
  {
    language: 'English',
    facts: [
      'I am training for the Berlin marathon.',
      'I ran the Boston marathon in 2019.',
      'My room for Berlin is booked in the hotel Aurora.',
      'In Boston I needed just under four hours.',
      'I have a colleague in Berlin, her name is Mia.'
    ],
    request: "Forget the Berlin marathon, I won't run it. The room is cancelled too.",
    gone: [0, 2]
  },
  {
    language: 'English',
    facts: [
      'My dentist is Dr Patel in Mill Road.',
      'My eye doctor is Dr Novak in Station Road.',
      'I see Dr Novak again in October.',
      'Dr Patel put in two crowns last year.'
    ],
    request: 'Remove all you have stored about my dentist.',
    gone: [0, 3]
  },
  /** German: two gardens; two languages. */
  {
    language: 'German',
    facts: [
      'Wir haben einen Schrebergarten am Kanal.',
      'Auf dem Balkon ziehe ich Tomaten.',
      'Im Schrebergarten stehen drei Apfelbäume.',
      'Die Tomaten gieße ich morgens.',
      'Die Pacht für den Schrebergarten ist im November fällig.'
    ],
    request: 'Den Schrebergarten gibt es nicht mehr, bitte vergiss alles dazu.',
    gone: [0, 2, 4]
  },
  {
    language: 'German',
    facts: [
      'Ich lerne seit einem Jahr Schwedisch.',
      'Ich spreche fließend Spanisch.',
      'Der Kurs in Schwedisch ist dienstags um sieben.',
      'Spanisch habe ich in Valencia gelernt.'
    ],
    request: 'Lösch bitte, was du über mein Schwedisch weißt.',
    gone: [0, 2]
  },
  /** French: two books; two children. */
  {
    language: 'French',
    facts: [
      "J'écris un roman policier.",
      "J'ai publié un recueil de poèmes en 2020.",
      'Mon roman policier se passe à Marseille.',
      'Le recueil de poèmes a reçu un petit prix.',
      'Je vis à Marseille depuis dix ans.'
    ],
    request: 'Oublie mon roman policier, je ne veux plus en entendre parler.',
    gone: [0, 2]
  },
  {
    language: 'French',
    facts: [
      'Ma fille Léa est végétarienne.',
      'Mon fils Hugo adore le poisson.',
      'Léa fait de la natation le mercredi.',
      'Hugo fait du judo le mercredi.'
    ],
    request: 'Supprime tout ce que je t’ai dit sur Hugo.',
    gone: [1, 3]
  },
  /** Spanish: two banks; two mountains. */
  {
    language: 'Spanish',
    facts: [
      'Mi cuenta para la casa está en el Banco Azul.',
      'Los ahorros los tengo en la Caja Verde.',
      'El asesor del Banco Azul se llama Ramón.',
      'La Caja Verde me paga un dos por ciento.'
    ],
    request: 'Olvídate del Banco Azul por completo.',
    gone: [0, 2]
  },
  {
    language: 'Spanish',
    facts: [
      'Subí al Teide con mi hermano.',
      'Quiero subir al Aneto el verano que viene.',
      'Para el Aneto necesito crampones nuevos.',
      'En el Teide nos llovió todo el día.',
      'Mi hermano vive en Tenerife.'
    ],
    request: 'Olvida mis planes para el Aneto.',
    gone: [1, 2]
  },
  /** Italian: two friends; two phones. */
  {
    language: 'Italian',
    facts: [
      'La mia amica Giulia lavora in banca.',
      'La mia amica Chiara lavora in teatro.',
      'Giulia compie gli anni il 3 febbraio.',
      'Chiara compie gli anni il 9 febbraio.'
    ],
    request: 'Dimentica Giulia e tutto quello che la riguarda.',
    gone: [0, 2]
  },
  {
    language: 'Italian',
    facts: [
      'Ho un telefono di lavoro con due schede.',
      'Il mio telefono privato è vecchio di sei anni.',
      'Il telefono di lavoro resta spento nel fine settimana.',
      'Voglio cambiare la batteria del telefono privato.',
      'Lavoro in un ufficio a Torino.'
    ],
    request: 'Cancella quello che sai del mio telefono di lavoro.',
    gone: [0, 2]
  },
  /** Polish: two debts; two holidays. */
  {
    language: 'Polish',
    facts: [
      'Spłacam kredyt na mieszkanie.',
      'Spłacam kredyt na samochód.',
      'Kredyt na samochód kończy się w 2028 roku.',
      'Rata za mieszkanie to 2400 złotych.'
    ],
    request: 'Zapomnij o kredycie na samochód.',
    gone: [1, 2]
  },
  {
    language: 'Polish',
    facts: [
      'W lipcu jedziemy nad jezioro Śniardwy.',
      'W ferie jeździmy do Zakopanego.',
      'Nad Śniardwami wynajmujemy domek z kominkiem.',
      'W Zakopanem uczę się jeździć na nartach.',
      'Mam żółty kajak.'
    ],
    request: 'Usuń wszystko o wyjeździe nad Śniardwy.',
    gone: [0, 2]
  },
  /** Japanese: two lessons; two relatives. */
  {
    language: 'Japanese',
    facts: [
      '火曜日に書道を習っています。',
      '金曜日に水泳を習っています。',
      '書道の先生は田中さんです。',
      '水泳のプールは家の近くにあります。'
    ],
    request: '書道のことはもう忘れてください。',
    gone: [0, 2]
  },
  {
    language: 'Japanese',
    facts: [
      '兄は京都で料理人をしています。',
      '弟は東京で大学に通っています。',
      '弟は卵アレルギーがあります。',
      '兄の店は十周年を迎えました。',
      '母は静岡に住んでいます。'
    ],
    request: '弟について覚えていることを全部消して。',
    gone: [1, 2]
  },
  /** Turkish: two shops; two people by one first name. */
  {
    language: 'Turkish',
    facts: [
      "İzmir'de bir kitapçı dükkânım var.",
      "Ağabeyimin Bursa'da bir fırını var.",
      'Kitapçı pazar günleri kapalı.',
      'Fırın sabah beşte açılıyor.'
    ],
    request: 'Kitapçı dükkânımla ilgili her şeyi unut.',
    gone: [0, 2]
  },
  {
    language: 'Turkish',
    facts: [
      'Komşum Ayşe Hanım emekli bir öğretmen.',
      'Halam Ayşe Ankara’da yaşıyor.',
      'Komşum Ayşe Hanım çiçeklerimi suluyor.',
      'Halam Ayşe her bayram baklava yapar.',
      'Ankara’ya trenle gidiyorum.'
    ],
    request: 'Komşum Ayşe Hanım hakkında bildiklerini sil, halamla ilgili olanlar kalsın.',
    gone: [0, 2]
  }
]
