/** Begins a message of ours among those of the user: it has the user's role, since no other may stand there, and says so. */
export const NOTE_OPENING = '[Not written by the user.'
