/** Returns the last part of a path: the name of the file or folder. */
export const lastPart = (path: string): string => path.replace(/[/\\]+$/, '').split(/[/\\]/).at(-1) || path
