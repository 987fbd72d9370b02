import t from 'tap'
import { findOwnWords, searchable } from '../../../services/brain/extraction/own-words.ts'
import { verifyPointers } from '../../../services/brain/extraction/pointers.ts'
import { holdsSecret } from '../../../services/brain/extraction/secret-words.ts'

const cut = (message: string) => searchable(message).sentences.map(({ text }) => text)
const find = (message: string, span: string) => {
  const found = findOwnWords(searchable(message), span)
  return 'problem' in found ? found.problem : found.isUnsure ? ['unsure', found.text] : found.text
}

t.test('sentences end as their language ends them, and never after an abbreviation or before a small letter', async (t) => {
  for (
    const sentences of [
      ['I live in St. Petersburg.', 'Read notes.txt please.'],
      ['Dr. Weiß ist mein Arzt.', 'Er wohnt am 3. Mai in Ulm bzw. Augsburg.'],
      ['The U.S. is big.', 'I was there, e.g. in Ohio.'],
      ['J. R. R. Tolkien is my favourite author.'],
      ['Vivo en la Av. Libertad.', '¿Y tú?', '¡Hola!'],
      ['我住在北京。', '你呢？', '很好！'],
      ['私は京都に住んでいます。', '元気ですか。'],
      ['मैं दिल्ली में रहता हूँ।', 'और आप?'],
      ['أعيش في عمان.', 'وأنت؟'],
      ['Μένω στην Πάτρα.', 'Πού μένεις;', 'Πες μου.'],
      ['Well... so I moved to Bergen.', 'Nice, isn’t it?!'],
      ['I earn 3.5 times more at 9 a.m. than before.', 'Good.'],
      ['ฉันอยู่เชียงใหม่']
    ]
  ) t.strictSame(cut(sentences.join(' ')), sentences)
  t.same(cut('我住在北京。你呢？'), ['我住在北京。', '你呢？'])
  t.same(cut('- I like tea\n- I like rum\n\n1. Ich wohne in Ulm\n'), ['I like tea', 'I like rum', 'Ich wohne in Ulm'])
  t.same(cut('Hello there\n\nand then I left.'), ['Hello there', 'and then I left.'])
  t.same(cut('I live in\nthe north of Rome.'), ['I live in\nthe north of Rome.'])
  t.same(cut('Nice 🎉! 🎉 I won.'), ['Nice 🎉!', '🎉 I won.'])
})

t.test('a span stands for the whole sentences around it, unchanged', async (t) => {
  t.equal(find('I like coffee, but only before noon. OK?', 'I like coffee'), 'I like coffee, but only before noon.')
  t.equal(find('Como pescado. Pero nunca crudo. ¿Qué pido?', 'pescado. Pero nunca'), 'Como pescado. Pero nunca crudo.')
  t.equal(find('I’m from Cork.', "I'm from Cork"), 'I’m from Cork.')
  t.equal(find('I’m from Cork', "I'm from Cork."), 'I’m from Cork')
  t.equal(find('J’ai un cafe\u0301 a\u0300 Nantes.', 'café à Nantes'), 'J’ai un café à Nantes.')
  t.equal(find('Ich wohne in Ulm. Ich wohne in Ulm.', 'wohne in Ulm'), 'Ich wohne in Ulm.')
})

t.test('words that stand nowhere, or in more than one place, are no words', async (t) => {
  t.match(find('I live in Rome.', 'I live in Romeo'), /in no message/)
  t.match(find('I live in Romeo.', 'I live in Rome'), /in no message/, 'words are not cut')
  t.equal(find('I live in Rome.', 'i live in rome'), 'I live in Rome.', 'case does not count')
  for (const nothing of ['', ' ', '.', 'I']) t.match(find('I live in Rome. I like it.', nothing), /in no message/)
  t.match(find('I live in Rome. My aunt lives in Rome.', 'in Rome'), /too few/)
  t.match(find('One is. Two is. Three is. Four is.', 'One is. Two is. Three is. Four is.'), /too many/)
})

t.test('quotations, code and quoted lines of any kind are not the user’s own words', async (t) => {
  for (
    const message of [
      'He said "I like tea." Really.',
      'He said “I like tea.” Really.',
      'Er sagt: „I like tea.“ Echt.',
      'Il dit « I like tea. » Vraiment.',
      'Ze zegt ‚I like tea.‘ Echt.',
      '彼は「I like tea.」と言った。',
      '他写道『I like tea.』。',
      '他写道＂I like tea.＂。',
      '他写道《I like tea.》。',
      '彼は〝I like tea.〟と言った。',
      '彼は〝I like tea.〞と言った。',
      'She said ❝I like tea.❞ Really.',
      'She said ❛I like tea.❜ Really.',
      'Look:\n&gt; I like tea.',
      "The sign says 'I like tea.' in red.",
      'Look:\n> I like tea.',
      '```\nI like tea.\n```',
      'Run `I like tea.` now.',
      '    I like tea.',
      '<p>I like tea.</p>',
      '| a | I like tea. |',
      'Best,\nEva\n---\nI like tea.',
      '$ echo I like tea.'
    ]
  ) t.match(find(message, 'I like tea'), /quotation/, message)
  t.equal(find('זה דו"ח שלי. אני גר בחיפה.', 'אני גר בחיפה'), 'אני גר בחיפה.', 'a mark within a word begins no quotation')
  t.equal(find('I am 6\'2" tall. I like tea.', 'I like tea'), 'I like tea.')
  t.equal(find('"Hi" he said. I like tea.', 'I like tea'), 'I like tea.')
})

t.test('what may be pasted is unsure', async (t) => {
  const sentence = 'I like tea.'
  for (
    const message of [
      `${sentence} ${'And so on. '.repeat(60)}`,
      `${sentence} See https://tea.example.`,
      `${sentence} See www.tea.example.`,
      `# Tea\n\n${sentence}`,
      `**Tea**\n\n${sentence}`,
      `Run \`make tea\`. ${sentence}`,
      `Translate this:\n${sentence}`,
      `訳して：\n${sentence}`,
      `Eva: Hello.\nTom: Hello.\n\n${sentence}`,
      `- ${sentence}\n- I like rum.`
    ]
  ) t.strictSame(find(message, sentence), ['unsure', sentence], message)
  t.equal(find(`Two things: one and two. ${sentence}`, sentence), sentence)
  t.equal(find(`${sentence} Translate this:\nHola.`, sentence), sentence, 'above the text that a line introduces')
})

t.test('what looks like a key, a card or a password is a secret, in any language', async (t) => {
  const SECRETS = [
    'Mein Bankpasswort ist sonnenblume.',
    'My order has 12 digits: 123456789012.',
    'Mein Benutzerkennwort ist sonnenblume.',
    'Der Türcode ist 4711.',
    'Meine Handypin ist 4711.',
    'Meine Geheimnummer ist 4711.',
    'Mijn bankwachtwoord is zonnebloem.',
    '私のPINは4711です。',
    'Wi-Fiのpasswordはsakura99です。',
    '我的PIN是4711。',
    '내 PIN은 4711이야.',
    'ﾊﾟｽﾜｰﾄﾞはsakuraです。',
    '私のＰＩＮは４７１１です。',
    'My pass\u00ADword is sunflower.',
    'My seed phrase is apple river stone.',
    'The recovery words are otter lamp copper.',
    'La frase de recuperación es nutria lámpara cobre.',
    '我的助记词是苹果河流。',
    'Karte 4111.1111.1111.1111.',
    'sk-test-51Hq8ZtXw2LmN0pRvB7cYd is it',
    'the token ghp_16C7e42F292c6912E7710c838347Ae178B4a works',
    'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl',
    'postgres://ada:lovelace@db.example/x',
    'Mi tarjeta es 4111 1111 1111 1111.',
    'Karta 5500-0000-0000-0004',
    'بطاقتي ٤١١١١١١١١١١١١١١١',
    'IBAN GB82 WEST 1234 5698 7654 32',
    'iban: fr1420041010050500013m02606',
    'Mein Passwort ist Hund.',
    'Le mot de passe : soleil',
    'la contraseña es gato',
    'Пароль такой: кошка',
    '密码是春天',
    'パスワードは桜です',
    '비밀번호는 봄',
    'şifrem bahar',
    'My PIN is 4821.',
    'It is Tr0ub4dor&3x now',
    '用Zima2024!kot登录',
    'Correct_Horse_77b',
    'd41d8cd98f00b204e9800998ecf8427e',
    'AKIAIOSFODNN7EXAMPLE',
    'x9Kq2Lm7Vb4Tz8Wd1Rf6',
    'The license is ABCD-1234-EFGH-5678.',
    'Der Code der Haustür ist 4821.',
    'Код домофона 48210',
    'Ο κωδικός μου είναι γάτα'
  ]
  const HARMLESS = [
    'My name is Crispin Turpin.',
    'I collect pins and spin wool.',
    'Ich spiele gern mit Strickmustern.',
    'I moved to the U.S. in 2015.',
    'My phone is +49 170 1234567.',
    'Write to ada.lovelace1815@example.com.',
    'I use PostgreSQL-16 and TypeScript5.',
    'Ich fahre einen VW-Golf7 und wohne in 50667 Köln.',
    'I was born on 1990-05-12 at 10:30.',
    'I speak C++ and C#.',
    'Windows-11 runs on my ThinkPad-X220.',
    'Мне 35 лет, живу в доме 12/3.',
    'I passed the exam, my passport is blue.',
    'Amo le parole crociate.',
    '我有2只猫和13条鱼。',
    'I like COVID-19 jokes.',
    'My zip code is 50667.',
    'I write code since 1999, mostly in C.'
  ]
  for (const text of SECRETS) t.ok(holdsSecret(text), text)
  for (const text of HARMLESS) t.notOk(holdsSecret(text), text)
  t.match(find('My PIN is 4821. I like tea.', 'My PIN is 4821'), /key, a card number or a password/)
})

t.test('the value of a preference is told in the words of the user, also after letters whose cases differ in length', async (t) => {
  const message = 'İstanbul’da İLK editörüm Vim oldu.'
  const pointer = {
    message: 0,
    span: message,
    kind: 'preference',
    key: 'editör',
    about: 'user',
    lasting: true,
    sensitive: false,
    replaces: []
  }
  const { found } = verifyPointers({ messages: [{ text: message }] }, { pointers: [{ ...pointer, value: 'vim' }] }, () => undefined)
  t.match(found, [{ kind: 'preference', value: 'Vim' }])
})
