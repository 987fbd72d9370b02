/** The server cannot be reached: the message is a clause, such as "it cannot be reached: nothing answers there". */
export class Unreachable extends Error {}
