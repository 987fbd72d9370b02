/** The uses of models: `fast` for analysis and evaluation, `capable` for execution, `vision` for screenshots. */
export type Role = 'fast' | 'capable' | 'vision'
