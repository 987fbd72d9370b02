import { foldedText } from '../../memory.ts'
import type { Sentence } from '../user-sentences.ts'
import { core } from './sentence-core.ts'
import { isPlain } from './statements.ts'

const END = '(?: any ?more| any longer)?$'
const DENIALS: Array<[RegExp, string]> = [
  [new RegExp(`^i (?:no longer|don't|do not|never)(?: really| actually| even)? (.+?)${END}`, 'i'), 'i $1'],
  [new RegExp(`^(?:i'm|i am) (?:not|no longer)(?: actually| really)? (.+?)${END}`, 'i'), 'i am $1'],
  [new RegExp(`^(my .+?) (is|are)(?:n't| not| no longer)(?: actually| really| now)? (.+?)${END}`, 'i'), '$1 $2 $3'],
  [/^(?:don't|do not|never|stop) call(?:ing)? me (.+)$/i, 'Call me $1'],
  [/^(?:forget|(?:don't|do not) (?:remember|assume|think)) (?:that )?((?:i|i'm|my)\b.+)$/i, '$1']
]
const FILLERS = /\b(?:now|currently|really|actually|also|just|still|recently) /g

/** Normalises a statement for comparison with the statement in a denial. */
export const bare = (fact: string): string =>
  foldedText(fact).replace(/\bi'm\b/g, 'i am').replace(/\bi've\b/g, 'i have').replace(FILLERS, '')

/** The statement that a sentence denies, in its positive form; undefined when the sentence is not a denial. */
export function denied (sentence: Sentence): string | undefined {
  const { text } = core(sentence.text)
  if (!isPlain({ ...sentence, text })) return undefined
  for (const [pattern, statement] of DENIALS) if (pattern.test(text)) return text.replace(pattern, statement)
  return undefined
}
