import t from 'tap'
import type { Question } from '../../../schemas/questions.ts'
import { checkAnswers } from '../../../services/approvals/questions/check-answers.ts'
import { createValidator } from '../../../services/tools/input-validator.ts'
import { createAskUser } from '../../../services/tools/questions/ask-user.ts'

const options = [{ value: 'md', label: 'Markdown' }, { value: 'pdf', label: 'PDF' }]
const refusal = (questions: Question[], answers: Record<string, string | string[]>) => {
  try {
    checkAnswers(questions, answers)
    return undefined
  } catch (error) {
    return error as { code: string, message: string, details: unknown }
  }
}

t.test('an answer is an option, unless the question is free or has none', async (t) => {
  const format = { id: 'format', text: 'Which format?', options }
  t.equal(refusal([format], { format: 'md' }), undefined)
  t.match(refusal([format], { format: 'PDF' }), {
    code: 'ERR_INVALID_ANSWERS',
    message: 'The question "format" (Which format?) has no option "PDF"; its options are "md", "pdf".',
    details: [{ path: 'answers.format', message: /no option "PDF"/ }]
  })
  t.equal(refusal([{ ...format, free: true }], { format: 'a web page' }), undefined)
  t.equal(refusal([{ id: 'name', text: 'Name?' }], { name: 'Ada' }), undefined)
})

t.test('several answers only where several may be given, none twice', async (t) => {
  const format = { id: 'format', text: 'Which format?', options }
  t.match(refusal([format], { format: ['md'] }), { message: /"format".* takes one answer/ })
  const several = { ...format, multi: true }
  t.equal(refusal([several], { format: ['md', 'pdf'] }), undefined)
  t.equal(refusal([several], { format: 'md' }), undefined)
  t.equal(refusal([several], { format: [] }), undefined)
  t.match(refusal([several], { format: ['md', 'md'] }), { message: /"md" twice/ })
  t.match(refusal([several], { format: ['md', 'txt'] }), { message: /no option "txt"/ })
})

t.test('a required question needs an answer, and an unknown one takes none; every mistake is named', async (t) => {
  const questions: Question[] = [
    { id: 'a', text: 'A?', required: true },
    { id: 'b', text: 'B?' },
    { id: 'c', text: 'C?', multi: true, required: true }
  ]
  t.equal(refusal(questions, { a: 'x', c: ['y'] }), undefined)
  t.match(refusal(questions, { b: 'x', c: [], constructor: 'x' }), {
    message: /no question "constructor".*"a".*needs an answer.*"c".*needs an answer/,
    details: [{ path: 'answers.constructor' }, { path: 'answers.a' }, { path: 'answers.c' }]
  })
})

t.test('a model is told what is wrong with its questions', async (t) => {
  const validate = createValidator()
  const ask = (...questions: object[]) => validate(createAskUser(), { questions })
  const question = { id: 'q', text: 'Well?' }
  t.equal(ask({ ...question, options, multi: true, free: true, required: true }), undefined)
  t.match(ask(question, question), /two questions have the id "q"/)
  t.match(ask({ ...question, options: [options[0], options[0]] }), /two options of the question "q" have the value "md"/)
  t.match(ask({ ...question, text: 'Delete\u001b[2K it?' }), /"q" has control characters/)
  t.match(ask({ ...question, options: [{ value: 'yes', label: '\u202eon' }] }), /"q" has control characters or overrides/)
  t.equal(ask({ ...question, text: 'First line\n\tsecond, \u200fעברית' }), undefined)
  t.match(ask(), /must NOT have fewer than 1 items/)
  t.match(ask(...Array.from({ length: 21 }, (_, n) => ({ id: `q${n}`, text: 'Well?' }))), /must NOT have more than 20 items/)
  t.match(ask({ ...question, options: Array.from({ length: 51 }, (_, n) => ({ value: `${n}`, label: `${n}` })) }), /more than 50 items/)
  t.match(ask({ ...question, id: '__proto__' }), /questions.0.id must match pattern/)
  t.match(ask({ ...question, text: 'x'.repeat(2_001) }), /more than 2000 characters/)
  t.match(ask({ ...question, kind: 'date' }), /has no property "kind"/)
})
