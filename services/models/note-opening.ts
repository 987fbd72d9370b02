/** The opening of a message of the service that has the role `user`, because providers accept no other role at that position. */
export const NOTE_OPENING = '[Not written by the user.'

/** The opening of a message that passes a comment on the task to a run that had already begun. */
export const COMMENT_OPENING = 'The user adds: '
