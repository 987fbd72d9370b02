/** Returns the name of a file or folder in its path. */
export const lastPart = (path: string): string => path.replace(/[/\\]+$/, '').split(/[/\\]/).at(-1) || path
