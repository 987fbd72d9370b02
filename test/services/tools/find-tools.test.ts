import { FORGETTING as heldForgetting } from './cases/forget-held.ts'
import { FORGETTING } from './cases/forget-open.ts'
import t from 'tap'
import type { Entry } from '../../../services/brain/memory.ts'
import type { Tool } from '../../../services/contracts/tool.ts'
import { briefDefinitions } from '../../../services/tools/deferred/describe-tool.ts'
import { createToolSearch } from '../../../services/tools/deferred/tool-index.ts'
import { stemsIn } from '../../../services/tools/deferred/tool-words.ts'
import { namesEntry } from '../../../services/tools/memory/said-words.ts'
import type { MergedTool } from '../../../services/tools/sources.ts'
import { missedQuestions, type Question, questions, realTools, unreadQuestions } from '../../harness/tool-lists.ts'
import { tool } from './helper.ts'

const all = realTools()
const search = createToolSearch()
const found = async (query: string, tools: Tool[] = all) => (await search(tools, query)).map(({ model: { name } }) => name)

t.test('no question shares a word with the names of its tools', async (t) => {
  for (const { question, tools } of [...questions(), ...unreadQuestions()]) {
    const words = new Set(stemsIn(question))
    for (const name of tools) t.notOk(stemsIn(name).some((word) => words.has(word)), `${question}: ${name}`)
  }
})

t.test('of 273 tools the right one is among the first five for 3 of 4 questions, and for 2 of 5 that nobody had read', async (t) => {
  const shareFound = async (asked: Question[]) => 1 - (await missedQuestions(asked)).length / asked.length
  const [known, unread] = [await shareFound(questions()), await shareFound(unreadQuestions())]
  t.ok(known >= 0.75, `${known} of the questions`)
  t.ok(unread >= 0.4, `${unread} of the questions that nobody had read`)
})

t.test('among 500 tools a search takes less than 5 ms, and other events are handled while they are read', async (t) => {
  const many = [0, 1].flatMap((copy) =>
    realTools().map((each) => ({ ...each, model: { ...each.model, name: `${each.model.name}_${copy}` } }))).slice(0, 500)
  let turns = 0
  let isRead = false
  const turn = () => {
    turns++
    if (!isRead) setImmediate(turn)
  }
  setImmediate(turn)
  await search(many, 'anything')
  isRead = true
  t.ok(turns >= 5, `${turns} turns of the event loop`)
  const before = process.cpuUsage()
  for (const { question } of questions()) await search(many, question)
  const { user, system } = process.cpuUsage(before)
  t.ok((user + system) / 1_000 / questions().length < 5, `${(user + system) / 1_000} ms of the processor for all`)
})

t.test('a name in the spelling of people is that name: GitHub is not Git', async (t) => {
  const servers = (await search(all, 'who may look at this on GitHub')).slice(0, 5).map((tool) => (tool as MergedTool).source)
  t.same(new Set(servers), new Set(['github']))
})

t.test('tools are found by their own words, too', async (t) => {
  let hits = 0
  for (const { model: { name }, source } of all) {
    if ((await found(`${name.replace(/[_-]/g, ' ')} ${source}`)).slice(0, 5).includes(name)) hits++
  }
  t.ok(hits >= 265, `${hits} of ${all.length}`)
  t.equal((await found(' API-Move-Page '))[0], 'API-move-page', 'a name is the tool of that name')
})

t.test('names in every spelling, forms of words, accents and scripts without blanks are words', async (t) => {
  t.same(stemsIn('createPullRequests get_HTMLPage list-all.files'), ['creat', 'pull', 'request', 'get', 'html', 'page', 'list', 'file'])
  const tools = [
    tool('a1', undefined, { model: { description: '天気を調べる' } }),
    tool('b2', undefined, { model: { description: 'Löscht eine Übersicht' } }),
    tool('wipeDisk', undefined, { model: { description: 'x' } })
  ]
  t.equal((await found('今日の天気', tools))[0], 'a1')
  t.equal((await found('ubersicht', tools))[0], 'b2')
  t.equal((await found('the disks', tools))[0], 'wipeDisk')
  t.same(await found('constructor __proto__', tools), [])
  t.same(await found('…', tools), [])
})

t.test('definitions take a bounded place, the best most of it, and say how to get the rest', async (t) => {
  const long = 'text '.repeat(50)
  const large = (name: string) => tool(name, undefined, {
    model: {
      description: 'Word '.repeat(1_600),
      schema: {
        type: 'object',
        required: ['a'],
        properties: Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`a${n}`, { type: 'string', description: long }]))
      } as never
    }
  })
  const small = tool('small')
  const shown = briefDefinitions([large('one'), large('two'), small])
  t.ok(JSON.stringify(shown).length < 9_000)
  t.match(shown.slice(0, 2), [{ name: 'one', shortened: /"one" alone/ }, { name: 'two', shortened: /"two" alone/ }])
  t.match(shown[2], { name: 'small', input: { type: 'object' } })
  t.notOk('shortened' in shown[2])
  const notion = all.filter(({ model: { name } }) => /^API-(?:patch-page|post-page|move-page)$/.test(name))
  t.ok(JSON.stringify(briefDefinitions(notion)).length < 9_000)
  t.equal(briefDefinitions(notion.slice(0, 1))[0].name, notion[0].model.name)
})

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
    t.ok(namesEntry(wish, entry(fact), { entries: [], threadId: 'new' }), wish)
    for (const other of others) t.notOk(namesEntry(other, entry(fact), { entries: [], threadId: 'new' }), other)
  }
  for (const one of LANGUAGES) {
    for (const other of LANGUAGES) {
      for (const text of other.slice(2)) t.notOk(namesEntry(text, entry(one[0]), { entries: [], threadId: 'new' }), `${text} / ${one[0]}`)
    }
  }
})

for (const [half, cases, mostAsked, mostWrong] of [['seen', FORGETTING, 3, 0], ['unseen', heldForgetting, 2, 2]] as const) {
  t.test(`of ${cases.length} wishes to forget (${half}) few wait for a person, and little else goes with a careless model`, async (t) => {
    let [asked, wrong] = [0, 0]
    for (const { facts, request, gone } of cases) {
      const entries = facts.map((fact, n) => ({ ...entry(fact), id: String(n) }))
      for (const [n, each] of entries.entries()) {
        const isMeant = namesEntry(request, each, { entries, threadId: 'old' })
        if (gone.includes(n)) asked += Number(!isMeant)
        else wrong += Number(isMeant)
      }
    }
    t.ok(asked <= mostAsked && wrong <= mostWrong, `${asked} are only proposed, ${wrong} others would go`)
  })
}

t.test('a wish that names its topic by a verb is understood', async (t) => {
  for (
    const [fact, wish] of [
      ['I live in Oslo.', 'Forget where I live.'],
      ['Ich arbeite bei Siemens.', 'Vergiss, wo ich arbeite.'],
      ['Я живу в Осло.', 'Забудь, где я живу.']
    ]
  ) t.ok(namesEntry(wish, entry(fact), { entries: [], threadId: 'new' }), wish)
})

t.test('what was said in the same conversation is named by any words', async (t) => {
  t.ok(namesEntry('Forget that.', entry('I like tea.'), { entries: [], threadId: 'old' }))
  t.notOk(namesEntry('Forget that.', entry('I like tea.'), { entries: [], threadId: 'new' }))
})

t.test('a preference is named by its key, too', async (t) => {
  const preference: Entry = { ...entry('I write with Helix.'), kind: 'preference', key: 'editor', value: 'Helix' }
  t.ok(namesEntry('My editor is nobody’s business.', preference, { entries: [], threadId: 'new' }))
})
