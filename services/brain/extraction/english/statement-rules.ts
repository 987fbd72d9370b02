const NAME = "\\p{Lu}[\\p{L}'.-]*(?: (?:[\\p{Lu}][\\p{L}'.-]*|van|von|de|der|da|del|la|bin|al)){0,4}"
const PLACE = '(?:the )?\\p{Lu}[^,;]{1,60}(?:, \\p{Lu}[^,;]{1,40}){0,2}'
/** Names of software: users "move to" them without living there. */
const SOFTWARE =
  '(?:Linux|Ubuntu|Debian|Fedora|Arch|NixOS|Mac|Windows|Android|i?OS|Chrome|Firefox|Safari|Vim|Neovim|Emacs|Helix|VS|Visual|Zed|Jet|' +
  'IntelliJ|Python|Type|Java|Rust|Go|Node|Deno|Bun|React|Vue|Svelte|Angular|Next|Postgre|MySQL|SQLite|Mongo|Redis|AWS|Azure|GCP|' +
  'Google|Docker|Kubernetes|Git|Slack|Teams|Notion|Obsidian|C\\+|C#|Kotlin|Swift|Tailwind|Fastify|Express|Django|Rails|Laravel|ESM|' +
  'npm|version|V\\d)'
/** A value, told apart from a state ("broken", "late again") by a capital, a digit or a sign. */
const VALUE = '(?:(?:on |in |at )?(?:an? |the )?)?(?=[^\\s,;]*[\\p{Lu}\\d@/])[^,;]{1,80}(?:, \\p{Lu}[^,;]{1,40}){0,2}'
const PRODUCT = '\\p{Lu}[\\p{L}\\p{N}.+#-]*(?: (?:\\p{Lu}|\\d)[\\p{L}\\p{N}.+#-]*){0,3}'
const I = '[Ii]'
const IM = "[Ii](?:'m| am)"
const MY = '[Mm]y'

/** A form of English statements about oneself. */
export interface Rule {
  pattern: RegExp
  /** The statement counts only after a greeting. */
  isGreeting?: true
  /** The topic, when only the newest statement on it holds. */
  topic?: string
  /** Groups `key` and `value` of the pattern make a preference; without a group `key` this is the key. */
  preference?: string
}
const rule = (source: string, rest: Omit<Rule, 'pattern'> = {}): Rule => ({ pattern: new RegExp(`^${source}$`, 'u'), ...rest })

/** Patterns that are unlikely to mean anything else. They are few on purpose: what they are not sure of they leave. */
export const RULES: Rule[] = [
  rule(`${MY} (?:full )?name(?:'s| is) ${NAME}`, { topic: 'name' }),
  rule(`${IM} (?!O[Kk]\\b)${NAME}`, { isGreeting: true, topic: 'name' }),
  rule(`(?:[Yy]ou (?:can|may) |[Jj]ust )?[Cc]all me (?<value>${NAME})`, { preference: 'name' }),
  rule(`${I}(?: now| currently)? live (?:in|near) ${PLACE}`, { topic: 'home' }),
  rule(`${I}(?:'ve| have)?(?: just| recently)? moved (?:to|from ${PLACE} to) (?!(?:the )?${SOFTWARE})${PLACE}`, { topic: 'home' }),
  rule(`${IM}(?: originally)? from ${PLACE}`),
  rule(`${I}(?: now)? work (?:at|for) ${PLACE}`, { topic: 'employer' }),
  rule(`${I}(?: now)? work as an? [^,;]{2,60}`, { topic: 'profession' }),
  rule(`${IM} (?:allergic to [^,;]{2,60}|(?:a )?(?:vegetarian|vegan)|(?:left|right)-handed)`),
  rule(
    `${IM} an? (?:(?:retired|senior|junior|freelance|software|backend|frontend|web|data|mechanical|electrical|civil|primary school|` +
      'high school) ){0,2}(?:engineer|developer|programmer|designer|teacher|nurse|chef|pilot|architect|accountant|lawyer|journalist|' +
      'photographer|carpenter|electrician)'
  ),
  rule(`${IM} \\d{1,3} years old`, { topic: 'age' }),
  rule(`${MY} (?<key>(?:favou?rite|preferred) [\\p{L} -]{2,40}?) (?:is|are) (?:now )?(?<value>[^,;]{1,80})`, { preference: '' }),
  rule(`${MY} (?:time ?zone|pronouns|native language|birthday) (?:is|are) (?:now )?(?:${VALUE}|\\p{L}+/\\p{L}+)`),
  rule(`${MY} (?:wife|husband|partner|sister|brother|mother|father|son|daughter|dog|cat)(?:'s name is| is (?:called|named)) ${NAME}`),
  rule(`${I} (?:really )?prefer (?!(?:it|this|that|them|these|those|you|the|option|version)\\b)[^;]{2,100}`),
  rule(`${I} (?:always |mostly )?use ${PRODUCT}(?: (?:at|for) (?:work|home|school|everything)| every ?day| daily)?`),
  rule(`${I} speak (?:(?:fluent|native|some|only|basic) )?\\p{Lu}[\\p{L}]{3,}(?:(?:, | and )(?:a little )?\\p{Lu}\\p{L}{3,}){0,4}`),
  rule(`${I} have (?:an?|one|two|three|four|five) (?:dogs?|cats?|kids?|child|children|sons?|daughters?)(?: (?:called|named) ${NAME})?`)
]
