import t from 'tap'
import { Type } from '@sinclair/typebox'
import { oneOf } from '../../../schemas/common.ts'
import { looseValuesIn } from '../../../services/lib/nearly-json.ts'
import { quoteFinder } from '../../../services/lib/quotes.ts'
import { isFiller } from '../../../services/lib/fillers.ts'
import { systemClock } from '../../../services/lib/clock.ts'
import { askStructured, createReplyModel } from '../../../services/models/index.ts'
import { defineQuestion } from '../../../services/models/advice/helper-question.ts'
import { unmetered } from '../../harness/meter.ts'

const question = defineQuestion({
  name: 'sorting',
  mostTokens: 200,
  task: 'Sort the letter of the last message.',
  asked: Type.Object({
    kind: oneOf(['private_letter', 'bill', 'other'], 'What it is. other when unsure'),
    sender: Type.String({ description: 'Who wrote it, copied from it. "" when it has no sender' }),
    score: Type.Number({ description: 'From 0 to 1, how sure you are. 0 when unsure' }),
    urgent: Type.Boolean({ description: 'Whether it must be answered soon. false when it says nothing of it' }),
    pages: Type.Union([Type.Integer(), Type.Null()], { description: 'How many pages it has. null when it does not say so' }),
    names: Type.Array(Type.String(), { maxItems: 3, description: 'People in it. [] when it names none' }),
    dates: Type.Array(
      Type.Object({
        day: Type.String({ description: 'A day, as YYYY-MM-DD. "" when it is not clear' }),
        about: oneOf(['payment', 'visit'], 'What the day is for. visit when unsure')
      }),
      { description: 'Days that it names. [] when it names none' }
    )
  }),
  empty: { kind: 'other', sender: '', score: 0, urgent: false, pages: null, names: [], dates: [] },
  full: {
    kind: 'bill',
    sender: 'Waterworks Trondheim',
    score: 0.9,
    urgent: true,
    pages: 2,
    names: ['Gunhild'],
    dates: [{ day: '2031-05-06', about: 'payment' }]
  }
})
const read = (answer: unknown, text = 'A letter of Ada.') =>
  question.read(typeof answer === 'string' ? answer : JSON.stringify(answer), text)

t.test('each field of an answer is read by itself', async (t) => {
  const answer = { kind: 'bill', sender: 'Ada', score: 'very', urgent: 'true', pages: '4', names: ['Bo', 3, null, 'N/A'], mood: 'glad' }
  t.same(read(answer), { kind: 'bill', sender: 'Ada', urgent: true, pages: 4, names: ['Bo', '3'] })
  t.same(read({ kind: 'letter', pages: 2.5, names: 'Bo', dates: { day: '2026-01-02', about: '?' } }), {
    names: ['Bo'],
    dates: [{ day: '2026-01-02' }]
  })
  t.same(read({ names: ['a1', 'a2', 'a3', 'a4'] }), { names: ['a1', 'a2', 'a3'] }, 'no more entries than were asked for')
  t.same(read({ score: '85%', pages: '1,5' }), { score: 0.85 })
})

t.test('choices are compared without case, blanks, quotes and the marks between their words', async (t) => {
  for (const kind of ['Private_Letter', ' private letter ', '"private-letter"', 'PRIVATE LETTER.', ['private_letter']]) {
    t.same(read({ kind }), { kind: 'private_letter' }, JSON.stringify(kind))
  }
  for (const kind of ['private_letter | bill | other', 'letter', '', 3, null, {}]) t.same(read({ kind }), {}, JSON.stringify(kind))
})

t.test('fillers, and copies of the question, are no advice', async (t) => {
  const fillers = ['', ' ', 'N/A', 'none', 'None.', '"null"', 'NIL', 'undefined', 'unknown', 'string', '<string>', '-', '...', '"—"', 'TBD',
    'not applicable', 'Not specified', '[none]', '(none)', '`none`', '{}', '<|im_end|>', 'none</s>', 'keine', 'なし', '无', '「なし」', 'нет']
  for (const sender of fillers) {
    t.ok(isFiller(sender), sender)
    t.same(read({ sender, names: [sender], dates: [{ day: sender }] }), {}, JSON.stringify(sender))
  }
  const copies = ['sender', '<sender>', 'Your sender', 'Who wrote it, copied from it', 'Waterworks Trondheim', '2031-05-06',
    'Sort the letter of the last message', 'Answer with the JSON object only']
  for (const sender of copies) t.same(read({ sender }), {}, sender)
  t.same(read({ sender: 'Waterworks Trondheim' }, 'Sender: Waterworks Trondheim'), { sender: 'Waterworks Trondheim' }, 'it stands there')
  for (const said of ['Nona', 'Knut', 'No. 5', 'nothing but the truth', 'Null Island', 'A. Unknown', '42']) {
    t.same(read({ sender: said }), { sender: said }, said)
  }
})

t.test('an answer is found in what stands around it, and read as far as it goes', async (t) => {
  const answers = [
    'Sure! Here is it:\n```json\n{"kind": "bill", "sender": "Ada"}\n```\nAnything else?',
    "{'kind': 'bill', 'sender': 'Ada',}",
    '{kind: bill, sender: "Ada"}',
    '{"kind": "bill" "sender": "Ada"}',
    '{"kind": "bill", // a comment\n "sender": "Ada"}',
    '{"kind":"bill","sender":"Ada","names":["Bo',
    '{"kind":"bill","sender":"Ada","dates":[{"day":',
    '{"kind":"bill","sender":"Ada","urg',
    '{"answer": {"kind": "bill", "sender": "Ada"}}',
    '[{"kind": "bill", "sender": "Ada"}]',
    '{"Kind": "BILL", "SENDER": "Ada"}',
    'A set {of words} and {"kind":"bill","sender":"Ada"}',
    '{"type":"object"}\n{"kind":"bill","sender":"Ada"}'
  ]
  for (const answer of answers) t.same(read(answer), { kind: 'bill', sender: 'Ada' }, answer)
  for (const answer of ['', 'I cannot.', '{', '[]', '{"kind', '{ }']) t.same(read(answer) ?? {}, {}, answer)
  t.equal(read('I cannot.'), undefined)
  t.same(read({ type: 'object', properties: { sender: { type: 'string' }, kind: { enum: ['bill'] } } }), {}, 'the schema itself')
  t.same(read(`{"a":${'['.repeat(5_000)}`), {}, 'nested without end')
})

t.test('what models write as JSON is read as they mean it', async (t) => {
  for (const value of [{ a: 'x "y" {z}', b: [1, -2.5e3, true, null, { c: '\u{1F600}\n\\' }] }, [['a'], ['b']], { '': {} }]) {
    for (const indent of [0, 2]) t.same(looseValuesIn(JSON.stringify(value, null, indent)), [value])
  }
  t.same(looseValuesIn('{"a": "he said "no" to it", "b": 1}'), [{ a: 'he said "no" to it', b: 1 }])
  t.same(looseValuesIn('{"a": True, "b": None, "c": +5}'), [{ a: true, b: null, c: 5 }])
  t.same(looseValuesIn('see [1] and [note] and {x}'), [])
  t.equal(Object.getPrototypeOf(looseValuesIn('{"__proto__": {"a": 1}}')[0]), Object.prototype)
})

t.test('a quote is found whatever its case, blanks, quotation marks and final mark, at the bounds of words', async (t) => {
  const find = quoteFinder('Please check the folder  “Ænima” every\nweekday at 9 – or 朝9時に. Café at 8.')
  t.equal(find('every weekday at 9'), 'every\nweekday at 9')
  t.equal(find('"Every weekday at 9."'), 'every\nweekday at 9')
  t.equal(find('folder "ænima"'), 'folder  “Ænima”')
  t.equal(find('9時'), '9時')
  t.equal(find('cafe\u0301'), 'Café')
  t.equal(find('9 - or'), '9 – or')
  for (const words of ['week', 'day at 9', '', '.', 'e', 'every day', 'N/A']) t.equal(find(words), undefined, words)
})

t.test('thoughts and tokens of a template are no part of an answer', async (t) => {
  const answers = [
    '<think>{"kind": "other"}</think>{"kind": "bill", "sender": "Ada"}',
    '{"kind": "other"}\n</think>\n{"kind": "bill", "sender": "Ada"}',
    '[THINK]{"kind": "other"}[/THINK]{"kind": "bill", "sender": "Ada"}</s>',
    '<|im_start|>assistant\n{"kind": "bill", "sender": "Ada"}<|im_end|>\n<|im_start|>user\n{"kind": "other"}'
  ]
  for (const text of answers) {
    const model = createReplyModel({ modelId: 'm', clock: systemClock, reply: () => ({ text }) })
    const { signal } = new AbortController()
    const call = { load: async () => ({ id: 'm', model }), meter: unmetered, limitMs: 10_000, signal, clock: systemClock }
    t.same(await askStructured({ ...question, ...call, text: 'A letter' }), { value: { kind: 'bill', sender: 'Ada' } }, text)
  }
})
