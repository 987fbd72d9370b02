/** How templates mark thoughts in the text of an answer. */
interface Thoughts {
  open: string
  ends: readonly string[]
  /** Only where the answer begins. */
  isAtBegin?: true
}

const between = (open: string, ...ends: string[]): Thoughts => ({ open, ends })

export const THOUGHTS: readonly Thoughts[] = [
  between('<think>', '</think>'),
  between('<thinking>', '</thinking>'),
  between('<thought>', '</thought>'),
  between('<reasoning>', '</reasoning>'),
  between('[THINK]', '[/THINK]'),
  between('<seed:think>', '</seed:think>'),
  between('◁think▷', '◁/think▷'),
  between('<|START_THINKING|>', '<|END_THINKING|>'),
  between('<|begin_of_thought|>', '<|end_of_thought|>'),
  between('<|channel>thought', '<channel|>'),
  between('<|channel|>analysis<|message|>', '<|end|>', '<|return|>', '<|call|>', '<|start|>', '<|channel|>'),
  // Harmony whose tokens were left out. The word behind follows without a blank.
  { open: 'analysis', ends: ['assistantfinal', 'assistantcommentary'], isAtBegin: true }
]

/** Closing marks that also count without an opening one, which the template wrote into the prompt. */
export const LONE_ENDS: readonly string[] =
  ['</think>', '</thinking>', '</thought>', '[/THINK]', '</seed:think>', '◁/think▷', '<|END_THINKING|>', '<|end_of_thought|>']
