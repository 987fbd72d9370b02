/** What a server asks cannot be shown to the user; the message is a clause that completes "it cannot be asked: ". */
export class FormRefused extends Error {}
