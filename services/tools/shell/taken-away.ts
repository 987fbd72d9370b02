const TAKEN_SHOWN = 20

/** Says to a model what its command has lost. */
export const takenAwayText = (taken: string[]): string =>
  'Programs outside the box would obey what the command has put there, so it was taken away: ' +
  `${taken.slice(0, TAKEN_SHOWN).join(' ')} If the user wants it, run the command with "outside": true and a reason.`
