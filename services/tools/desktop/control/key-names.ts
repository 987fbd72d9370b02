/**
 * Maps common names of modifiers and keys to the names in robotjs. Keys that some X11 keyboard layouts lack are left out, because robotjs
 * exits its process on them.
 */
const MODIFIERS: Record<string, string> = {
  ctrl: 'control',
  control: 'control',
  shift: 'shift',
  alt: 'alt',
  option: 'alt',
  cmd: 'command',
  command: 'command',
  meta: 'command',
  super: 'command',
  win: 'command',
  windows: 'command'
}
const SHORT_NAMES = { return: 'enter', esc: 'escape', del: 'delete', ins: 'insert', pgup: 'pageup', pgdn: 'pagedown', plus: '+' }
const KEY_NAMES = ('enter tab escape space backspace delete insert up down left right home end pageup pagedown printscreen ' +
  'f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12').split(' ')
const KEYS: Record<string, string> = {
  ...Object.fromEntries(KEY_NAMES.map((name) => [name, name])),
  ...Object.fromEntries(['up', 'down', 'left', 'right'].map((name) => [`arrow${name}`, name])),
  ...SHORT_NAMES
}
/** Matches characters that have their own key. Other characters need modifiers, which differ between keyboard layouts. */
const CHARACTER = /^[a-z0-9`=;',./\\[\]+-]$/

interface Combination {
  key: string
  modifiers: string[]
}

/** Parses a combination such as "enter", "ctrl+s" or "cmd+shift+4". Throws an Error that lists the valid names. */
export function readKeys (keys: string): Combination {
  const parts = keys.trim().toLowerCase().split(/\s*\+\s*/)
  // In "ctrl++" and "+", the last plus sign is the key.
  if (parts.length > 1 && parts.at(-1) === '' && parts.at(-2) === '') parts.splice(-2, 2, '+')
  const last = parts.pop()!
  const modifiers = parts.map((name) => {
    if (!Object.hasOwn(MODIFIERS, name)) {
      throw new Error(`${JSON.stringify(name)} is no modifier. There are ctrl, shift, alt and cmd (also super, win).`)
    }
    return MODIFIERS[name]
  })
  const key = lookUp(KEYS, last) ?? lookUp(MODIFIERS, last) ?? (CHARACTER.test(last) ? last : undefined)
  if (key !== undefined) return { key, modifiers }
  throw new Error(
    `${JSON.stringify(last)} is no key. There are letters, digits, ${
      Object.keys(KEYS).join(', ')
    }. For a character that needs shift, combine its key with shift, or type it as text.`
  )
}

const lookUp = (names: Record<string, string>, name: string) => Object.hasOwn(names, name) ? names[name] : undefined

/** Returns the text with \n as line ends. Throws an Error that names the characters that cannot be typed. */
export function readText (text: string, platform: NodeJS.Platform): string {
  const typed = text.replace(/\r\n?/g, '\n')
  // Robotjs uses 8 bits of each character on X11, and 16 bits elsewhere.
  const isX11 = platform === 'linux'
  // eslint-disable-next-line no-control-regex
  const untypable = isX11 ? /[^\n\t\x20-\x7e]/u : /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]|[^\u0000-\uffff]|\p{Cs}/u
  const found = [...new Set([...typed].filter((character) => untypable.test(character)))]
  if (found.length === 0) return typed
  const list = found.slice(0, 10).map((character) => JSON.stringify(character)).join(' ')
  throw new Error(
    `Nothing was typed, for ${list} cannot be: ${
      isX11 ? 'on this desktop only ASCII can' : 'emoji and control characters cannot'
    }. Leave them out, or paste them from a place that has them.`
  )
}
