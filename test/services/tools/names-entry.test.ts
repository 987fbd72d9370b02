import t from 'tap'
import { namesEntry } from '../../../services/tools/memory/said-words.ts'
import type { Entry } from '../../../services/brain/memory.ts'

const entry = (fact: string): Entry => ({
  id: '1',
  kind: 'fact',
  state: 'known',
  fact,
  createdAt: 0,
  said: 0,
  source: { threadId: 'old', message: 0, span: fact }
})

/** A fact, a wish to forget it, and sentences about something else that share words with it. */
const LANGUAGES: Array<[fact: string, wish: string, ...others: string[]]> = [
  [
    'I am allergic to nuts and live in the north.',
    'Forget my allergy.',
    'What does that page say about the price in euros?',
    'I like this page.'
  ],
  ['Remember that I like green tea.', 'I no longer drink tea.', 'Remember that I like this page.', 'What did they do with all of that?'],
  [
    'Ich bin gegen Nüsse allergisch.',
    'Vergiss meine Allergie.',
    'Was steht auf dieser Seite, und ist das nicht gegenwärtig?',
    'Ich mag die Seite.'
  ],
  ['Je suis allergique aux noix.', 'Oublie mon allergie.', 'Que dit cette page ?', 'Je suis dans le train avec les enfants.'],
  ['Soy alérgica a las nueces.', 'Olvida lo de mi alergia, las nueces.', '¿Qué dice esta página?', 'Quiero saber qué son estas cosas.'],
  ['Sou alérgico a nozes.', 'Esquece as minhas nozes.', 'O que diz esta página?', 'Eu gosto muito desta página.'],
  ['Sono allergico alle noci.', 'Dimentica la mia allergia.', 'Che cosa dice questa pagina?', 'Mi piace questa pagina, sono contento.'],
  ['Ik ben allergisch voor noten.', 'Vergeet mijn allergie.', 'Wat zegt deze pagina voor ons?', 'Ik ben met het boek bezig.'],
  ['Jag är allergisk mot nötter.', 'Glöm min allergi.', 'Vad säger den här sidan?', 'Jag gillar den här sidan.'],
  ['Jestem uczulony na orzechy.', 'Zapomnij o orzechach.', 'Co jest na tej stronie?', 'Jestem już w domu.'],
  ['У меня аллергия на орехи.', 'Забудь про мою аллергию.', 'Что есть на этой странице?', 'Мне нравится эта страница, у меня вопрос.'],
  ['Fıstığa alerjim var.', 'Alerjimi unut.', 'Bu sayfada ne var?', 'Benim için daha çok var.'],
  ['Έχω αλλεργία στα καρύδια.', 'Ξέχασε την αλλεργία μου.', 'Τι είναι αυτό στη σελίδα;', 'Έχω αυτό για μετά.'],
  ['لدي حساسية من المكسرات.', 'انس موضوع الحساسية.', 'ماذا في هذه الصفحة؟', 'أنا لدي سؤال عن الفاتورة.'],
  ['מיכל אלרגית לאגוזים.', 'תשכח שמיכל אלרגית.', 'מה כתוב בדף הזה?', 'אני רוצה את זה גם.'],
  ['मुझे मूंगफली से एलर्जी है।', 'मेरी एलर्जी भूल जाओ।', 'यह पेज क्या है?', 'मुझे यह पेज पसंद है।'],
  ['저는 견과류 알레르기가 있어요.', '알레르기 얘기는 잊어 줘.', '이 페이지에 뭐라고 쓰여 있어요?', '저는 이 페이지가 좋아요.'],
  ['我对坚果过敏。', '忘记坚果那件事。', '这个网页上写了什么？', '我对这个网页很满意。'],
  ['私はナッツのアレルギーがあります。', 'アレルギーのことは忘れて。', 'このページには何と書いてありますか。', '私はこのページが好きです。'],
  ['ฉันแพ้ถั่ว', 'ลืมเรื่องแพ้ถั่วของฉัน', 'หน้านี้เขียนว่าอะไร', 'ฉันชอบหน้านี้']
]

t.test('words name what they share a telling word with, and nothing else', async (t) => {
  for (const [fact, wish, ...others] of LANGUAGES) {
    t.ok(namesEntry(wish, entry(fact), 'new'), wish)
    for (const other of others) t.notOk(namesEntry(other, entry(fact), 'new'), other)
  }
  for (const one of LANGUAGES) {
    for (const other of LANGUAGES) {
      for (const text of other.slice(2)) t.notOk(namesEntry(text, entry(one[0]), 'new'), `${text} / ${one[0]}`)
    }
  }
})

t.test('a wish that names its topic by a verb is understood', async (t) => {
  for (
    const [fact, wish] of [
      ['I live in Oslo.', 'Forget where I live.'],
      ['Ich arbeite bei Siemens.', 'Vergiss, wo ich arbeite.'],
      ['Я живу в Осло.', 'Забудь, где я живу.']
    ]
  ) t.ok(namesEntry(wish, entry(fact), 'new'), wish)
})

t.test('what was said in the same conversation is named by any words', async (t) => {
  t.ok(namesEntry('Forget that.', entry('I like tea.'), 'old'))
  t.notOk(namesEntry('Forget that.', entry('I like tea.'), 'new'))
})

t.test('a preference is named by its key, too', async (t) => {
  const preference: Entry = { ...entry('I write with Helix.'), kind: 'preference', key: 'editor', value: 'Helix' }
  t.ok(namesEntry('My editor is nobody’s business.', preference, 'new'))
})
