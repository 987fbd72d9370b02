import { foldAdvice, isFiller, withoutTemplateTokens } from '../../lib/fillers.ts'

/** Greetings, and words that models say before anything else. They count only alone or before a punctuation mark. */
const GREETINGS = [
  'hi', 'hello', 'hey', 'hello there', 'hi there', 'welcome', 'good morning', 'good day', 'good evening', 'sure', 'certainly', 'of course',
  'ok', 'okay',
  'hallo', 'guten tag', 'guten morgen', 'guten abend', 'gerne', 'natürlich', 'bonjour', 'salut', 'bien sûr', 'hola', 'buenos días', 'claro',
  'olá', 'bom dia', 'ciao', 'buongiorno', 'certo', 'привет', 'здравствуйте', 'конечно', 'merhaba', 'tabii', 'こんにちは', 'はい', '你好', '您好', '好的',
  '안녕하세요', 'مرحبا', 'नमस्ते', 'שלום'
]
/** Beginnings of offers to help, of refusals, and of sentences that are true of any conversation. */
const PHRASES = [
  'how (?:can|may) i (?:help|assist)', "i(?: am|'m) (?:sorry|an ai|a language model|unable|here to)",
  "i (?:cannot|can't|could not|do not have|don't have)",
  'as an ai', 'sorry,', 'no (?:messages|conversation|content) (?:was|were)', 'the user and the assistant had a conversation',
  'wie kann ich', 'es tut mir leid', 'ich kann (?:leider )?(?:nicht|keine)', 'comment puis-je', 'je suis désolée?', 'je ne peux pas',
  '¿?(?:cómo|en qué) puedo', 'lo siento', 'no puedo', 'como posso', 'desculpe', 'não posso', 'come posso', 'mi dispiace', 'non posso',
  'чем могу', 'извините', 'к сожалению', 'я не могу', 'üzgünüm', 'size nasıl', '申し訳', '抱歉', '对不起', '對不起', '죄송', 'عذرا', 'आपकी कैसे'
]
const TALK = new RegExp(`^(?:(?:${GREETINGS.join('|')})(?:$|\\s*[!,.\\u3001\\u3002\\uFF01\\uFF0C])|(?:${PHRASES.join('|')}))`, 'iu')
/**
 * A text is checked for repetition if it has at least `MANY` words or sentences. `MOST` is the largest share of the words that can be one
 * word, and the smallest share of the sentences that must differ.
 */
const MANY = 6
const MOST = 0.4

/** True if a text says nothing about its subject: a filler, a greeting, a refusal, JSON, or the same words over and over. */
export function isEmptyTalk (text: string): boolean {
  if (isFiller(text) || /^\s*[{[]/.test(text)) return true
  const folded = foldAdvice(withoutTemplateTokens(text)).replaceAll('\u2019', "'")
  return TALK.test(folded) || isRepetition(folded)
}

function isRepetition (text: string): boolean {
  if (/(.)\1{15}/u.test(text)) return true
  const words = text.match(/[\p{L}\p{N}]+/gu) ?? []
  const counts = Object.values(Object.groupBy(words, (word) => word)).map((same) => same!.length)
  const sentences = text.split(/[.!?\u3002]\s*/u)
  return (words.length >= MANY && Math.max(...counts) > words.length * MOST) ||
    (sentences.length >= MANY && new Set(sentences).size < sentences.length * MOST)
}
