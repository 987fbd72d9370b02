const NAME = "\\p{Lu}[\\p{L}'.-]*(?: (?:[\\p{Lu}][\\p{L}'.-]*|van|von|de|der|da|del|la|bin|al)){0,4}"
const PLACE = '(?:the )?\\p{Lu}[^,;]{1,60}(?:, \\p{Lu}[^,;]{1,40}){0,2}'
const OWN_THINGS =
  'time ?zone|editor|city|email(?: address)?|phone(?: number)?|address|nationality|pronouns|native language|mother tongue|birthday|job|profession|company|employer|team|operating system|shell|keyboard layout|currency|car|bike|school|university|hobby|hobbies|blood type|shoe size|license plate'
const PERSONS =
  'wife|husband|partner|girlfriend|boyfriend|boss|manager|sister|brother|mother|mom|mum|father|dad|son|daughter|dog|cat|doctor|dentist|landlord|neighbou?r|best friend'
/** Names of software: users "move to" them without living there. */
const SOFTWARE =
  '(?:Linux|Ubuntu|Debian|Fedora|Arch|NixOS|Mac|Windows|Android|i?OS|Chrome|Firefox|Safari|Vim|Neovim|Emacs|Helix|VS|Visual|Zed|Jet|IntelliJ|Python|Type|Java|Rust|Go|Node|Deno|Bun|React|Vue|Svelte|Angular|Next|Postgre|MySQL|SQLite|Mongo|Redis|AWS|Azure|GCP|Google|Docker|Kubernetes|Git|Slack|Teams|Notion|Obsidian|C\\+|C#|Kotlin|Swift|Tailwind|Fastify|Express|Django|Rails|Laravel|ESM|npm|version|V\\d)'
/** A value, told apart from a state ("broken", "late again") by a capital, a digit or a sign. */
const VALUE = '(?:(?:on |in |at )?(?:an? |the )?)?(?=[^\\s,;]*[\\p{Lu}\\d@/])[^,;]{1,80}(?:, \\p{Lu}[^,;]{1,40}){0,2}'
const PRODUCT = '\\p{Lu}[\\p{L}\\p{N}.+#-]*(?: (?:\\p{Lu}|\\d)[\\p{L}\\p{N}.+#-]*){0,3}'
const ANYTHING_BUT =
  '(?!(?:it|this|that|them|these|those|you|your|yours|how|what|where|when|him|her|everything|nothing|both|all|any|some|one|most|my|our|the|option|version|variant|number|choice|answer|approach)\\b(?! \\p{Lu}))(?!(?:option|version|variant|number|choice|answer)\\b)(?!.*\\byou)(?!to (?:say|see|think|admit|bother|ask|break|be|hear|interrupt|complain|know)\\b)'
const AMONG =
  'dogs?|cats?|kids?|child|children|sons?|daughters?|brothers?|sisters?|siblings?|horses?|car|bike|motorbike|house|garden|degree|phd|allergy|dyslexia|adhd|diabetes|asthma'

export interface Rule {
  pattern: RegExp
  isGreeting?: true
  topic?: (groups: Record<string, string>) => string
  kind?: string
  preference?: (groups: Record<string, string>) => { key: string, value: string }
}
const rule = (source: string, rest: Omit<Rule, 'pattern'> = {}, flags = 'iu'): Rule => ({
  pattern: new RegExp(`^${source}$`, flags),
  ...rest
})
/** A rule that recognizes a name or place by its capital. The words "i" and "my" match in both cases. */
const named = (source: string, rest: Omit<Rule, 'pattern'> = {}) =>
  rule(source.replace(/\b([im])(?=(?:'|y\b|\b))/g, (letter) => `[${letter}${letter.toUpperCase()}]`), rest, 'u')

/** Patterns of English statements about oneself that are unlikely to mean anything else. The first match counts. */
export const RULES: Rule[] = [
  named(`my (?<which>full |first |last |given |middle )?name(?:'s| is) (?:${NAME})`, { topic: ({ which = '' }) => `${which}name` }),
  named(`i(?:'m| am) (?!O[Kk]\\b)(?:${NAME})`, { isGreeting: true }),
  named(`i(?:'m| am) called (?:${NAME})`, { topic: () => 'name' }),
  named(`(?:[Yy]ou (?:can|may) |[Jj]ust |[Pp]lease )?[Cc]all me (?<value>${NAME})`, {
    preference: ({ value }) => ({ key: 'name', value })
  }),
  named(`i(?: now| currently)? (?:live|reside) (?:in|near|at|on) ${PLACE}`, { topic: () => 'home' }),
  named(`i(?:'m| am)(?: now| currently)? (?:based|living) (?:in|near|at|on) ${PLACE}`, { topic: () => 'home' }),
  named(`i(?:'ve| have)?(?: just| recently| now)? (?:moved|relocated)(?: back)? (?:to|from ${PLACE} to) (?!(?:the )?${SOFTWARE})${PLACE}`, {
    topic: () => 'home'
  }),
  named(`i(?:'m| am)(?: originally)? from ${PLACE}`, { topic: () => 'origin' }),
  named(`i(?: now| currently)? work (?:at|for) ${PLACE}`, { topic: () => 'employer' }),
  rule('i(?: now| currently)? work as (?:an? |the )?[^,;]{2,60}', { topic: () => 'profession' }),
  rule(
    "i(?:'m| am) (?:allergic to [^,;]{2,60}|vegetarian|a vegetarian|vegan|left-handed|right-handed|colou?r-?blind|married|divorced|widowed|retired|dyslexic|diabetic|deaf|blind)"
  ),
  rule(
    "i(?:'m| am) an? (?:[\\p{L}-]+ ){0,3}(?!(?:loser|winner|monster|goner|sinner|killer|stranger|beginner|customer|user|member|player|passenger|caller|visitor|subscriber|believer|lover|outsider|newcomer|number)\\b)(?:[\\p{L}-]+(?:er|or|ist|ian|eer)|nurse|chef|pilot|judge|student|vegan|programmer|architect|accountant)(?: by (?:trade|profession))?",
    { kind: 'being' }
  ),
  rule("i(?:'m| am) \\d{1,3} years old", { topic: () => 'age' }),
  rule('my (?<adjective>favou?rite|preferred|default) (?<key>[\\p{L} -]{2,40}?) (?:is|are) (?:now )?(?<value>[^,;]{1,80})', {
    preference: ({ adjective, key, value }) => ({ key: `${adjective} ${key}`.toLowerCase(), value })
  }),
  named(`my (?<thing>${OWN_THINGS}) (?:is|are) (?:now )?${VALUE}`, { topic: ({ thing }) => `my ${thing}`.toLowerCase() }),
  named(`my (?<person>${PERSONS})(?:'s name is|(?:'s name)? is (?:called|named)) (?:${NAME})`, { topic: ({ person }) => `my ${person}` }),
  named(`my (?:${PERSONS}) is (?:${NAME})`),
  rule(`my (?:${PERSONS})'s birthday is [^,;]{2,40}`),
  named(`i (?:(?:really|much|strongly|always|usually|generally|now) )*(?:prefer|PREFER) ${ANYTHING_BUT}[^;]{2,100}`, { kind: 'prefer' }),
  named(`i (?:(?:really|absolutely|also) )*(?:like|love|enjoy|hate|dislike|can't stand) ${ANYTHING_BUT}[^;]{2,100}`, { kind: 'like' }),
  named(
    `i (?:(?:always|usually|mostly|only|now) )*use ${PRODUCT}(?:(?:, | and | or |, and )${PRODUCT}){0,4}(?: (?:at|for) (?:work|home|school|everything)| every ?day| daily)?`,
    { kind: 'use' }
  ),
  named('i speak (?:(?:fluent|native|some|only|basic|good|a little|a bit of) )?\\p{Lu}[\\p{L} ,]{2,60}', { kind: 'speak' }),
  rule(`i have (?:an?|one|two|three|four|five|\\d{1,2}) (?:[\\p{L}-]+ ){0,2}(?:${AMONG})(?: (?:called|named) [^,;]{2,60})?`)
]
