/** Custom formats of the schemas: rules that no portable regular expression can state. */
export const FORMATS: Record<string, (text: string) => boolean> = {
  'thread-id': (text) => !/[/\p{Cc}\p{Cs}]/u.test(text),
  'not-blank': (text) => /\S/.test(text)
}
