/** The tool by which a run gives its structured answer. It is the run's own: no other tool of that name can be called beside it. */
export const ANSWER_TOOL = 'answer'
/** The beginning of its description. */
export const ANSWER_OPENING = 'Gives the answer of this run to the application'
