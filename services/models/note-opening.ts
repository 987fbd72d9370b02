/** The opening of a message of the service that has the role `user`, because providers accept no other role at that position. */
export const NOTE_OPENING = '[Not written by the user.'
